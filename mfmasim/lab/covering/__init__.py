"""Sizes at which loops and branches take paths that the case's own size does not take."""
