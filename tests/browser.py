"""A Chromium without a window. Tests that need it are skipped where it, its driver or selenium is missing."""

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
    """The driver of a browser that keeps what its console says."""
    if not (CHROMIUM and DRIVER):  # which benchmarks find out here
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
    """The question that the page asks, or None."""
    with suppress(NoAlertPresentException):
        return driver.switch_to.alert


def find(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)
