"""Breakpoints: functions that are called at chosen instructions, with the registers of the waves there."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, decimal
from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.kernels import Kernel
    from mfmasim.machine.events.stepping import Step
    from mfmasim.machine.launch.launch import Launch

    Action = Callable[["Stop"], object]


@dataclass
class Breakpoint:
    """A place, and the action at it."""

    place: str | int
    action: Action
    when: Callable[[Stop], object] | None
    hits: int = 0
    """How often the action was called."""
    addresses: frozenset[int] = frozenset()
    """Addresses of the place in the current kernel; empty for a mnemonic pattern."""

    def at(self, pc: int, name: str) -> bool:
        """Whether an instruction is at the place."""
        return pc in self.addresses or (
            not self.addresses and isinstance(self.place, str) and fnmatchcase(name, self.place)
        )


class Stop:
    """Waves at an instruction that they have not executed yet, with all attributes of a `Step`.

    ``v(3)``, ``a(3)`` are (waves, lanes), ``s(4)``, ``vcc``, ``exec``, ``scc``, ``mode`` (waves,), ``lds`` (waves,
    bytes), ``waves`` their numbers in the launch, ``place(0)`` the place of the first wave, ``fragment("A")``
    an operand of a matrix instruction, ``buffer("p0")`` the contents of an argument, ``source`` the line.
    """

    def __init__(self, step: Step, debugger: Debugger, action: Action) -> None:
        """A stop of `debugger` for `action`."""
        self._step, self._debugger, self._action = step, debugger, action

    def __getattr__(self, name: str) -> Any:
        """Attributes of the step."""
        return getattr(self._step, name)

    def __repr__(self) -> str:
        """Address, text, source line and number of waves."""
        return repr(self._step)

    def step(self, action: Action | None = None) -> None:
        """Stop once more at the next instruction that any of these waves executes.

        Args:
            action: called at that instruction; None means the current action.
        """
        self._debugger.step_from(self._step, action or self._action)

    def end(self) -> None:
        """End the launch before this instruction; buffers keep the bytes written so far."""
        self._step.end()


class Debugger(Observer):
    """Breakpoints of a launch: ``device.launch(..., debug=debugger)``. It can serve several launches, one at a time.

    Waves at one address stop together, in the order of the machine, which is the same in every run.
    """

    name = "debugger"

    def __init__(self) -> None:
        """Start without breakpoints."""
        self.breakpoints: list[Breakpoint] = []
        self._stepping: tuple[set[int], Action] | None = None

    def break_at(self, place: str | int, action: Action, *, when: Callable[[Stop], object] | None = None) -> Breakpoint:
        """Call a function before an instruction.

        Args:
            place: ``"gemm.hip:31"`` (every place where code of that line begins), an address such as ``0x1a40``, or a
                pattern of mnemonics such as ``"v_mfma_*"``.
            action: called with a `Stop`. When it returns False, the launch ends there.
            when: called with the `Stop` first; the action is called only when it returns something true.

        Returns:
            The breakpoint; its ``hits`` count.

        Raises:
            MfmasimError: the place is neither text nor an address. (The launch checks that it is in the kernel.)
        """
        if isinstance(place, bool) or not isinstance(place, str | int) or place == "":
            raise MfmasimError(f"breakpoint {place!r}: 'file:line', an address or a pattern of mnemonics is expected")
        if not callable(action) or not (when is None or callable(when)):
            raise MfmasimError(f"breakpoint {place!r}: a function that takes a stop is expected")
        found = Breakpoint(place, action, when)
        self.breakpoints.append(found)
        return found

    def at(self, place: str | int, *, when: Callable[[Stop], object] | None = None) -> Callable[[Action], Action]:
        """`break_at` as a decorator."""

        def decorate(action: Action) -> Action:
            self.break_at(place, action, when=when)
            return action

        return decorate

    def on_start(self, launch: Launch) -> None:
        """Find the breakpoints in the kernel of the launch.

        Raises:
            MfmasimError: a place without an instruction; the message names the nearest places.
        """
        self._stepping = None
        for each in self.breakpoints:
            each.addresses = _addresses(each.place, launch.kernel)

    def step_from(self, step: Step, action: Action) -> None:
        """Stop at the next instruction of the waves of a step."""
        self._stepping = (set(step.waves.tolist()), action)

    def before_step(self, step: Step) -> None:
        """Call the actions of the breakpoints here."""
        if self._stepping is not None and not self._stepping[0].isdisjoint(step.waves.tolist()):
            (_, action), self._stepping = self._stepping, None
            self._call(action, Stop(step, self, action))
        for each in self.breakpoints:
            if not each.at(step.pc, step.instruction.name):
                continue
            stop = Stop(step, self, each.action)
            if each.when is None or each.when(stop):
                each.hits += 1
                self._call(each.action, stop)

    def _call(self, action: Action, stop: Stop) -> None:
        if action(stop) is False:
            stop.end()


def _addresses(place: str | int, kernel: Kernel) -> frozenset[int]:
    """Addresses of a place in a kernel; none for a pattern of mnemonics."""
    if isinstance(place, int):
        return frozenset([kernel.code.instruction_at(place, kernel.wave).pc])
    name, colon, line = place.rpartition(":")
    if not colon:
        if not any(fnmatchcase(ins.name, place) for ins in kernel.instructions):
            raise MfmasimError(f"breakpoint {place!r}: no instruction of {kernel.name} has such a mnemonic")
        return frozenset()
    if decimal(line) < 0:
        raise MfmasimError(f"breakpoint {place!r}: a line number is expected after the colon, as in gemm.hip:31")
    rows = [row for row in kernel.code.object.line_table() if row.line]
    if not rows:
        raise MfmasimError(f"breakpoint {place!r}: {kernel.name} has no source lines; compile with -gline-tables-only")
    in_file = [row for row in rows if row.file == name or row.file.endswith("/" + name.removeprefix("./"))]
    if not in_file:
        files = sorted({row.file for row in rows})
        raise MfmasimError(f"breakpoint {place!r}: no code comes from {name}; the files are {', '.join(files[:5])}")
    found = frozenset(row.start for row in in_file if row.line == int(line))
    if not found:
        near = sorted({row.line for row in in_file}, key=lambda one: abs(one - int(line)))[:3]
        raise MfmasimError(f"breakpoint {place!r}: no code begins there; nearby lines are {sorted(near)}")
    return found
