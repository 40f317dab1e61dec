"""The documentation in a real browser: pages that can be read on wide and narrow windows, and the chart that one can step through."""

import functools
import http.server
import threading
from itertools import product

import browser
import built
import pytest
from built import PAGES, SITE
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from mh4.decoders import arguments
from mh4.drawing import layout

pytestmark = [browser.needed, built.needed]

THEMES = ("light", "dark")
WINDOWS = list(product((1400, 400), THEMES))
CONTRAST = 3  # of text and lines in pictures with their background, at least

# Whether a page is complete, and is not the one that leads to another.
ARRIVED = "return document.readyState == 'complete' && !document.querySelector('meta[http-equiv=refresh]')"

# The smallest contrast (WCAG 2.1) between the page and what its pictures are drawn with: text, lines and boxes.
CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const luminance = (color) => {
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const page = luminance(getComputedStyle(document.body).backgroundColor);
const contrast = (color) => {
  const other = luminance(color);
  return (Math.max(page, other) + 0.05) / (Math.min(page, other) + 0.05);
};
const drawn = [...document.querySelectorAll("figure svg, .mh4-chart svg")].flatMap((svg) => [
  ...[...svg.querySelectorAll("text, .arrowhead")].map((e) => getComputedStyle(e).fill),
  ...[...svg.querySelectorAll(".line, .waiting, .outside")].map((e) => getComputedStyle(e).stroke)]);
return Math.min(...[...new Set(drawn)].map(contrast), 21);
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """Of the site, served from this machine: browsers do not search what they read from files."""
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d/" % server.server_port
        server.shutdown()


def shown(driver, width, theme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})


@pytest.fixture
def visit(chromium, address):
    """Opens a page of the site in a window of this width, where the system has this theme."""

    def visit(page, width=1400, theme="light"):
        shown(chromium, width, theme)
        chromium.get(address + page)
        WebDriverWait(chromium, 120).until(lambda driver: driver.execute_script(ARRIVED))
        return chromium

    yield visit
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
def test_pages_can_be_read(visit, address):
    wrong = []
    for page in PAGES:
        driver = visit(page, *WINDOWS[0])
        for width, theme in WINDOWS:
            shown(driver, width, theme)
            room, needed, contrast = driver.execute_script(
                "return [innerWidth, document.documentElement.scrollWidth, (() => {%s})()]" % CONTRASTS
            )
            assert room == width
            if needed > room:
                wrong.append("%s is %d pixels wide in a window of %d" % (page, needed, room))
            if contrast < CONTRAST:
                wrong.append("%s has pictures of contrast %.1f on %s" % (page, contrast, theme))
        loaded = driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
        wrong += ["%s loads %s" % (page, name) for name in loaded if not name.startswith((address, "data:"))]
        wrong += ["%s: %s" % (page, said["message"]) for said in driver.get_log("browser")]
    assert wrong == []


HEADS = arguments.tree([-1, 2, 7, 7, 7, 7, 7, 0, 9, 6])  # of the sentence of Figure 1, in docs/explanation/chart.md


def test_the_chart_is_stepped_through_by_keys(visit):
    driver = visit("docs/explanation/chart.html")
    (chart,) = driver.find_elements(By.CSS_SELECTOR, ".mh4-chart")

    def texts(selector):
        script = "return [...arguments[0].querySelectorAll(arguments[1])].map(e => e.textContent)"
        return driver.execute_script(script, chart, selector)

    def state():
        arcs = driver.execute_script(
            "return [...arguments[0].querySelectorAll('.arc.made .line')].map(e => e.getAttribute('d'))", chart
        )
        return texts("[role=status]"), texts(".items li"), texts("ol.nodes"), arcs

    states = [state()]
    (last,) = driver.find_elements(By.CSS_SELECTOR, ".mh4-chart input")
    for _ in range(int(last.get_attribute("max"))):
        chart.send_keys(Keys.ARROW_RIGHT)
        states.append(state())
    assert len({status for (status,), *_ in states}) == len(states)
    status, items, nodes, arcs = states[-1]
    assert [item.split(" ", 2)[:2] for item in items] == [["[0,", "10]"]] and nodes == ["0 root", "10 end"]
    words = texts(".drawing text")
    placed = layout.place(words, [(HEADS, [""] * len(words))])[0]
    assert arcs == [placed.arc(m).line for m in range(len(words))]
    names = ["the root", *("“%s”" % word for word in words)]
    attached = [said.split("attaches ")[1].split(" (")[0] for (said,), *_ in states if "attaches" in said]
    assert sorted(attached) == sorted("%s to %s" % (names[m], names[HEADS[m]]) for m in range(1, len(names)))

    chart.send_keys(Keys.ARROW_RIGHT)
    assert state() == states[-1]
    for before in states[-2::-1]:
        chart.send_keys(Keys.ARROW_LEFT)
        assert state() == before
    chart.send_keys(Keys.END)
    assert state() == states[-1]
    chart.send_keys(Keys.HOME)
    assert state() == states[0]
