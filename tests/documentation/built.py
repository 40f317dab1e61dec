"""The site that `make docs` built. Tests of it are skipped if it is not there, or not made from the pages as they are now."""

import pytest
from toy import ROOT

SITE = ROOT / "build" / "docs"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
SOURCES = [path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.suffix != ".pyc"]


def is_up_to_date():
    complete = SITE / "complete"
    return complete.exists() and max(path.stat().st_mtime for path in SOURCES) <= complete.stat().st_mtime


needed = pytest.mark.skipif(not is_up_to_date(), reason="the documentation is not built: make docs")
