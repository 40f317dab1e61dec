"""The page of `mh4 view --html` in a real browser: its drawings, and its controls for mouse and keyboard."""

from contextlib import contextmanager

import browser
import pytest
import segmented
from browser import wait_for, webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from mh4 import trees
from mh4.data import conllu
from mh4.data.cells import DEPREL, MISC
from mh4.drawing import layout
from mh4.transitions import Configuration
from mh4.util.files import write_text
from mh4.viewing import analyses, page

pytestmark = [pytest.mark.slow, browser.needed]


class Page:
    """A page in the browser."""

    def __init__(self, driver):
        self.driver = driver

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.driver.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def attributes(self, selector, name):
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.getAttribute(arguments[1]))"
        return self.driver.execute_script(script, selector, name)

    def search(self, text):
        (query,) = self.all("#query")
        query.clear()
        query.send_keys(text or " ")
        return self.all("#found")[0].text

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    @contextmanager
    def window(self, width):
        """Make the window this wide, in pixels, within the context."""
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture
def opened(chromium, tmp_path):
    """A context that opens the page of one or two files; the page must not write to the console or load anything."""

    @contextmanager
    def opening(*files):
        path = tmp_path / "page.html"
        write_text(str(path), page.page(list(analyses.read(*map(str, files))), [file.name for file in files]))
        chromium.get(path.as_uri())
        shown = Page(chromium)
        yield shown
        assert chromium.get_log("browser") == []
        assert shown.script("return performance.getEntriesByType('resource').map(e => e.name)") == []

    return opening


@pytest.fixture(scope="module")
def files(treebank):
    """The toy treebank's test set, and the same with other labels in every third sentence."""
    gold, other = treebank / "toy-ud-test.conllu", treebank / "other.conllu"
    blocks = list(conllu.blocks(str(gold)))
    with open(other, "w", encoding="utf-8") as file:
        for number, block in enumerate(blocks):
            deprels = list(block.sentence.deprels)
            if number % 3 == 0:
                deprels[-1] = "dep"
            probabilities = block.misc({"ArcProb": ["%.4f" % (1 / m) for m in range(1, len(deprels) + 1)]})
            file.write(block.text({DEPREL: deprels, MISC: probabilities}))
    return gold, other


def test_pages_are_drawn_as_they_come_into_view(opened, files):
    with opened(*files) as shown:
        assert shown.texts("#page") == ["Page 1 of 2"] and shown.texts("#found") == ["80 sentences"]
        assert len(shown.all("article")) == 50 and 2 <= len(shown.all("h2")) < 50
        shown.script("window.scrollTo(0, document.body.scrollHeight)")
        shown.script("document.querySelectorAll('article')[49].scrollIntoView()")
        wait_for(shown, lambda: shown.script("return document.querySelectorAll('article')[49].childElementCount > 0"))
        shown.all("#next")[0].click()
        assert shown.texts("#page") == ["Page 2 of 2"] and len(shown.all("article")) == 30
        wait_for(shown, lambda: shown.all("h2"))
        assert shown.texts("h2")[0].startswith("51 ") and not shown.all("#next")[0].is_enabled()
        shown.all("#previous")[0].click()
        wait_for(shown, lambda: shown.all("h2"))
        assert shown.texts("h2")[0].startswith("1 ")


def test_arcs_are_drawn_where_the_layout_puts_them(opened, files):
    gold, _ = files
    sentences = conllu.read(str(gold))
    with opened(gold) as shown:
        wait_for(shown, lambda: shown.all("article svg"))
        for number, sentence in enumerate(sentences[:3], start=1):
            tree = "#s%d-0-0" % number
            assert shown.all(tree)
            (placed,) = layout.place(sentence.words, [(sentence.heads, sentence.deprels)], tags=[sentence.upos])
            article = "article:nth-of-type(%d) " % number
            arcs = [placed.arc(m) for m in range(len(sentence))]
            assert shown.attributes(article + ".line", "d") == [arc.line for arc in arcs]
            assert shown.attributes(article + ".arrowhead", "d") == [arc.arrowhead for arc in arcs]
            assert shown.texts(article + ".label") == sentence.deprels and shown.texts(article + ".word") == sentence.words
            assert shown.texts(article + ".tag") == sentence.upos
            assert shown.attributes(article + ".tag", "x") == shown.attributes(article + ".word", "x")
            assert [float(y) for y in shown.attributes(article + ".label", "y")] == [arc.label_y for arc in arcs]
            crossed = ["crossed" in kind for kind in shown.attributes(article + ".arc", "class")]
            assert crossed == trees.crossed_arcs(sentence.heads)[1:].tolist()
        # With the browser's own fonts, texts neither overlap nor leave the drawing.
        assert shown.script(OVERLAPS) == 0


