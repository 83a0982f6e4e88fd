"""The independent reference: formats, exact sums and instruction models in plain Python integers."""
