"""Coverage-guided fuzzing: one module per surface, a corpus per surface that only grows.

A surface's module has a docstring that states the property, and `run(data)`, which ends normally for any bytes.
``python -m tests.fuzz SURFACE --minutes N`` looks for new inputs with atheris (libFuzzer); the quick tests replay the
corpus.
"""
