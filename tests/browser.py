"""A headless Chromium. Tests that need it are skipped if Chromium, its driver or selenium is missing."""

import shutil
import sys
from contextlib import contextmanager, suppress

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.common.exceptions import NoAlertPresentException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
OPTIONS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1200,800"

needed = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no Chromium with chromedriver")


@contextmanager
def chromium():
    """Start a browser that logs the messages of its console, and yield its driver."""
    if not (CHROMIUM and DRIVER):  # only in benchmarks: tests have been skipped before
        sys.exit("no chromium and chromedriver: on Debian, apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in OPTIONS.split():
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def wait_for(driver, condition):
    return WebDriverWait(driver, 60, poll_frequency=0.05).until(lambda driver: condition())


def alert(driver):
    """Return the dialog that the page has opened, or None."""
    with suppress(NoAlertPresentException):
        return driver.switch_to.alert


def find(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)
