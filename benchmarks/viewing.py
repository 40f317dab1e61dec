"""Measure the time that a browser takes to open the page of `mh4 view --html`, and the size of the page.

    .venv/bin/python benchmarks/viewing.py FILE.conllu [SECOND.conllu]

writes the page and opens it five times in a headless Chromium (Debian's chromium and chromium-driver; pip install selenium). The times
are medians of five, measured by the browser's Performance API in milliseconds from the start of loading.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, table

from mh4.util.files import write_text
from mh4.viewing import analyses, page

sys.path.append(str(ROOT / "tests"))
from browser import chromium  # noqa: E402

TIMES = """
const [page] = performance.getEntriesByType("navigation");
const [paint] = performance.getEntriesByName("first-contentful-paint");
return {"first paint": paint.startTime, "loaded": page.loadEventEnd};
"""
SEARCH = """
const start = performance.now(), query = document.getElementById("query");
query.value = "crossed";
query.dispatchEvent(new Event("input"));
return performance.now() - start;
"""


def main():
    parser = argparse.ArgumentParser(description="Measure the page of `mh4 view --html`.")
    parser.add_argument("file", metavar="FILE.conllu")
    parser.add_argument("second", nargs="?", metavar="SECOND.conllu")
    asked = parser.parse_args()
    start = time.process_time()
    sentences = list(analyses.read(asked.file, asked.second))
    text = page.page(sentences, [Path(file).name for file in (asked.file, asked.second) if file])
    rows = [["sentences", len(sentences)], ["words", sum(len(shown.words) for shown in sentences)]]
    rows += [["page, MB", "%.2f" % (len(text.encode()) / 1e6)]]
    rows += [["made in, s of processor time", "%.1f" % (time.process_time() - start)]]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        write_text(str(path), text)
        for _ in range(5):
            with chromium() as browser:
                browser.get(path.as_uri())
                time.sleep(1)  # until it has painted
                found.append({**browser.execute_script(TIMES), "search": browser.execute_script(SEARCH)})
    rows += [[name + ", ms", round(statistics.median(one[name] for one in found))] for name in found[0]]
    print(table(["", ""], rows))


if __name__ == "__main__":
    main()
