"""The page of `mh4 serve`, in a real browser."""

import time
from urllib.parse import quote

import browser
import pytest
from browser import find, wait_for
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = [pytest.mark.slow, browser.needed]

HOSTILE = 'Ta <img src=x onerror="document.title=1"> kaluma</script><script>document.title=2</script>.'


@pytest.fixture
def page(chromium, server):
    """The page, newly loaded; its console may contain only answers of status 400."""
    chromium.set_window_size(1200, 800)
    chromium.get("about:blank")
    chromium.get(server.address + "/")
    yield chromium
    chromium.switch_to.default_content()
    assert all("the server responded with a status of 400" in entry["message"] for entry in chromium.get_log("browser"))


def status(driver):
    driver.switch_to.default_content()
    return wait_for(driver, lambda: find(driver, "#status").text.replace("Parsing …", ""))


def texts(driver, selector):
    """Return the texts of elements of the frame with the trees."""
    driver.switch_to.frame("trees")
    found = wait_for(driver, lambda: driver.find_elements(By.CSS_SELECTOR, selector))
    found = [element.get_attribute("textContent") for element in found]
    driver.switch_to.default_content()
    return found


def test_with_the_keyboard(page):
    """The keyboard suffices to enter text, which is the first stop of Tab, and to parse it."""
    active = page.switch_to.active_element
    active.send_keys(Keys.TAB)
    page.switch_to.active_element.send_keys("Ta kaluma dorpit berodo. Ta kaluma.")
    for _ in range(4):
        page.switch_to.active_element.send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Parse"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert status(page) == "Parsed."
    assert texts(page, "article:nth-of-type(1) .word") == ["Ta", "kaluma", "dorpit", "berodo", "."]
    assert find(page, "#data").get_attribute("value").startswith("Ta kaluma")  # it is still there
    find(page, "#data").send_keys(" Ta.", Keys.CONTROL, Keys.ENTER)
    wait_for(page, lambda: len(texts(page, "article")) == 3)


def test_two_models_with_confidence(page):
    rows = ["%d\t%s" % (m, form) + 8 * "\t_" for m, form in ((1, "Ta"), (2, "kaluma"))]
    page.execute_script("document.getElementById('data').value = arguments[0]", "\n".join(rows))  # as pasted
    Select(find(page, "#input")).select_by_value("conllu")
    Select(find(page, "#second")).select_by_visible_text("toy-mh3")
    find(page, "button").click()
    assert status(page) == "Parsed."
    assert texts(page, ".word") == ["Ta", "kaluma"] * 2 and {"toy", "toy-mh3"} <= set(" ".join(texts(page, "h3")).split())
    page.switch_to.frame("trees")
    assert "probability" in find(page, ".word").get_attribute("aria-label")


def test_text_is_text(page):
    Select(find(page, "#input")).select_by_value("horizontal")
    find(page, "#data").send_keys(HOSTILE)
    find(page, "button").click()
    assert status(page) == "Parsed."
    assert texts(page, ".word") == HOSTILE.split() and page.title == "mh4: parse text"
    find(page, "#data").clear()
    find(page, "#data").send_keys("<b>x</b>")
    Select(find(page, "#input")).select_by_value("conllu")
    find(page, "button").click()
    wait_for(page, lambda: "1 column," in status(page))
    (message,) = texts(page, "pre")
    assert message.startswith("data, line 1, sentence 1: 1 column, expected 10 separated by tabs")


def test_the_link_carries_the_text(page, server):
    find(page, "#data").send_keys("Ta kaluma dorpit berodo.")
    Select(find(page, "#model")).select_by_visible_text("toy-mh3")
    Select(find(page, "#input")).select_by_value("horizontal")
    link = find(page, "#link").get_attribute("href")
    page.get("about:blank")
    page.get(link)
    assert status(page) == "Parsed." and texts(page, ".word") == ["Ta", "kaluma", "dorpit", "berodo."]
    assert Select(find(page, "#model")).first_selected_option.text == "toy-mh3"
    page.get(server.address + "/#input=nothing&model=x&constructor=y&data=" + quote("<i>Ta</i>\nkaluma"))
    wait_for(page, lambda: find(page, "#data").get_attribute("value") == "<i>Ta</i>\nkaluma")
    assert find(page, "#input").get_attribute("value") == "horizontal"
    wait_for(page, lambda: "#" in page.current_url and texts(page, ".word")[0] == "<i>Ta</i>")
    assert all("kaluma" not in str(entry) for entry in server.log())  # the text after # is not sent to the server


def test_downloads(page, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    find(page, "#data").send_keys("Ta kaluma dorpit berodo.")
    find(page, "button[value=conllu]").click()
    find(page, "button[value=svg]").click()
    conllu, svg = tmp_path / "trees.conllu", tmp_path / "trees.svg"
    wait_for(page, lambda: conllu.exists() and svg.exists())
    time.sleep(0.1)
    assert conllu.read_text().count("ArcProb=") == 5 and "\r" not in conllu.read_text()
    assert svg.read_text().startswith("<svg ")
    Select(find(page, "#model")).select_by_visible_text("toy-mh3")
    find(page, "button[value=svg]").click()
    assert status(page).strip() == "the model toy-mh3 has no tokenizer"


def test_the_server_does_not_answer(page, tmp_path):
    """Without a server, the page shows one sentence and not the browser's error; later requests are answered."""
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    find(page, "#data").send_keys("Ta kaluma.")
    for button, what in (("button", "trees"), ("button[value=conllu]", "a file")):
        page.set_network_conditions(offline=True, latency=0, throughput=-1)
        find(page, button).click()
        wait_for(page, lambda: find(page, "#status").text == "The server does not answer.")
        wait_for(page, lambda: page.execute_script("return byId('trees').contentDocument?.URL") == "about:blank")
        page.delete_network_conditions()
        find(page, button).click()
        if what == "trees":
            wait_for(page, lambda: find(page, "#status").text == "Parsed.")
            assert texts(page, ".word") == ["Ta", "kaluma", "."]
        else:
            wait_for(page, (tmp_path / "trees.conllu").exists)
            assert find(page, "#status").text == ""
    assert all("ERR_INTERNET_DISCONNECTED" in entry["message"] for entry in page.get_log("browser"))
