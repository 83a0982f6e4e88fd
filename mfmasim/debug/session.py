"""A session: one recorded launch, a place in it, the current wave and lane, and ways to move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug.appearance import appears
from mfmasim.debug.breakpoints import Breakpoint, breakpoint_at
from mfmasim.debug.cursor import Cursor
from mfmasim.debug.expressions import evaluate, number_of
from mfmasim.debug.history import History, Position
from mfmasim.debug.lines import Lines
from mfmasim.debug.names import Names, elements_of
from mfmasim.debug.search import Hit, Search
from mfmasim.debug.state import State
from mfmasim.debug.watches import WRITE, Watch, watch_of
from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from mfmasim.debug.lines import Frame
    from mfmasim.debug.names import Elements
    from mfmasim.debug.recorder import Recorder
    from mfmasim.debug.values import Number, Object
    from mfmasim.devices import Report
    from mfmasim.isa import Instruction
    from mfmasim.observe import Finding


@dataclass(frozen=True)
class Stop:
    """A stop of execution and its reason."""

    reason: str
    """``start``, ``end``, ``step``, ``breakpoint``, ``watch``, ``finding`` or ``goto``."""
    text: str = ""
    hits: tuple[Hit, ...] = ()
    finding: Finding | None = None


@dataclass
class Session:
    """A recording under the debugger. Waves are numbered over the launch."""

    recorder: Recorder
    report: Report
    elements: Mapping[str, Elements] = field(default_factory=dict)
    """Arrays whose elements have names, in addition to those of the launch's arguments."""
    folders: Iterable[Path] = ()
    findings: tuple[Finding, ...] = ()
    """Findings besides the report's: of outputs and mappings."""

    def __post_init__(self) -> None:
        """Begin before the first instruction.

        Raises:
            MfmasimError: the launch executed no instruction.
        """
        if not self.recorder.blocks:
            raise MfmasimError(f"{self.report.kernel}: nothing was executed")
        self.kernel = self.recorder.launch.kernel
        self.history = History(self.recorder)
        self.cursor = Cursor(self.recorder)
        self.lines = Lines(self.kernel, self.folders)
        self.named = {**elements_of(self.recorder.launch), **self.elements}
        self.search = Search(self.history, self.cursor, self._holds)
        self.breakpoints: dict[int, Breakpoint | Watch] = {}
        self.finding_stops: tuple[str, ...] = ()
        """Ids, or checks, of findings at which execution stops."""
        self._appear: dict[int, Position] = {}
        self._numbers = 0
        self.at = Position(0)
        self.wave = int(self.history.waves(0)[0])
        self.lane = self.frame = 0
        self.stop = Stop("start")

    # Where

    @property
    def all_findings(self) -> list[Finding]:
        """Findings of the launch, and further ones of the case."""
        own = list(self.report.findings)
        return [*own, *(one for one in self.findings if one not in own)]

    @property
    def here(self) -> Position:
        """Position of the current wave's next instruction."""
        return self.history.next_of(self.wave, self.at)

    @property
    def over(self) -> bool:
        """Whether the current wave has ended."""
        return self.here == self.history.end

    @property
    def pc(self) -> int:
        """Address of the current wave's next instruction, or of its last one after its end."""
        if not self.over:
            return self.history.instruction(self.here).pc
        last = next(self.history.backward(self.wave, self.history.end), None)
        return self.kernel.info.entry if last is None else self.history.instruction(last).pc

    @property
    def instruction(self) -> Instruction | None:
        """The current wave's next instruction."""
        return None if self.over else self.history.instruction(self.here)

    @property
    def frames(self) -> list[Frame]:
        """Inlined calls of the current wave, the innermost first."""
        return self.lines.frames(self.pc)

    @property
    def state(self) -> State:
        """Registers and memory of the current wave, here."""
        self.cursor.to(self.at)
        return State(self.cursor.replay, self.wave)

    @property
    def names(self) -> Names:
        """Names, here."""
        return self._names(self.state, self.pc)

    def _names(self, state: State, pc: int) -> Names:
        return Names(state, self.lines, min(self.lane, state.lanes - 1), pc, dict(self.named), self.frame)

    def evaluate(self, text: str) -> Number | Object:
        """The value of an expression here, for all lanes."""
        return evaluate(text, self.names)

    def _holds(self, condition: str, wave: int, pc: int) -> NDArray[np.bool_]:
        """Lanes in which a condition holds where the replay stands."""
        state = State(self.cursor.replay, wave)
        if not condition:
            return state.active
        names = Names(state, self.lines, 0, pc, dict(self.named))
        try:
            held: Any = np.broadcast_to(number_of(evaluate(condition, names)), (state.lanes,)) != 0
        except MfmasimError as error:
            raise MfmasimError(f"condition {condition!r} of wave {wave} at {pc:#x}: {error}") from None
        found: NDArray[np.bool_] = held & state.active
        return found

    # Choosing

    def select(self, wave: int | None = None, lane: int | None = None) -> None:
        """Make a wave and a lane current.

        Raises:
            MfmasimError: there is no such wave or lane.
        """
        if wave is not None:
            if not 0 <= wave < self.recorder.launch.waves:
                raise MfmasimError(f"wave {wave}: the launch has waves 0 to {self.recorder.launch.waves - 1}")
            self.wave, self.frame = wave, 0
        if lane is not None:
            if not 0 <= lane < self.kernel.wave:
                raise MfmasimError(f"lane {lane}: a wave has lanes 0 to {self.kernel.wave - 1}")
            self.lane = lane

    # Breakpoints

    def add_breakpoint(self, text: str) -> tuple[Breakpoint, str]:
        """Set a breakpoint; returns it, and a remark.

        Raises:
            MfmasimError: as `breakpoint_at`; or the condition has names that mean nothing at the place.
        """
        made, remark = breakpoint_at(self._numbers + 1, text, self.lines)
        self._numbers += 1
        self.breakpoints[made.number] = made
        return made, remark

    def add_watch(self, text: str, kinds: frozenset[str] = frozenset({WRITE})) -> Watch:
        """Watch something."""
        made = watch_of(self._numbers + 1, text, kinds, self.names)
        self._numbers += 1
        self.breakpoints[made.number] = made
        return made

    def remove(self, number: int) -> None:
        """Remove a breakpoint or watch.

        Raises:
            MfmasimError: there is none with that number.
        """
        if self.breakpoints.pop(number, None) is None:
            raise unknown("breakpoint", str(number), map(str, self.breakpoints))

    # Moving

    def go(self, at: Position, stop: Stop) -> Stop:
        """Go to a position."""
        self.cursor.to(at)
        self.at, self.stop, self.frame = at, stop, 0
        return stop

    def step_instruction(self, count: int = 1, *, backward: bool = False) -> Stop:
        """Let the current wave execute instructions, or take them back."""
        at = self.here
        for _ in range(count):
            way = self.history.backward(self.wave, at) if backward else self.history.forward(self.wave, at)
            following = next(way, None)
            if following is None:
                return self._edge(backward=backward)
            at = following
        return self.go(at, Stop("step"))

    def _edge(self, *, backward: bool) -> Stop:
        if backward:
            first = self.history.next_of(self.wave, Position(0))
            return self.go(first, Stop("start", "the beginning of the wave"))
        return self.go(self.history.end, Stop("end", "the end of the launch"))

    def _line_starts(self, *, backward: bool) -> Iterator[tuple[Position, int]]:
        """Places ahead where the current wave begins another line, and the depth of inlined calls there."""
        way = self.history.backward if backward else self.history.forward
        lines, history = self.lines, self.history
        before = None if backward else self._line(self.pc)
        held: Position | None = None
        for at in way(self.wave, self.here):
            pc = history.instruction(at).pc
            line = self._line(pc)
            if not backward:
                if line != before and line[1] and lines.begins(pc):
                    yield at, len(line[0])
                if line[1]:
                    before = line
            else:
                # A line begins where the instruction before it belongs to another one.
                if before is not None and held is not None and line != before and line[1]:
                    yield held, len(before[0])
                    held, before = None, None
                if line[1]:
                    before = line
                    if lines.begins(pc):
                        held = at
        if backward and held is not None and before is not None:
            yield held, len(before[0])

    def _line(self, pc: int) -> tuple[tuple[int, ...], int, str]:
        """Calls, line and file of an address."""
        found = self.lines.row(pc)
        frames = tuple(one.number for one in self.lines.information.frames(pc))
        return frames, found.line if found else 0, found.file if found else ""

    def step(self, *, backward: bool = False, over: bool = False) -> Stop:
        """To the next line of the current wave; `over` goes past inlined calls."""
        if not self.lines.rows:
            return self.step_instruction(backward=backward)
        depth = len(self._line(self.pc)[0])
        for at, there in self._line_starts(backward=backward):
            if not over or there <= depth:
                return self.go(at, Stop("step"))
        return self._edge(backward=backward)

    def finish(self, *, backward: bool = False) -> Stop:
        """Until the inlined call of the current wave is over; out of the outermost function to the wave's end."""
        depth = len(self._line(self.pc)[0])
        for at, there in self._line_starts(backward=backward):
            if there < depth:
                return self.go(at, Stop("step"))
        if backward:
            return self._edge(backward=True)
        return self.resume()

    def resume(self, *, backward: bool = False) -> Stop:
        """Until something stops."""
        sources = [one for one in self.breakpoints.values() if one.enabled]
        here = self.at
        while True:
            begin, end = (Position(-1), here) if backward else (here, self.history.end)
            hits = self.search.find(sources, begin, end, backward=backward, wave=self.wave)
            finding = self._finding_between(begin, end, backward=backward)
            if finding is not None and (not hits or (finding[0] > hits[0].at) == backward):
                at, found = finding
                self._choose(found)
                return self.go(at, Stop("finding", f"{found.id}: {found.message}", finding=found))
            if not hits:
                return self._limit(backward=backward)
            stopping = []
            for hit in hits:
                hit.source.hits += 1
                if isinstance(hit.source, Breakpoint) and hit.source.ignore > 0:
                    hit.source.ignore -= 1
                else:
                    stopping.append(hit)
            here = hits[0].at
            if stopping:
                return self._stopped(stopping)

    def _limit(self, *, backward: bool) -> Stop:
        if backward:
            return self.go(Position(0), Stop("start", "the beginning of the launch"))
        return self.go(self.history.end, Stop("end", "the end of the launch"))

    def _stopped(self, hits: list[Hit]) -> Stop:
        first = hits[0]
        self.select(first.wave, first.lane if first.lane is not None else self.lane)
        numbers = ", ".join(str(hit.source.number) for hit in hits)
        if isinstance(first.source, Watch):
            return self.go(first.at, Stop("watch", f"{first.kind} of {first.source.text}", tuple(hits)))
        return self.go(first.at, Stop("breakpoint", f"breakpoint {numbers}", tuple(hits)))

    def goto(self, ordinal: int) -> Stop:
        """To the current wave's instruction of that number, from 0.

        Raises:
            MfmasimError: it does not execute so many.
        """
        turns = self.history.turns_of(self.wave)
        sizes = np.cumsum(self.history.sizes[self.history.blocks[turns]])
        total = int(sizes[-1]) if len(sizes) else 0
        if not 0 <= ordinal < total:
            raise MfmasimError(f"instruction {ordinal}: wave {self.wave} executes instructions 0 to {total - 1}")
        number = int(np.searchsorted(sizes, ordinal, side="right"))
        before = int(sizes[number - 1]) if number else 0
        return self.go(Position(int(turns[number]), ordinal - before), Stop("goto"))

    def run_to(self, text: str, *, backward: bool = False) -> Stop:
        """Go to the current wave's next execution of a place, which a text names as for a breakpoint."""
        made, _ = breakpoint_at(0, text, self.lines)
        made.wave = self.wave
        begin, end = (Position(-1), self.here) if backward else (self.here, self.history.end)
        hits = self.search.find([made], begin, end, backward=backward, wave=self.wave)
        if not hits:
            raise MfmasimError(f"{made.text}: wave {self.wave} does not come there")
        return self.go(hits[0].at, Stop("goto"))

    def who_wrote(self, text: str) -> Stop:
        """Go to the instruction, wave and lane that last wrote to a place.

        Raises:
            MfmasimError: the text names nothing with a place, or no instruction wrote to the place before.
        """
        watch = watch_of(0, text, frozenset({WRITE}), self.names)
        if watch.space == "register" and watch.file != "s" and watch.lane is None:
            watch.lane = self.lane
        hits = self.search.find([watch], Position(-1), self.at, backward=True, wave=self.wave)
        if not hits:
            what = "the caller filled it" if watch.space == "global" else "it is undefined, or set before the launch"
            raise MfmasimError(f"nothing wrote {text} before here: {what}")
        return self._stopped(hits)

    # Findings

    def _finding_between(self, begin: Position, end: Position, *, backward: bool) -> tuple[Position, Finding] | None:
        """The first finding in a range at which execution stops."""
        if not self.finding_stops:
            return None
        places = [
            (self.position_of(number), finding)
            for number, finding in enumerate(self.all_findings)
            if self.waited(finding)
        ]
        inside = [(at, finding) for at, finding in places if at is not None and begin < at < end]
        if not inside:
            return None
        return max(inside, key=lambda one: one[0]) if backward else min(inside, key=lambda one: one[0])

    def waited(self, finding: Finding) -> bool:
        """Whether execution stops at a finding."""
        return any(one in ("all", finding.id, finding.check, finding.severity) for one in self.finding_stops)

    def position_of(self, number: int) -> Position | None:
        """Position at which a finding begins, by its number; None if it is about no instruction."""
        if number not in self._appear:
            finding = self.all_findings[number]
            found = appears(self.recorder, self.history, finding, self.wave_of(finding))
            self._appear[number] = found if found is not None else Position(-1)
        at = self._appear[number]
        return at if at.turn >= 0 else None

    def to_finding(self, number: int) -> Stop:
        """To where a finding begins.

        Raises:
            MfmasimError: there is no finding of that number, or it is about no instruction.
        """
        findings = self.all_findings
        if not 0 <= number < len(findings):
            raise MfmasimError(f"finding {number}: there are {len(findings)}, numbered from 0")
        at = self.position_of(number)
        if at is None:
            raise MfmasimError(f"finding {number} ({findings[number].id}) is about no instruction of this launch")
        self._choose(findings[number])
        return self.go(at, Stop("finding", f"{findings[number].id}: {findings[number].message}", (), findings[number]))

    def _choose(self, finding: Finding) -> None:
        wave = self.wave_of(finding)
        if wave is not None:
            self.select(wave, finding.lane)

    def wave_of(self, finding: Finding) -> int | None:
        """Number in the launch of the wave that a finding names."""
        launch = self.recorder.launch
        if finding.workgroup is None:
            return None
        x, y, z = finding.workgroup
        per = launch.waves_per_workgroup
        for each in ((z * launch.grid[1] + y) * launch.grid[0] + x, *range(launch.workgroups)):
            if launch.place(each * per).workgroup == finding.workgroup:
                return int(each * per + (finding.wave or 0))
        return None
