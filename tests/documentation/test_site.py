"""The interactive chart of the documentation, in a real browser."""

import browser
import pytest
import toy
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from mh4.decoders import arguments
from mh4.drawing import layout

PAGE = toy.ROOT / "build" / "docs" / "docs" / "explanation" / "chart.html"
pytestmark = [browser.needed, pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not built: make docs")]
HEADS = arguments.tree([-1, 2, 7, 7, 7, 7, 7, 0, 9, 6])  # the tree of Figure 1, in docs/explanation/chart.md


def test_the_chart_is_stepped_through_by_keys(chromium):
    chromium.get(PAGE.as_uri())
    (chart,) = chromium.find_elements(By.CSS_SELECTOR, ".mh4-chart")

    def texts(selector):
        script = "return [...arguments[0].querySelectorAll(arguments[1])].map(e => e.textContent)"
        return chromium.execute_script(script, chart, selector)

    def state():
        arcs = chromium.execute_script(
            "return [...arguments[0].querySelectorAll('.arc.made .line')].map(e => e.getAttribute('d'))", chart
        )
        return texts("[role=status]"), texts(".items li"), texts("ol.nodes"), arcs

    states = [state()]
    (last,) = chromium.find_elements(By.CSS_SELECTOR, ".mh4-chart input")
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
