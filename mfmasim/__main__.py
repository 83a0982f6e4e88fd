"""``python -m mfmasim``."""

from mfmasim.cli import main

raise SystemExit(main())
