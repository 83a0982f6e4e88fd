"""The check `mapping`: the element in every slot of every matrix instruction, by labels."""

from __future__ import annotations
