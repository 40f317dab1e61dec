"""The entry point of `make setup`. Nothing here, including standard-library imports, may need a recent Python: an old one must
be able to report that it is too old."""

import sys

if sys.version_info < (3, 6):
    sys.exit(
        "mh4: Python %d.%d is too old: install Python 3.9 to 3.12 and select it, as in `make setup PYTHON=python3.11`."
        % sys.version_info[:2]
    )

from environment import main  # noqa: E402

sys.exit(main())
