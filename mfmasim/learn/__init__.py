"""The course: exercises with real kernels, which the checks of `mfmasim.verify` grade.

An exercise is a folder of `exercises`: its text, the file that a learner edits, a solution, and a row that declares
what is graded, with hints and typical wrong answers. What the kernel is launched with is a function of `launches`.
"""

from __future__ import annotations

from mfmasim.learn.exercise import Exercise, Wrong, exercise, exercise_of_file, exercises
from mfmasim.learn.grading import Grade, grade

__all__ = ["Exercise", "Grade", "Wrong", "exercise", "exercise_of_file", "exercises", "grade"]
