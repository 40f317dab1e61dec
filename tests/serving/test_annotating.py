"""The page to correct trees on, in a real browser, and what it asks the server for."""

import re
import time
from contextlib import suppress

import pytest

for package in ("starlette", "uvicorn", "python_multipart", "prometheus_client", "ufal.udpipe"):
    pytest.importorskip(package, reason="%s is not installed" % package)

import browser  # noqa: E402
from asking import ask, refusal, result, served, serving  # noqa: E402
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

from mh4.serving import answering  # noqa: E402


def rows(*heads, deprel="_"):
    return "".join("%d\tw%d\t_\t_\t_\t_\t%s\t%s\t%d:x\tA=B\n" % (m, m, h, deprel, m - 1) for m, h in enumerate(heads, 1)) + "\n"


@pytest.fixture(scope="module")
def app(of_both):
    return served(answering.load(of_both, answering.checksums_of(of_both.values())))


def test_heads_of_the_data_are_kept(app):
    asked = {"parser": "", "heads": "", "confidence": ""}
    found = [line.split("\t") for line in result(app, data=rows(3, "_", "_", 2), **asked).splitlines()[:4]]
    assert [row[6] for row in found][::3] == ["3", "2"] and {row[7] for row in found}.isdisjoint("_")
    assert [row[9] for row in found][::3] == ["A=B|ArcProb=1.0000"] * 2
    complete = rows(2, 0, 2, deprel="x")
    assert result(app, data=complete, parser="", heads="") == complete
    assert result(app, data=rows(2, 1, "_"), **asked).startswith("# mh4 = skipped, word 1 is on a cycle")
    crossing = result(app, data=rows(3, 4, "_", 0), model="toy-mh3", parser="", heads="")
    assert crossing.startswith("# mh4 = mst of probabilities, no projective tree has the heads given up to that of word 2\n")


def test_what_is_wrong_with_heads_is_said(app):
    assert refusal(app, 400, data=rows(9), parser="", heads="") == "data, line 1, sentence 1: HEAD is 9, but the last word is 1"
    assert refusal(app, 400, data="a b", input="horizontal", parser="", heads="") == "heads needs parser and input conllu"
    assert refusal(app, 400, data=rows(0), heads="") == "heads needs parser and input conllu"
    assert "expected no value, or none" in refusal(app, 400, data=rows(0), parser="", heads="3")


def test_the_page_loads_nothing_from_elsewhere(app):
    status, headers, body = ask(app, "/annotate")
    assert status == 200 and "default-src 'none'" in headers["content-security-policy"]
    assert set(re.findall(rb'(?:src|href)="([^"]*)"', body)) == {b"data:,", b"page.css", b"annotate.css", b"annotate.js", b"./"}
    for path in ("/annotate.js", "/annotate.css", "/page.css"):
        status, _, body = ask(app, path)
        assert status == 200 and b"http://" not in body.replace(b"http://www.w3.org/2000/svg", b"")


