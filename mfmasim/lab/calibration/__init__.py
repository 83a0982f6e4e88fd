"""Probes that show how a device computes, and the parameters that fit them."""

from __future__ import annotations
