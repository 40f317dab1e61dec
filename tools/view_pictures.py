"""Make docs/view-light.png and docs/view-dark.png, pictures of the page of `mh4 view`, with Chromium and its driver.

    .venv/bin/python tools/view_pictures.py

They show a sentence of the toy treebank beside the nearest projective tree.
"""

import shutil
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from mh4 import trees
from mh4.data import conllu, toy
from mh4.viewing import analyses
from mh4.viewing.page import page

DOCS = Path(__file__).resolve().parents[1] / "docs"
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
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars".split():
        options.add_argument(option)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    with tempfile.TemporaryDirectory() as folder:
        path = write_page(Path(folder))
        driver.set_window_size(1000, 760)
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            driver.get(path.as_uri())
            driver.save_screenshot(str(DOCS / ("view-%s.png" % scheme)))
    driver.quit()


if __name__ == "__main__":
    main()