@pytest.fixture(scope="module")
def server(of_both, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server"), of_both) as server:
        yield server


@pytest.fixture
def page(chromium, server):
    """The page, newly loaded, which must not report anything to the console."""
    chromium.set_window_size(1200, 900)
    chromium.get("about:blank")
    chromium.get(server.address + "/annotate")
    yield chromium
    assert chromium.get_log("browser") == []
    chromium.execute_script("sentences = []")  # or it would ask before it is left
    assert not any("w3" in str(entry) for entry in server.log())  # what the words are only the browser knows


def wait_for(driver, condition):
    return WebDriverWait(driver, 60, poll_frequency=0.05).until(lambda driver: condition())


def find(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def open_text(page, text, keep=True, model="toy"):
    page.execute_script("document.getElementById('data').value = arguments[0]", text)
    Select(find(page, "#model")).select_by_visible_text(model)
    if find(page, "#keep").is_selected() != keep:
        find(page, "#keep").click()
    find(page, "button[type=submit]").click()
    wait_for(page, lambda: find(page, "#main").is_displayed())


def words(page):
    return page.find_elements(By.CSS_SELECTOR, ".words button")


def heads(page):
    return page.execute_script("return sentence().tree?.slice(1).map((arc) => arc.head)")


def click(page, m):
    """Click a word, whose button is another whenever the tree is drawn again."""

    def clicked():
        with suppress(StaleElementReferenceException):
            words(page)[m].click()
            return True

    wait_for(page, clicked)


def settled(page, act):
    """What the act changes, once the tree has settled."""
    before = page.execute_script("return performance.getEntriesByName('settle').length")
    act()
    wait_for(page, lambda: page.execute_script("return performance.getEntriesByName('settle').length") > before)
    return heads(page)


def attach(page, m, head):
    click(page, m)
    return settled(page, lambda: click(page, head))


def press(page, *keys):
    page.switch_to.active_element.send_keys(*keys)


@pytest.mark.slow
@browser.needed
def test_pins_undo_redo_and_download(page, app, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    open_text(page, rows(*"______") + rows(0, 1, deprel="x"))
    first = heads(page)
    head = 6 if first[2] != 6 else 5
    second = attach(page, 3, head)
    given = ["_"] * 6
    given[2] = head
    expected = result(app, data=rows(*given), parser="", heads="").splitlines()
    assert second == [int(line.split("\t")[6]) for line in expected[:6]] and second[2] == head
    assert len(page.find_elements(By.CSS_SELECTOR, "path.pinned:not(.end)")) == 1
    assert "pinned" in words(page)[3].get_attribute("aria-label")
    assert settled(page, find(page, "#undo").click) == first and settled(page, find(page, "#redo").click) == second
    find(page, "#relation").clear()
    settled(page, lambda: find(page, "#relation").send_keys("my:label", Keys.ENTER))
    assert find(page, "small.pinned").text == "my:label"
    assert "my:label" in page.execute_script("return [...document.querySelectorAll('#relations option')].map((o) => o.value)")
    find(page, "#accept").click()
    assert find(page, "#place").text == "1 of 2, 1 accepted"
    find(page, "#next").click()
    wait_for(page, lambda: heads(page) == [0, 1])
    find(page, "#download").click()
    file = tmp_path / "annotated.conllu"
    wait_for(page, file.exists)
    time.sleep(0.1)
    one, two = file.read_text().split("\n\n")[:2]
    note, *lines = one.split("\n")
    cells = [line.split("\t") for line in lines]
    assert note == "# accepted = yes" and [int(row[6]) for row in cells] == second and {row[8] for row in cells} == {"_"}
    assert cells[2][7] == "my:label" and [row[9] for row in cells] == ["A=B"] * 2 + ["A=B|Pinned=head,deprel"] + ["A=B"] * 3
    assert two + "\n\n" == rows(0, 1, deprel="x").replace("A=B", "A=B|Pinned=head,deprel")
    page.execute_script("sentences = []")
    open_text(page, file.read_text(), keep=False)  # what was decided is decided again
    assert heads(page) == second and find(page, "#place").text == "1 of 2, 1 accepted"
    assert "pinned" in words(page)[3].get_attribute("aria-label") and "pinned" not in words(page)[2].get_attribute("aria-label")


@pytest.mark.slow
@browser.needed
def test_trees_that_stay_keep_their_enhanced_graphs(page, models):
    """The sentence in the file, with its empty node, but for the marks."""
    text = (models / "toy-ud-test.conllu").read_text(encoding="utf-8").split("\n\n")[0] + "\n\n"
    assert "\n1.1\t" in text
    open_text(page, text)
    kept = page.execute_script("return written(sentence(), (m) => sentence().tree[m], true)")
    assert re.sub("[|]?Pinned=head,deprel", "", kept.replace("_|Pinned", "Pinned")).replace("\t\n", "\t_\n") == text
    settled(page, lambda: page.execute_script("attach(1, sentence().tree[1].head === 3 ? 4 : 3)"))
    changed = page.execute_script("return written(sentence(), (m) => sentence().tree[m], true)")
    assert "\n1.1\t" not in changed and {line.split("\t")[8] for line in changed.splitlines() if "\t" in line} == {"_"}


@pytest.mark.slow
@browser.needed
def test_by_keys_alone(page):
    open_text(page, rows(*"____") + rows(*"__"))
    wait_for(page, lambda: page.switch_to.active_element.get_attribute("data-word") == "1")
    press(page, Keys.ARROW_RIGHT, Keys.ENTER)
    assert find(page, "#status").text == "Choose the head of w2."
    press(page, Keys.END)
    assert settled(page, lambda: press(page, Keys.ENTER))[1] == 4
    assert page.switch_to.active_element.get_attribute("data-word") == "2"
    assert settled(page, lambda: press(page, "0"))[1] == 0
    press(page, "r")
    settled(page, lambda: press(page, "top", Keys.ENTER))
    assert find(page, "small.pinned").text == "top" and page.switch_to.active_element.get_attribute("data-word") == "2"
    settled(page, lambda: press(page, Keys.DELETE))
    assert not page.find_elements(By.CSS_SELECTOR, ".pinned")
    assert settled(page, lambda: press(page, Keys.CONTROL, "z"))[1] == 0
    press(page, Keys.NULL, "a")
    assert find(page, "#accept").get_attribute("aria-pressed") == "true"
    settled(page, lambda: press(page, "n"))
    assert find(page, "#place").text == "2 of 2, 1 accepted" and len(words(page)) == 3
    press(page, "p")
    wait_for(page, lambda: len(words(page)) == 5)


@pytest.mark.slow
@browser.needed
def test_what_no_tree_has_is_taken_back(page):
    open_text(page, rows(*"____"))
    attach(page, 1, 2)
    before = heads(page)
    click(page, 2)
    click(page, 1)
    wait_for(page, lambda: "not possible: word 1 is on a cycle" in find(page, "#status").text)
    assert heads(page) == before and len(page.find_elements(By.CSS_SELECTOR, "path.pinned:not(.end)")) == 1
    page.execute_script("sentences = []")
    open_text(page, rows(*"____"), model="toy-mh3")
    attach(page, 1, 3)
    attach(page, 2, 4)
    attach(page, 4, 0)
    assert "no projective tree" in find(page, "#status").text and heads(page)[:2] == [3, 4]


@pytest.mark.slow
@browser.needed
@pytest.mark.parametrize("width", [390, 1200])
def test_narrow_and_wide(page, width):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    )
    try:
        open_text(page, rows(*"_" * 40))
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        for control in page.find_elements(By.CSS_SELECTOR, "#main > :not(#tree) button, input, select, #tree"):
            assert control.rect["x"] >= 0 and control.rect["x"] + control.rect["width"] <= width
        assert attach(page, 2, 1)[1] == 1
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
@browser.needed
def test_text_is_text(page):
    hostile = '<img src=x onerror="document.title=1">'
    page.execute_script("document.getElementById('input').value = 'horizontal'")
    open_text(page, hostile + "\n")
    assert [word.text.split("\n")[0] for word in words(page)][1:] == hostile.split() and page.title == "mh4: correct trees"
    page.execute_script(
        "sentences = []; document.getElementById('data').value = 'x'; document.getElementById('input').value = 'conllu'"
    )
    find(page, "button[type=submit]").click()
    wait_for(page, lambda: find(page, "#status").text == "There are no sentences in it.")
