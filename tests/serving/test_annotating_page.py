"""The page on which trees are corrected, in a real browser."""

import json
import re
from contextlib import contextmanager, suppress

import browser
import pytest
from asking import rows, running
from browser import find, wait_for
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = [pytest.mark.slow, browser.needed]


@pytest.fixture
def page(chromium, server, tmp_path):
    """The page, newly loaded; its console may contain only failed requests, and the server's log no words."""
    chromium.set_window_size(1200, 900)
    chromium.get("about:blank")
    chromium.get(server.address + "/annotate")
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    yield chromium
    drop_decisions(chromium)
    assert [entry for entry in chromium.get_log("browser") if "Failed to load resource" not in entry["message"]] == []
    assert not any("w3" in str(entry) for entry in server.log())  # w3 is a word of the sentences


def drop_decisions(page):
    """Prevent the page from asking whether to drop unsaved decisions."""
    page.execute_script("for (const one of sentences) one.saved = decisions(one.now)")


def submit(page, text):
    page.execute_script("document.getElementById('data').value = arguments[0]", text)
    find(page, "button[type=submit]").click()


def open_text(page, text, keep=True, model="toy"):
    Select(find(page, "#model")).select_by_visible_text(model)
    if find(page, "#keep").is_selected() != keep:
        find(page, "#keep").click()
    submit(page, text)
    wait_for(page, lambda: find(page, "#main").is_displayed())
    return settled(page)


def words(page):
    return page.find_elements(By.CSS_SELECTOR, ".words button")


def labels(page):
    return page.execute_script("return [...document.querySelectorAll('.words button')].slice(1).map((word) => word.ariaLabel)")


def heads(page):
    """Return the heads of words w1, w2, ... as they are drawn; None for unknown heads."""
    found = [re.search(" of (?:w(\\d+)|the root)(?:,|$)", label) for label in labels(page)]
    return [match and int(match[1] or 0) for match in found]


def status(page):
    return find(page, "#status").text


def settled(page, act=lambda: None):
    """Return the heads after this act, once the tree has settled."""
    act()
    wait_for(page, lambda: not page.find_elements(By.CSS_SELECTOR, "#tree[aria-busy=true]"))
    return heads(page)


def click(page, m):
    """Click a word, whose button is replaced whenever the tree is drawn again."""

    def clicked():
        with suppress(StaleElementReferenceException):
            words(page)[m].click()
            return True

    wait_for(page, clicked)


def choose(page, m, head):
    click(page, m)
    click(page, head)


def attach(page, m, head):
    return settled(page, lambda: choose(page, m, head))


def press(page, *keys):
    page.switch_to.active_element.send_keys(*keys)


def downloaded(page, folder):
    """Download the file; return its sentences, each as its comments and its rows."""
    for file in folder.glob("*.annotated.conllu"), folder.glob("annotated.conllu"):
        for old in file:
            old.unlink()
    find(page, "#download").click()
    wait_for(page, lambda: list(folder.glob("*annotated.conllu")) and not list(folder.glob("*.crdownload")))
    (file,) = folder.glob("*annotated.conllu")
    parts = [sentence.split("\n") for sentence in file.read_text(encoding="utf-8").split("\n\n")[:-1]]
    return [
        ([line for line in lines if line[0] == "#"], [line.split("\t") for line in lines if line[0] != "#"]) for lines in parts
    ]


def files_heads(sentence):
    return [row[6] for row in sentence[1]]


@pytest.fixture
def late(page):
    """A function that releases the k-th answer of the server; answers are held until then."""
    page.execute_script(
        "const real = fetch; window.held = Object.assign([], { real }); "
        "window.fetch = (...asked) => { const answer = real(...asked); return new Promise((done) => held.push(() => done(answer))); }"
    )

    def release(k):
        wait_for(page, lambda: page.execute_script("return held.length") > k)
        page.execute_script("held[arguments[0]]()", k)

    return release


