"""A simulator that records every launch, and hands each recording over while the caller waits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.debug.recorder import Recorder
from mfmasim.devices.sim import SimDevice
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.devices import Options, Report
    from mfmasim.machine.events import Observer
    from mfmasim.machine.launch.launch import Launch


class RecordingDevice(SimDevice):
    """The simulator, with a recording of each launch."""

    def __init__(self, done: Callable[[Recorder, Report], None], observers: Sequence[Observer] = ()) -> None:
        """Nothing is recorded yet.

        Args:
            done: called with each recording before its launch returns.
            observers: of the first launch, besides its own.
        """
        self.done, self.further = done, list(observers)

    def run(self, prepared: Launch, options: Options, again: Callable[[], Launch] | None = None) -> Report:
        """Run a launch whose memory is laid out.

        Args:
            prepared: the launch.
            options: options of the run.
            again: as `SimDevice.run` takes it.

        Raises:
            MfmasimError: as `SimDevice.run`; or options that cannot be replayed.
        """
        if options.schedule != "usual" or options.executor is not None:
            raise MfmasimError("the debugger replays the usual order of waves, in this process: leave out --schedule")
        recorder = Recorder()
        recorder.checks = options.names
        observers, self.further = [*options.observers, recorder, *self.further], []
        report = super().run(prepared, replace(options, observers=observers), again)
        if recorder.blocks:
            self.done(recorder, report)
        return report