# Counts the pairs of words, labels or tags that overlap, and those that leave the drawing.
OVERLAPS = """
let count = 0;
for (const drawing of document.querySelectorAll('.tree svg')) {
  const width = drawing.viewBox.baseVal.width;
  for (const kind of ['.word', '.label', '.tag']) {
    const boxes = [...drawing.querySelectorAll(kind)].map((element) => element.getBBox());
    boxes.forEach((a, i) => {
      if (a.x < 0 || a.x + a.width > width || a.y < -2) count++;
      for (const b of boxes.slice(0, i)) {
        if (a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < 5) count++;
      }
    });
  }
}
return count;
"""


def test_search(opened, files):
    sentences = conllu.read(str(files[0]))

    def count(condition):
        return "%d of 80 sentences" % sum(map(condition, sentences))

    with opened(files[0]) as shown:
        assert shown.search("crossed") == count(lambda s: trees.crossed_arcs(s.heads).any())
        assert shown.search("ObL") == count(lambda s: any(label.split(":")[0] == "obl" for label in s.deprels))
        word = sentences[4].words[0]
        assert shown.search(word[1:-1]) == count(lambda s: any(word[1:-1] in w for w in s.words))
        assert word in shown.texts("article .word") and shown.all(".marker")
        tag, feature = sentences[4].xpos[0], sentences[4].feats[0].split("|")[0]
        assert shown.search("aux") == count(lambda s: "AUX" in s.upos or any("aux" in w.lower() for w in s.words))
        assert shown.search(tag.lower()) == count(lambda s: tag in s.xpos)
        assert shown.search(feature) == count(lambda s: any(feature in feats.split("|") for feats in s.feats))
        both = count(lambda s: trees.crossed_arcs(s.heads).any() and "amod" in s.deprels)
        assert shown.search("crossed amod") == both
        assert shown.search("toy-test-7") == "1 of 80 sentences"
        assert shown.search("no such <word>") == "0 of 80 sentences" and not shown.all("article")
        (said,) = shown.texts(".nothing")
        assert said.replace("\u2068", "").replace("\u2069", "").startswith("No sentence has “no such <word>”.")
        assert shown.texts("#page") == ["Page 1 of 1"]
        assert shown.search("") == "80 sentences"


def test_differing_trees_and_probabilities(opened, files):
    with opened(*files) as shown:
        shown.all("#differing")[0].click()
        assert shown.texts("#found") == ["27 of 80 sentences"]
        assert shown.search("crossed").endswith(" of 80 sentences") and shown.search(" ") == "27 of 80 sentences"
        wait_for(shown, lambda: shown.all("article svg"))
        assert shown.texts("h3")[:2] == ["toy-ud-test.conllu", "other.conllu"]
        article = "article:nth-of-type(1) "
        n = len(shown.texts(article + ".tree:nth-of-type(1) .word"))
        differs = ["differs" in kind for kind in shown.attributes(article + ".label", "class")]
        assert differs == ([False] * (n - 1) + [True]) * 2
        shades = [float(shade) for shade in shown.attributes(article + ".line", "opacity")]
        expected = [layout.PALEST + (1 - layout.PALEST) * round(1 / m, 4) for m in range(1, n)] + [1]  # the last one differs
        assert shades[:n] == [1] * n and shades[n:] == pytest.approx(expected)
        assert "doubtful" in shown.attributes(article + ".arc", "class")[-1]


def test_transitions_step_by_step(opened, files):
    """After each step, forward or back, stack, buffer and arcs of a crossing tree are those of mh4.transitions."""
    number, sentence = next(
        (number, s) for number, s in enumerate(conllu.read(str(files[0])), start=1) if trees.crossed_arcs(s.heads).any()
    )
    codes, _ = page.transitions(sentence)
    names = ["root", *sentence.words, "end"]
    configuration, states = Configuration(len(sentence)), []
    for code in [*codes, None]:
        stack, buffer = ([names[k] for k in nodes] for nodes in (configuration.stack, configuration.buffer))
        states.append((stack, buffer, configuration.heads > -1))
        if code is not None:
            configuration.apply(code)
    with opened(files[0]) as shown:
        shown.search("toy-test-%d" % number)
        wait_for(shown, lambda: shown.all("article svg"))
        button = shown.all(".actions button")[0]
        assert button.get_attribute("aria-expanded") == "false"
        button.send_keys(Keys.ENTER)
        assert button.get_attribute("aria-expanded") == "true"
        first, back, onwards, last = shown.all(".controls button")

        def check(step):
            stack, buffer, attached = states[step]
            lists = shown.script(
                "return [...document.querySelectorAll('.nodes')].map(e => [...e.children].map(c => c.lastChild.textContent))"
            )
            assert lists == [stack, buffer]
            later = ["later" in kind for kind in shown.attributes(".arc", "class")]
            assert later == [not known for known in attached[1:]]

        check(len(states) - 1)  # it opens with the finished tree
        assert not onwards.is_enabled() and not last.is_enabled() and back.is_enabled()
        assert len(shown.all(".controls button svg path")) == 4  # icons that need no font
        first.click()
        check(0)
        assert not back.is_enabled()
        for step in range(1, len(states)):
            onwards.click()
            check(step)
        assert not onwards.is_enabled() and shown.texts(".steps [role=status]")[0].endswith("The tree is complete.")
        back.click()
        check(len(states) - 2)
        shown.all(".controls input")[0].send_keys(Keys.HOME)
        check(0)
        last.click()
        first.click()
        check(0)
        button.click()
        assert not shown.all(".steps") and "later" not in " ".join(shown.attributes(".arc", "class"))