@contextmanager
def unreachable(page):
    """Have requests fail as if there were no server."""
    page.execute_script("window.real = fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    yield
    page.execute_script("window.fetch = real")


def test_pins_undo_redo_and_download(page, server, tmp_path):
    open_text(page, rows(*"______") + rows(0, 1, deprel="x"))
    first = heads(page)
    assert ", of the relation 0." in labels(page)[2] and "unsure" in find(page, "[data-word='3'] small.deprel").get_attribute(
        "class"
    )
    head = 6 if first[2] != 6 else 5
    second = attach(page, 3, head)
    expected = server.process_text(data=rows("_", "_", head, "_", "_", "_"), parser="", heads="").splitlines()
    assert second == [int(line.split("\t")[6]) for line in expected[:6]] and second[2] == head
    assert len(page.find_elements(By.CSS_SELECTOR, "path.pinned:not(.end)")) == 1 and "pinned" in labels(page)[2]
    assert settled(page, find(page, "#undo").click) == first and settled(page, find(page, "#redo").click) == second
    find(page, "#relation").clear()
    settled(page, lambda: find(page, "#relation").send_keys("my:label", Keys.ENTER))
    assert find(page, "small.pinned").text == "my:label" and "of the relation" not in labels(page)[2]
    assert "Choose the head" not in status(page)  # Enter has not also clicked the word that now has the focus
    assert "my:label" in page.execute_script("return [...document.querySelectorAll('#relations option')].map((o) => o.value)")
    find(page, "#accept").click()
    assert find(page, "#place").text == "1 of 2, 1 accepted"
    find(page, "#next").click()
    wait_for(page, lambda: heads(page) == [0, 1])
    (comments, one), (none, two) = downloaded(page, tmp_path)
    assert comments == ["# accepted = yes"] and not none
    assert [int(row[6]) for row in one] == second and {row[8] for row in one} == {"_"} and one[2][7] == "my:label"
    assert [row[9] for row in one] == ["A=B"] * 2 + ["A=B|Pinned=head,deprel"] + ["A=B"] * 3
    assert two == [line.split("\t") for line in rows(0, 1, deprel="x").split("\n")[:2]]
    text = "".join("\n".join([*comments, *map("\t".join, one)]) + "\n\n" for comments, one in ((comments, one), ([], two)))
    open_text(page, text)  # the decisions are in the file
    assert heads(page) == second and find(page, "#place").text == "1 of 2, 1 accepted"
    assert ["pinned" in label for label in labels(page)] == [False, False, True, False, False, False]


def test_trees_that_stay_keep_their_enhanced_graphs(page, models, tmp_path):
    """An accepted tree keeps its empty node and multiword token and gets only marks; a changed tree loses its graph."""
    text = (models / "toy-ud-test.conllu").read_text(encoding="utf-8").split("\n\n")[0]
    text = text.replace("\n1\t", "\n1-2\tab" + "\t_" * 6 + "\t0:root\t_\n1\t")
    assert "\n1.1\t" in text
    open_text(page, text)
    press(page, "a")
    ((comments, kept),) = downloaded(page, tmp_path)
    kept = "\n".join([*comments, *map("\t".join, kept)])
    unmarked = re.sub("[|]?Pinned=head,deprel", "", kept)
    assert re.sub(r"\t(?=\n|$)", "\t_", unmarked).replace("# accepted = yes\n", "") == text
    attach(page, 1, 4 if kept.splitlines()[len(comments)].split("\t")[6] == "3" else 3)
    ((_, changed),) = downloaded(page, tmp_path)
    assert "1.1" not in {row[0] for row in changed} and {row[8] for row in changed} == {"_"}


def test_by_keys_alone(page):
    open_text(page, rows(*"____") + rows(*"__"))
    wait_for(page, lambda: page.switch_to.active_element.get_attribute("data-word") == "1")
    press(page, Keys.ARROW_RIGHT, Keys.ENTER)
    assert status(page) == "Choose the head of w2."
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
    press(page, Keys.NULL, "b")  # opens alternatives and focuses the first
    wait_for(page, lambda: page.execute_script("return document.activeElement.closest('#others') !== null"))
    before = heads(page)
    assert settled(page, lambda: press(page, Keys.ENTER)) != before
    assert page.switch_to.active_element.get_attribute("data-word") == "2"
    press(page, "a")
    assert find(page, "#accept").get_attribute("aria-pressed") == "true"
    settled(page, lambda: press(page, "n"))
    assert find(page, "#place").text == "2 of 2, 1 accepted" and len(words(page)) == 3
    press(page, "p")
    wait_for(page, lambda: len(words(page)) == 5)


def test_right_to_left(page):
    """Words and arrow keys go from right to left, and each word is below the end of its arc."""
    open_text(page, rows(2, 0, 2, deprel="x").replace("w", "ש"))
    wait_for(page, lambda: page.switch_to.active_element.get_attribute("data-word") == "1")
    press(page, Keys.ARROW_LEFT)
    assert page.switch_to.active_element.get_attribute("data-word") == "2"
    places = [word.rect["x"] + word.rect["width"] / 2 for word in words(page)]
    arrows = [arrow.rect["x"] + arrow.rect["width"] / 2 for arrow in page.find_elements(By.CSS_SELECTOR, "path.end")]
    assert places == sorted(places, reverse=True)
    assert [abs(a - b) < 10 for a, b in zip(places[1:], arrows, strict=True)] == [True] * 3


def test_alternatives(page, server):
    """The alternatives are the server's next best trees around the decided heads."""
    text = rows(*"__1__")
    open_text(page, text)
    trees = server.process_text(data=text, parser="", heads="", best="5").split("\n\n")[:-1]
    expected = [[int(row.split("\t")[6]) for row in tree.split("\n")[1:]] for tree in trees]
    assert heads(page) == expected[0] and len(expected) == 5
    for k in range(4):
        find(page, "#best").click()
        wait_for(page, lambda: len(page.find_elements(By.CSS_SELECTOR, "#others button")) == 4)
        button = page.find_elements(By.CSS_SELECTOR, "#others button")[k]
        assert re.fullmatch("(\u2068w[1-5]\u2069 ← (\u2068w[1-5]\u2069|root), [a-z:]+ [(][01][.][0-9]{2}[)](; )?)+", button.text)
        assert settled(page, button.click) == expected[k + 1]
        assert not page.find_elements(By.CSS_SELECTOR, "#others button")
        assert settled(page, find(page, "#undo").click) == expected[0]
    drop_decisions(page)
    open_text(page, rows(2, 0, deprel="x"))
    find(page, "#best").click()
    wait_for(page, lambda: status(page) == "There is no other tree.")


# A tree that has not settled is neither accepted nor written.


def test_what_no_tree_has_can_be_decided_otherwise(page, tmp_path):
    open_text(page, rows(*"____"))
    before = attach(page, 1, 2)
    choose(page, 2, 1)
    wait_for(page, lambda: "This is not possible: word 1 is on a cycle" in status(page))
    assert not find(page, "#accept").is_enabled()
    press(page, "a")
    assert find(page, "#place").text == "1 of 1, 0 accepted"
    ((comments, one),) = downloaded(page, tmp_path)
    wait_for(page, lambda: status(page) == "Without the last decisions in 1, which have no tree.")
    assert not comments and [int(row[6]) for row in one] == before
    assert [row[9] for row in one] == ["A=B|Pinned=head"] + ["A=B"] * 3
    choose(page, 1, 3)  # both decisions are then possible
    assert settled(page)[:2] == [3, 1]
    find(page, "#undo").click()
    find(page, "#undo").click()
    assert settled(page) == before


def test_a_cycle_in_the_file_takes_no_decision_away(page, tmp_path):
    text = rows(2, 1, "_", 3, deprel="x")
    submit(page, text)
    wait_for(page, lambda: "word 1 is on a cycle" in status(page))
    assert heads(page) == [2, 1, None, 3]
    assert downloaded(page, tmp_path) == [([], [line.split("\t") for line in text.split("\n")[:4]])]
    choose(page, 2, 0)
    assert settled(page)[0] == 2 and heads(page)[3] == 3 and "pinned" in labels(page)[3]


def test_sentences_that_the_server_does_not_parse(page):
    """A sentence that the server skips is requested once, and the page shows the reason."""
    note = "# mh4 = skipped, 261 words are more than the limit of 260\n" + rows(*"____")
    answer = "async () => { requests++; return new Response(JSON.stringify({ result })); }"
    page.execute_script("const result = arguments[0]; window.requests = 0; window.fetch = " + answer, note)
    submit(page, rows(*"____"))
    wait_for(page, lambda: "261 words are more than the limit of 260" in status(page))
    assert page.execute_script("return requests") == 1 and not find(page, "#accept").is_enabled()


def test_late_answers_belong_to_their_sentence(page, late, tmp_path):
    submit(page, rows(*"____") + rows(*"__"))
    late(0)
    settled(page)
    find(page, "#accept").click()
    choose(page, 3, 1)
    press(page, "a")  # before the answer
    assert find(page, "#place").text == "1 of 2, 0 accepted" and status(page) == "The tree has not settled yet."
    find(page, "#next").click()
    late(2)
    settled(page)
    late(1)
    one, two = downloaded(page, tmp_path)
    assert not one[0] and one[1][2][6] == "1" and "Pinned=head" in one[1][2][9] and files_heads(two) == ["_"] * 2
    find(page, "#previous").click()
    assert heads(page)[2] == 1 and list(map(str, heads(page))) == files_heads(one)


def test_the_newest_request_wins(page, late):
    submit(page, rows(*"____"))
    late(0)
    first = settled(page)
    choose(page, 3, 1)
    choose(page, 3, 2)
    late(2)
    second = settled(page)
    late(1)
    assert second[2] == 2 and heads(page) == second
    find(page, "#undo").click()  # sends the request again, because its answer was ignored
    late(3)
    assert settled(page)[2] == 1
    find(page, "#undo").click()
    assert heads(page) == first
    page.execute_script("fetch = held.real; for (const m of [3, 1, 3, 4]) choose(m); undo()")  # without any pause
    assert settled(page)[2] == 1 and find(page, "#accept").is_enabled()


def test_errors_of_the_server(page, tmp_path):
    open_text(page, rows(*"____"))
    with unreachable(page):
        choose(page, 3, 1)
        wait_for(page, lambda: status(page) == "The server does not answer.")
        assert files_heads(*downloaded(page, tmp_path)) == ["_"] * 4  # no tree has settled
    # The next download first sends the request again.
    assert files_heads(*downloaded(page, tmp_path))[2] == "1" and settled(page)[2] == 1


# A tree belongs to the model that found it.


def choose_model(page, name):
    return settled(page, lambda: Select(find(page, "#model")).select_by_visible_text(name))


def best(server, text, model):
    """Return the heads of the model's best tree around the heads of the text."""
    answer = server.process_text(data=text, model=model, parser="", heads="")
    return [int(line.split("\t")[6]) for line in answer.splitlines() if line[:1].isdigit()]


def test_another_model_is_asked_again(page, server, tmp_path):
    one, two = rows(*"______"), rows(*"_____")
    ours, theirs = ([best(server, text, model) for text in (one, two)] for model in ("toy", "toy-mh3"))
    assert ours[0] != theirs[0] and ours[1] != theirs[1]
    assert open_text(page, one + two) == ours[0]
    head = 5 if ours[0][2] != 5 else 6
    attach(page, 3, head)
    assert settled(page, find(page, "#next").click) == ours[1]
    attach(page, 1, 3)
    decided = [best(server, text, "toy-mh3") for text in (rows("_", "_", head, *"___"), rows(3, *"____"))]
    assert choose_model(page, "toy-mh3") == decided[1]
    assert settled(page, find(page, "#undo").click) == theirs[1]
    assert settled(page, find(page, "#redo").click) == decided[1]
    for k, sentence in enumerate(downloaded(page, tmp_path)):  # including the sentence that is not shown
        assert files_heads(sentence) == list(map(str, decided[k]))
    assert settled(page, find(page, "#previous").click) == decided[0]
    assert settled(page, find(page, "#undo").click) == theirs[0]
    assert choose_model(page, "toy") == ours[0]


def test_accepted_trees_stay_if_another_model_is_chosen(page, server, tmp_path):
    text = rows(*"______")
    ours, theirs = best(server, text, "toy"), best(server, text, "toy-mh3")
    assert open_text(page, text) == ours
    find(page, "#accept").click()
    find(page, "#best").click()
    wait_for(page, lambda: page.find_elements(By.CSS_SELECTOR, "#others button"))
    assert choose_model(page, "toy-mh3") == ours and find(page, "#place").text == "1 of 1, 1 accepted"
    ((comments, one),) = downloaded(page, tmp_path)
    assert comments == ["# accepted = yes"] and [int(row[6]) for row in one] == ours
    assert not find(page, "#best").is_enabled() and not page.find_elements(By.CSS_SELECTOR, "#others button")
    press(page, Keys.NULL, "b")
    assert status(page) == "This tree is by the model toy: choose it to see alternatives."
    assert settled(page, find(page, "#accept").click) == theirs  # the tree is no longer accepted
    assert settled(page, find(page, "#undo").click) == ours and find(page, "#place").text == "1 of 1, 1 accepted"


def test_late_answers_belong_to_their_model(page, server, late):
    one, two = rows(*"______"), rows(*"_____")
    ours, theirs = best(server, one, "toy"), best(server, two, "toy-mh3")
    submit(page, one + two)
    late(0)
    assert settled(page) == ours
    find(page, "#accept").click()
    find(page, "#best").click()
    wait_for(page, lambda: page.execute_script("return held.length") == 2)
    find(page, "#next").click()
    find(page, "#previous").click()
    Select(find(page, "#model")).select_by_visible_text("toy-mh3")
    late(1)  # alternatives by toy
    late(2)  # the other sentence, by toy
    wait_for(page, lambda: page.execute_script("return sentences[0].now.others && !sentences[1].now.asking"))
    assert heads(page) == ours and not page.find_elements(By.CSS_SELECTOR, "#others button")
    page.execute_script("fetch = held.real")
    assert settled(page, find(page, "#next").click) == theirs


def test_no_tree_of_another_model_is_drawn_while_there_is_none(page, tmp_path):
    open_text(page, rows(*"____"))
    before = attach(page, 3, 1)
    with unreachable(page):
        choose_model(page, "toy-mh3")
        assert status(page) == "The server does not answer." and heads(page) == [None, None, 1, None]
        assert list(map(str, before)) == files_heads(*downloaded(page, tmp_path))  # no decision is lost


def test_a_model_without_probabilities_is_asked_again_itself(page):
    Select(find(page, "#model")).select_by_visible_text("toy-mh3")
    page.execute_script(
        "const real = fetch; window.models = []; window.fetch = (...to) => { "
        "models.push(JSON.parse(to[1].body).model); if (models.length > 1) return real(...to); "
        "byId('model').value = 'toy'; return Promise.resolve(new Response('it gives no probabilities', { status: 400 })); }"
    )
    submit(page, "# accepted = yes\n" + rows(2, 0, deprel="x"))
    wait_for(page, lambda: page.execute_script("return models.length") == 2)
    assert settled(page) == [2, 0] and page.execute_script("return models") == ["toy-mh3"] * 2


def test_acceptance_taken_back_before_the_answer(page, late):
    submit(page, "# accepted = yes\n" + rows(2, 0, deprel="x"))
    wait_for(page, lambda: page.execute_script("return held.length") == 1)
    find(page, "#accept").click()
    late(0)
    late(1)
    assert settled(page) == [2, 0] and find(page, "#place").text == "1 of 1, 0 accepted"


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "There are no sentences in it."), ("\n \n", "There are no sentences in it."),
        (rows(0) + "\ufeff" + rows(0, 1), "Line 3: a byte order mark, which can only be at the start of a file."),
        (rows(0) + "1\tx\n", "Line 3: the number of columns is 2, expected the 10 of CoNLL-U, separated by tabs."),
        (rows(0, 1).replace("2\tw2", "3\tw2"), "Line 2: ID is 3, expected 2."),
        (rows(0, 9), "Line 2: HEAD is 9, but the last word is 2."), (rows(0, "x"), "Line 2: HEAD is x, but the last word is 2."),
        (rows(0).replace("_", "", 1), "Line 1: an empty column, expected _ if there is no value."),
        ("# a comment\n\n" + rows(0), "Line 1: a sentence without words."), ("a b c", "Line 1: the number of columns is 1, "),
        (rows(0) + rows(*[0] * 10_001), "Line 3: more than 10000 words, which is the most that one request may have."),
    ],
)  # fmt: skip
def test_what_is_no_conllu(page, text, said):
    submit(page, text)
    wait_for(page, lambda: status(page).startswith(said))
    assert not find(page, "#main").is_displayed()


