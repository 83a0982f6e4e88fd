"""Profiles of hypothesis."""

import os

from hypothesis import settings

# Machines differ in speed, so no deadline; CI draws the same examples every time, a developer new ones.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
