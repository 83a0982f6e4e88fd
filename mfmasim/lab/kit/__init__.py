"""The kit: probes that run once on a GPU, and the verdicts of their results on every assumed row."""
