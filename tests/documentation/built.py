"""The site that `make docs` built last. Tests of it are skipped where there is none."""

import pytest
from toy import ROOT

SITE = ROOT / "build" / "docs"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))

needed = pytest.mark.skipif(not PAGES, reason="the documentation is not built: make docs")