@pytest.mark.parametrize(
    "text, keep, pinned",
    [
        (rows(2, 0, 2), True, {1, 2, 3}), (rows(2, 0, 2), False, set()), (rows("_", 0, 2), True, {2, 3}),
        (rows(2, 0, 2).replace("1:x\tA=B", "1:x\tPinned=head"), True, {2}),  # the parser proposed the others
        (rows(2, 0, 2).replace("1:x\tA=B", "1:x\tPinned=head"), False, {2}),
        (rows(2, 0, 2).replace("A=B", "Pinned=Yes"), True, {1, 2, 3}),  # not a mark of ours
        ("# accepted = yes\n" + rows(2, 0, 2, deprel="x"), True, {1, 2, 3}),
    ],
)  # fmt: skip
def test_what_counts_as_decided(page, text, keep, pinned, tmp_path):
    open_text(page, text, keep)
    assert {m for m, label in enumerate(labels(page), start=1) if "pinned" in label} == pinned
    press(page, "a")
    (sentence,) = downloaded(page, tmp_path)
    assert {m for m, row in enumerate(sentence[1], start=1) if "Pinned=head" in row[9]} == pinned
    assert ("Pinned=Yes" in sentence[1][0][9]) == ("Pinned=Yes" in text)


def test_decisions_that_are_taken_back(page, tmp_path):
    """Sentences whose decisions are deleted stay as they were, or lose their old decisions; parses are not written."""
    text = [rows(*"____"), rows(2, 0, 2).replace("1:x\tA=B", "1:x\tPinned=head"), rows(*"___").replace("_\t1:x", "foo\t1:x")]
    open_text(page, "".join(text))
    for key in "aa":
        settled(page, lambda key=key: press(page, key))
    attach(page, 3, 1)
    settled(page, lambda: press(page, Keys.DELETE))
    find(page, "#next").click()
    settled(page)
    click(page, 2)
    click(page, 2)
    settled(page, lambda: press(page, Keys.DELETE))
    first, (_, second), (none, third) = downloaded(page, tmp_path)
    assert first == ([], [line.split("\t") for line in text[0].strip().split("\n")])
    assert {(row[6], row[7], row[8], "Pinned" in row[9]) for row in second} == {("_", "_", "_", False)}
    assert not none and third == [line.split("\t") for line in text[2].strip().split("\n")]