def test_words_by_keyboard_and_pointer(opened, files):
    sentence = conllu.read(str(files[1]))[0]
    with opened(files[1]) as shown:
        wait_for(shown, lambda: shown.all("article svg"))
        for _ in range(10):  # from the top of the page
            shown.driver.switch_to.active_element.send_keys(Keys.TAB)
            if shown.script("return document.activeElement.getAttribute('role')") == "listbox":
                break
        box = shown.driver.switch_to.active_element
        assert box.get_attribute("class") == "tree"
        box.send_keys(Keys.ARROW_RIGHT * 2)
        assert box.get_attribute("aria-activedescendant") == "s1-0-1"
        (tooltip,) = shown.all("#tooltip")
        for part in (sentence.words[1], sentence.upos[1], sentence.deprels[1], "probability 0.500"):
            assert part in tooltip.text and part in shown.all("#s1-0-1")[0].get_attribute("aria-label")
        assert shown.attributes("[aria-selected=true]", "id") == ["s1-0-1"]
        nodes = shown.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]  # the input of screen readers
        names = [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == "option"]
        assert [name.split("\u2068")[1].split("\u2069")[0] for name in names[: len(sentence)]] == sentence.words
        box.send_keys(Keys.END)
        assert box.get_attribute("aria-activedescendant") == "s1-0-%d" % (len(sentence) - 1)
        box.send_keys(Keys.ESCAPE)
        assert not tooltip.is_displayed() and not shown.all("[aria-selected=true]")
        webdriver.ActionChains(shown.driver).move_to_element(shown.all("#s1-0-0")[0]).perform()
        assert tooltip.is_displayed() and sentence.words[0] in tooltip.text
        shown.all(".actions button")[1].click()
        assert len(shown.all("table tbody tr")) == len(sentence)
        assert shown.texts("table tbody tr:nth-child(2) td")[:2] == ["2", sentence.words[1]]


HOSTILE = [  # without spaces, which tags cannot have
    "<script>window.hit=1</script>",
    "</script><img/src=x/onerror='window.hit=1'>",
    "<!--",
    "{{data}}",
    '"&amp;',
    "&#8232;'",
]


def test_nothing_in_a_file_becomes_part_of_the_page(opened, tmp_path):
    path = tmp_path / "hostile & <b>.conllu"
    word = "%d\t%s\t%s\t%s\t_\tA=<i>\t%d\t%s\t_\t_"
    rows = [word % (m, form, form, form, m - 1, form) for m, form in enumerate(HOSTILE, start=1)]
    path.write_text("# sent_id = </script>\n# text = %s\n%s\n\n" % (" ".join(HOSTILE), "\n".join(rows)), encoding="utf-8")
    with opened(path, path) as shown:
        assert shown.driver.title == "%s and %s" % (path.name, path.name)
        wait_for(shown, lambda: shown.all("article svg"))
        assert shown.texts("svg:first-of-type .word")[: len(HOSTILE)] == HOSTILE
        assert shown.texts(".text") == [" ".join(HOSTILE)]
        for button in shown.all(".actions button"):
            button.click()
        assert not shown.all("article img, article script, article b, article i") and not shown.script("return window.hit")


def test_right_to_left(opened, tmp_path):
    path = tmp_path / "rtl.conllu"
    forms = ["אבג", "דהו", "זחט", "יכל", "."] * 20  # wider than the window
    path.write_text(segmented.as_conllu([[(form, m, "dep") for m, form in enumerate(forms)]]), encoding="utf-8")
    with opened(path) as shown:
        wait_for(shown, lambda: shown.all("article svg"))
        places = [int(x) for x in shown.attributes(".word", "x")]
        assert places == sorted(places, reverse=True)
        # The box is at its right end, where the sentence begins, and scrolls by itself.
        first, last = (shown.all("#s1-0-%d" % m)[0].rect["x"] for m in (0, len(forms) - 1))
        assert 0 < first < 1200 and last < 0
        assert shown.script("return document.documentElement.scrollWidth <= window.innerWidth")
        (box,) = shown.all(".tree")
        box.send_keys(Keys.ARROW_LEFT * 2)
        assert box.get_attribute("aria-activedescendant") == "s1-0-1"
        box.send_keys(Keys.END)
        assert shown.all("#s1-0-%d" % (len(forms) - 1))[0].rect["x"] > 0
        assert shown.script(OVERLAPS) == 0


