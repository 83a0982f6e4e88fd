"""The kit: probes that a person with a GPU runs once, and what their results say about every assumed row."""
