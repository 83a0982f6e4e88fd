"""The time-travel debugger: a recorded launch, and replay to any instruction of it."""

from mfmasim.debug.recorder import Recorder
from mfmasim.debug.session import Session

__all__ = ["Recorder", "Session"]
