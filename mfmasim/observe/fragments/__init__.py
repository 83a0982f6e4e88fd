"""The check `mapping`: what every slot of every matrix instruction holds, by labels."""

from __future__ import annotations