def test_a_relation_without_a_head_stays(page, tmp_path):
    """A relation without a head is kept as the word is attached, until it is attached to another head."""
    tree = open_text(page, rows(*"____").replace("_\t1:x", "foo\t1:x"))
    head = 4 if tree[1] != 4 else 3
    attach(page, 2, head)
    assert find(page, "small.pinned").text == "foo" and downloaded(page, tmp_path)[0][1][1][6:8] == [str(head), "foo"]
    attach(page, 2, 1)
    assert not page.find_elements(By.CSS_SELECTOR, "small.pinned")


def test_files(page, tmp_path):
    file = tmp_path / "x.conllu"
    file.write_bytes(rows(0, deprel="é").encode("latin-1"))
    find(page, "#file").send_keys(str(file))
    wait_for(page, lambda: status(page) == "x.conllu is not UTF-8.")
    file.write_bytes(b"\xef\xbb\xbf" + rows(0, deprel="é").replace("\n", "\r\n").encode())
    find(page, "#file").send_keys(str(file))
    wait_for(page, lambda: find(page, "#main").is_displayed())
    settled(page)
    find(page, "#download").click()
    found = tmp_path / "x.annotated.conllu"
    wait_for(page, found.exists)
    wait_for(page, lambda: found.read_bytes())
    assert found.read_bytes().decode() == rows(0, deprel="é").replace("\n", "\r\n")


