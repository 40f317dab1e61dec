"""The time that a browser takes to open the page of `mh4 view --html`, and the page's size.

    .venv/bin/python benchmarks/viewing.py FILE.conllu [SECOND.conllu]

writes the page and opens it five times in a headless Chromium (Debian's chromium and chromium-driver; pip install selenium). The times
are the browser's own (its Performance API), in milliseconds since it began to load the page; the median of five.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mh4.util.files import write_text
from mh4.viewing import analyses, page

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
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
    print("| | |\n|---|--:|")
    print("| sentences | %d |\n| words | %d |" % (len(sentences), sum(len(shown.words) for shown in sentences)))
    print(
        "| page, MB | %.2f |\n| made in, s of processor time | %.1f |" % (len(text.encode()) / 1e6, time.process_time() - start)
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        write_text(str(path), text)
        for _ in range(5):
            with chromium() as browser:
                browser.get(path.as_uri())
                time.sleep(1)  # until it has painted
                found.append({**browser.execute_script(TIMES), "search": browser.execute_script(SEARCH)})
    for name in found[0]:
        print("| %s, ms | %.0f |" % (name, statistics.median(one[name] for one in found)))


if __name__ == "__main__":
    main()
