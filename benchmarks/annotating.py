"""Correct a treebank on the page of `mh4 serve FILE`; count decisions and keys, and measure how long a tree takes.

    .venv/bin/python benchmarks/annotating.py FILE.conllu --model DIR [--first 100] [--sentences 50]

removes heads and relations from sentences of the file, so that the model proposes all of them. It then corrects the
first wrong head of a sentence until all heads are right, and then the relations in the same way. It only uses keys, in
a headless Chromium (Debian's chromium and chromium-driver). Milliseconds are measured in the browser, from the key to
the new tree.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import median

from common import ROOT, table
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from mh4.data import conllu
from mh4.data.cells import DEPREL, HEAD

sys.path.append(str(ROOT / "tests"))
from browser import chromium, find, wait_for  # noqa: E402

LONG = 30  # words
PARTS = ("heads", "relations")  # of a tree
PROPOSED = "return sentence().rows.map((_, m) => m && [arc(m).head, arc(m).deprel])"
SETTLED = "return !sentence().now.asking && !sentence().now.trouble"
# Clicks the word that has the focus, as Enter does, and waits for the tree.
CLICK = """
const done = arguments[0], start = performance.now(), tree = document.getElementById("tree");
document.activeElement.click();
const look = () => tree.ariaBusy === "false" ? requestAnimationFrame(() => done(performance.now() - start)) : setTimeout(look, 1);
look();
"""


class Annotator:
    """A simulated annotator with the gold tree of each sentence, who only uses keys."""

    def __init__(self, driver):
        self.driver, self.counts, self.milliseconds = driver, Counter(), []

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.counts["keys"] += len(keys)

    def go(self, by):
        self.press(*[Keys.ARROW_RIGHT if by > 0 else Keys.ARROW_LEFT] * abs(by))

    def proposed(self):
        """Return (head, relation) of each word, from 1, once the tree has settled."""
        wait_for(self.driver, lambda: self.driver.execute_script(SETTLED))
        return self.driver.execute_script(PROPOSED)

    def wrong(self, gold, part):
        """Return the words whose head (part 0) or relation (part 1) is wrong."""
        right = (gold.heads.tolist(), ["", *gold.deprels])[part]
        return [m for m, arc in enumerate(self.proposed()) if m and arc[part] != right[m]]

    def correct(self, gold):
        for part, name in enumerate(PARTS):
            self.counts["wrong " + name] += len(self.wrong(gold, part))
        at = 1
        self.driver.execute_script("focusOn(1)")
        for part, decide in enumerate((self.decide_head, self.decide_relation)):
            while wrong := self.wrong(gold, part):
                self.go(wrong[0] - at)
                at = wrong[0]
                decide(at, gold)
                self.counts["decisions on " + PARTS[part]] += 1
        self.press("a")

    def decide_head(self, m, gold):
        head = int(gold.heads[m])
        if head == 0:
            return self.press("0")
        self.press(Keys.ENTER)
        self.go(head - m)
        self.counts["keys"] += 1
        self.milliseconds.append((len(gold), self.driver.execute_async_script(CLICK)))

    def decide_relation(self, m, gold):
        self.press("r", *gold.deprels[m - 1], Keys.ENTER)


def main():
    parser = argparse.ArgumentParser(description="Correct trees on the page of `mh4 serve FILE`.")
    parser.add_argument("file", metavar="FILE.conllu", help="has the right trees")
    parser.add_argument("--model", metavar="DIR", required=True)
    parser.add_argument("--first", type=int, default=0, help="how many sentences to leave out before")
    parser.add_argument("--sentences", type=int, default=50)
    asked = parser.parse_args()
    blocks = list(islice(conllu.blocks(asked.file), asked.first, asked.first + asked.sentences))
    with tempfile.TemporaryDirectory() as folder:
        source, corrected = Path(folder, "open.conllu"), Path(folder, "corrected.conllu")
        empty = (dict.fromkeys((HEAD, DEPREL), ["_"] * len(block.sentence)) for block in blocks)
        source.write_text("".join(block.alone(columns) for block, columns in zip(blocks, empty, strict=True)), encoding="utf-8")
        command = [sys.executable, "-m", "mh4", "serve", source, "--model", asked.model, "-o", corrected, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = server.stdout.readline().split()[0]
            with chromium() as driver:
                driver.get(address)
                wait_for(driver, lambda: driver.execute_script("return sentences.length"))
                annotator = Annotator(driver)
                for number, block in enumerate(blocks, start=1):
                    annotator.correct(block.sentence)
                    annotator.press(*["n"] * (number < len(blocks)))
                find(driver, "#save").click()
                wait_for(driver, lambda: corrected.exists())
        finally:
            server.terminate()
            server.wait()
        for block, found in zip(blocks, conllu.read(str(corrected)), strict=True):
            assert found.heads.tolist() == block.sentence.heads.tolist() and found.deprels == block.sentence.deprels
    rows = [["sentences", len(blocks)], ["words", sum(len(block.sentence) for block in blocks)], *annotator.counts.items()]
    for title, least in (("a tree settles, ms", 0), ("of %d words or more, ms" % LONG, LONG)):
        if times := [time for words, time in annotator.milliseconds if words >= least]:
            rows.append([title, round(median(times))])
    print(table(["", ""], rows))


if __name__ == "__main__":
    main()
