"""Golden data for mfmasim's kernels and the independent reference that made it.

Nothing here imports mfmasim: the data judges the simulator, so it may share no code with it.
"""