def test_decisions_are_not_dropped_unasked(page, tmp_path):
    open_text(page, rows(*"____"))
    find(page, "button[type=submit]").click()  # nothing was decided
    settled(page)
    assert attach(page, 3, 1)[2] == 1
    file = tmp_path / "x.conllu"
    file.write_text(rows(*"__"))
    for opens in (find(page, "button[type=submit]").click, lambda: find(page, "#file").send_keys(str(file))):
        opens()
        wait_for(page, lambda: browser.alert(page))
        assert "were not downloaded or saved" in browser.alert(page).text
        browser.alert(page).dismiss()
        assert heads(page)[2] == 1 and len(words(page)) == 5
    downloaded(page, tmp_path)
    find(page, "#undo").click()  # the downloaded file now has a decision more
    find(page, "button[type=submit]").click()
    wait_for(page, lambda: browser.alert(page))
    browser.alert(page).accept()
    wait_for(page, lambda: not find(page, "#undo").is_enabled())
    settled(page)
    choose(page, 3, 1)
    find(page, "#accept").click()
    find(page, "#undo").click()
    find(page, "#undo").click()  # so that there is nothing to drop
    find(page, "#file").send_keys(str(file))
    wait_for(page, lambda: len(words(page)) == 3)
    attach(page, 1, 2)
    press(page, Keys.DELETE)  # again, nothing to drop
    submit(page, rows(*"____"))
    wait_for(page, lambda: len(words(page)) == 5)


