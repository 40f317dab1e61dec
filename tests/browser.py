"""A Chromium without a window. Tests that need it are skipped where it, its driver or selenium is missing."""

import shutil
from contextlib import contextmanager

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
OPTIONS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1200,800"

needed = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no Chromium with chromedriver")


@contextmanager
def chromium():
    """The driver of a browser that keeps what its console says."""
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
