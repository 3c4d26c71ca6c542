"""The command, as `python -m herringbone`."""

import sys

from ._core import main

sys.exit(main())
