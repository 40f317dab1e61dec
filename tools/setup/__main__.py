"""What `make setup` runs. Nothing here or in the standard library it imports may need a recent Python: an old one must be
able to say that it is old."""

import sys

if sys.version_info < (3, 6):
    sys.exit(
        "mh4: Python %d.%d is too old: install Python 3.9 to 3.12 and name it, as in `make setup PYTHON=python3.11`."
        % sys.version_info[:2]
    )

from environment import main  # noqa: E402

sys.exit(main())