def test_text_is_text(page):
    hostile = '<img src=x onerror="document.title=1">'
    page.execute_script("document.getElementById('input').value = 'horizontal'")
    open_text(page, hostile + "\n")
    assert [word.text.split("\n")[0] for word in words(page)][1:] == hostile.split() and page.title == "mh4: correct trees"


def test_a_file_to_correct(chromium, models, tmp_path):
    old, new = tmp_path / "old.conllu", tmp_path / "new.conllu"
    old.write_text(rows(*"____") + rows(0, 1, deprel="x"))
    arguments = ["serve", "--port", "0", "--model", str(models / "mst"), str(old), "-o", str(new)]
    with running(tmp_path, arguments) as server:
        pages = []
        for _ in range(2):
            chromium.switch_to.new_window("tab")
            pages.append(chromium.current_window_handle)
            chromium.get(server.address)
            wait_for(chromium, lambda: find(chromium, "#main").is_displayed())
            settled(chromium)
        assert not find(chromium, "#data").is_displayed()
        first = attach(chromium, 3, 1)
        press(chromium, Keys.CONTROL, "s")
        press(chromium, Keys.NULL)
        wait_for(chromium, lambda: status(chromium) == "All is saved.")
        kept = rows(0, 1, deprel="x")
        saved = new.read_text()
        assert [row.split("\t")[6] for row in saved.split("\n")[:4]] == list(map(str, first)) and saved.endswith("\n\n" + kept)
        assert attach(chromium, 3, 2)[2] == 2  # can be saved, too, though a version was saved since the page was opened
        find(chromium, "#save").click()
        wait_for(chromium, lambda: new.read_text() != saved)
        saved = new.read_text()
        chromium.switch_to.window(pages[0])
        attach(chromium, 4, 1)
        find(chromium, "#save").click()
        wait_for(chromium, lambda: "was saved from another page meanwhile" in status(chromium))
        drop_decisions(chromium)
        chromium.refresh()
        wait_for(chromium, lambda: find(chromium, "#main").is_displayed())
        assert settled(chromium)[2] == 2 and new.read_text() == saved
        chromium.get("about:blank")
    assert json.loads(server.log_file.read_text().splitlines()[0])["event"] == "started"
    assert server.address.rpartition("#")[2] not in server.log_file.read_text()
