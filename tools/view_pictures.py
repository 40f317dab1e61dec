"""Make docs/view-light.png and docs/view-dark.png, pictures of the page of `mh4 view`, with Chromium and its driver.

    .venv/bin/python tools/view_pictures.py

They show a sentence of the toy treebank beside the nearest projective tree.
"""

import sys
import tempfile
from pathlib import Path

from mh4 import trees
from mh4.data import conllu, toy
from mh4.viewing import analyses
from mh4.viewing.page import page

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
from browser import chromium  # noqa: E402

SENTENCE = 7


def write_page(folder: Path) -> Path:
    toy.write(str(folder))
    gold = folder / "toy-ud-test.conllu"
    with open(folder / "projective.conllu", "w", encoding="utf-8") as file:
        for block in conllu.blocks(str(gold)):
            block.sentence.heads = trees.nearest(block.sentence.heads, "mh3", single_root=True)
            file.write(block.text(block.sentence.columns()))
    shown = analyses.read(str(gold), str(folder / "projective.conllu"), sentence=str(SENTENCE))
    (folder / "page.html").write_text(page(list(shown), ["gold", "projective"]), encoding="utf-8")
    return folder / "page.html"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        path = write_page(Path(folder))
        driver.set_window_size(1000, 760)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            driver.get(path.as_uri())
            driver.save_screenshot(str(ROOT / "docs" / ("view-%s.png" % scheme)))


if __name__ == "__main__":
    main()
