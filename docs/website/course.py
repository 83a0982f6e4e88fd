"""Pages of the course: the text of each exercise, and the file that it starts from."""

from __future__ import annotations

from mfmasim.learn import Exercise, exercises

__all__ = ["course_pages"]


def _page(exercise: Exercise) -> str:
    title, text = exercise.text.strip().removeprefix("# ").split("\n", 1)
    return (
        f"# {exercise.number}. {title}\n\n"
        f"Exercise {exercise.number}, about {exercise.minutes} minutes, on {' and '.join(exercise.arch)}. "
        f"`mfmasim learn start {exercise.name}` writes the file below, "
        f"`mfmasim learn check {exercise.file}` grades it.\n\n"
        f"{text.strip()}\n\n"
        f"## {exercise.file}\n\n```cpp\n{exercise.unsolved.strip()}\n```\n"
    )


def course_pages() -> dict[str, str]:
    """Pages by path, in the order of the course."""
    return {f"learn/{exercise.name}.md": _page(exercise) for exercise in exercises()}
