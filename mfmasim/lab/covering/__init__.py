"""Sizes at which loops turn, and branches go, as the case's own size does not show."""
