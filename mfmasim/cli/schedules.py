"""The option --schedule of several verbs."""

from __future__ import annotations

SCHEDULE_HELP = (
    "order of waves: usual (all together), forward, reversed, random:SEED, first:WAVE, last:WAVE, late (loads are "
    "delivered at the last moment that the wait counters allow), or witness: an order "
    "in which a race that was found changes the outputs"
)
