"""The entry point of `make setup`. Nothing here or in mh4/dynet_build may need a recent Python: an old one must be able to report that it
is too old, or hand over to that of .venv."""

import os
import sys

from versions import complaint

if sys.version_info < (3, 6):
    sys.exit("mh4: " + complaint(sys.version_info[:2]))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # of mh4.dynet_build

from environment import main  # noqa: E402

sys.exit(main())