def test_two_trees_share_their_words(opened, tmp_path):
    """Words have the same places in both trees, which scroll together."""
    files = [tmp_path / "one.conllu", tmp_path / "two.conllu"]
    for file, label in zip(files, ("dep", "a-long-relation")):
        heads = [20, *range(1, 19), 0, *[20] * 10]  # a chain below one long arc, and a fan
        file.write_text(segmented.as_conllu([[("kalum", head, label) for head in heads]]), encoding="utf-8")
    with opened(*files) as shown, shown.window(390):
        wait_for(shown, lambda: shown.all("article svg"))
        one, other = shown.script(WORD_PLACES)
        assert one == other and len(one) == 30
        scroll = "return [...document.querySelectorAll('.tree')].map((box) => box.scrollLeft)"
        for moved in (0, 1):
            for to in (300, 1100, 1e6, 0):
                shown.script("document.querySelectorAll('.tree')[arguments[0]].scrollLeft = arguments[1]", moved, to)
                wait_for(shown, lambda: len(set(shown.script(scroll))) == 1)
        assert shown.script(OVERLAPS) == 0


WORD_PLACES = """
return [...document.querySelectorAll('article:first-of-type .tree')].map(
  (tree) => [...tree.querySelectorAll('.word')].map((word) => word.getBoundingClientRect().x));
"""


def test_trees_are_fitted_to_the_window_and_enlarged(opened, tmp_path):
    path = tmp_path / "long.conllu"
    path.write_text(segmented.as_conllu([[("kalum%d" % m, m - 1, "nmod") for m in range(1, 29)]]), encoding="utf-8")
    with opened(path) as shown, shown.window(1280):
        wait_for(shown, lambda: shown.all("article svg"))
        fit, smaller, larger = (shown.all("#" + name)[0] for name in ("fit", "smaller", "larger"))

        def measured():
            return shown.script("const b = document.querySelector('.tree'); return [b.scrollWidth, b.clientWidth]")

        natural = int(shown.attributes("svg", "viewBox")[0].split()[2])
        assert measured()[0] == measured()[1] < natural and fit.get_attribute("aria-pressed") == "true"
        larger.click()
        assert fit.get_attribute("aria-pressed") == "false" and measured()[0] > measured()[1]
        while larger.is_enabled():
            larger.click()
        assert measured()[0] == 2 * natural and shown.texts("#size") == ["200 %"]
        while smaller.is_enabled():
            smaller.click()
        assert shown.texts("#size") == ["50 %"] and int(shown.attributes("svg", "width")[0]) == natural // 2
        fit.click()
        assert measured()[0] == measured()[1] and fit.get_attribute("aria-pressed") == "true"
        with shown.window(390):  # words remain legible, and the tree scrolls by itself
            height = "return document.querySelector('.word').getBoundingClientRect().height"
            wait_for(shown, lambda: measured()[0] > measured()[1] and shown.script(height) >= 11)
            assert shown.script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_link_opens_the_same_place(opened, files):
    with opened(*files) as shown:
        top = "return document.querySelector('#s%d').getBoundingClientRect().top"
        shown.search("crossed amod")
        shown.all("#differing")[0].click()
        query = shown.script("return location.hash")
        assert query == "#q=crossed+amod&differing=1"
        found = shown.texts("#found")
        shown.driver.get(shown.driver.current_url.partition("#")[0] + "#s=70")
        shown.driver.refresh()
        wait_for(shown, lambda: shown.all("#s70"))
        assert shown.texts("#page") == ["Page 2 of 2"] and shown.texts("#found") == ["80 sentences"]
        header = shown.script("return document.querySelector('header').offsetHeight")
        wait_for(shown, lambda: header <= shown.script(top % 70) < header + 40)
        shown.script("document.querySelector('#s72').closest('article').scrollIntoView()")
        wait_for(shown, lambda: shown.script("return location.hash") == "#s=72")
        shown.script("location.hash = arguments[0]", query)
        wait_for(shown, lambda: shown.texts("#found") == found)
        (field,) = shown.all("#query")
        assert field.get_attribute("value") == "crossed amod" and shown.all("#differing")[0].is_selected()
        shown.script("location.hash = '#q=nomatch&s=x%00'")
        wait_for(shown, lambda: shown.all(".nothing"))
