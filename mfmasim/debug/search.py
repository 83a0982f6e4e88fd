"""The next or the last stop: breakpoints and watches over a recording, forwards and backwards.

Sources that need no registers are decided by the recording alone. Otherwise possible turns are replayed one by one;
backwards, the ranges between checkpoints are replayed, the latest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.debug.history import Position
from mfmasim.debug.watches import WRITE, Accesses, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mfmasim.debug.breakpoints import Breakpoint
    from mfmasim.debug.cursor import Cursor
    from mfmasim.debug.history import History
    from mfmasim.debug.recorder import Entry


@dataclass(frozen=True)
class Hit:
    """A source that stops execution at a position."""

    at: Position
    source: Breakpoint | Watch
    wave: int
    lane: int | None
    kind: str = ""
    """For a watch: ``read``, ``write`` or ``atomic``."""
    address: int = 0


class Search:
    """Over one recording."""

    def __init__(self, history: History, cursor: Cursor, holds: Callable[[str, int, int], NDArray[np.bool_]]) -> None:
        """Prepare.

        Args:
            history: the recording.
            cursor: replays it.
            holds: returns the lanes in which a condition holds for a wave and an address, at the replay's position.
        """
        self.history, self.cursor, self.holds = history, cursor, holds

    def find(
        self, sources: Sequence[Breakpoint | Watch], begin: Position, end: Position, *, backward: bool, wave: int
    ) -> list[Hit]:
        """The hits at the first position with hits after `begin`, or at the last one before `end`.

        Args:
            sources: breakpoints and watches.
            begin: hits are after this position.
            end: hits are before this position.
            backward: whether the last is looked for.
            wave: the preferred wave, if several waves stop at one position.
        """
        plain = [one for one in sources if not _replayed(one)]
        replayed = [one for one in sources if _replayed(one)]
        found = self._plain(plain, begin, end, backward=backward, wave=wave)
        if replayed:
            if found and not backward:
                end = Position(found[0].at.turn, found[0].at.done + 1)
            elif found:
                begin = Position(found[0].at.turn, found[0].at.done - 1)
            more = self._stretches(replayed, begin, end, backward=backward, wave=wave)
            if more and (not found or more[0].at != found[0].at):
                return more
            found = [*more, *found]
        return found

    def _candidates(self, sources: Sequence[Breakpoint | Watch], begin: Position, end: Position) -> NDArray[np.int64]:
        turns = self.history.matching(lambda entry: any(one.indices(entry) for one in sources))
        last = end.turn + (1 if end.done else 0)
        return turns[(turns >= begin.turn) & (turns < last)]

    def _plain(
        self, sources: Sequence[Breakpoint | Watch], begin: Position, end: Position, *, backward: bool, wave: int
    ) -> list[Hit]:
        turns = self._candidates(sources, begin, end) if sources else np.zeros(0, np.int64)
        for turn in (turns[::-1] if backward else turns).tolist():
            entry = self.history.entry(turn)
            indices = sorted({k for one in sources for k in one.indices(entry)}, reverse=backward)
            for index in indices:
                at = Position(turn, index)
                if not begin < at < end:
                    continue
                hits = [
                    Hit(at, one, chosen, None)
                    for one in sources
                    if index in one.indices(entry) and (chosen := self._wave(one, turn, wave)) is not None
                ]
                if hits:
                    return hits
        return []

    def _wave(self, source: Breakpoint | Watch, turn: int, preferred: int) -> int | None:
        waves = self.history.waves(turn)
        wanted = source.wave
        if wanted is not None:
            return wanted if wanted in waves else None
        return preferred if preferred in waves else int(waves[0])

    def _stretches(
        self, sources: Sequence[Breakpoint | Watch], begin: Position, end: Position, *, backward: bool, wave: int
    ) -> list[Hit]:
        turns = self._candidates(sources, begin, end)
        if not len(turns):
            return []
        if not backward:
            return self._first(self._replayed(sources, turns, begin, end, wave))
        bounds = self.cursor.turns_held(begin.turn, end.turn + 1)
        for low, high in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
            last: list[Hit] = []
            inside = turns[(turns >= low) & (turns < high)]
            for hits in self._replayed(sources, inside, begin, end, wave) if len(inside) else ():
                last = hits
            if last:
                return last
        return []

    @staticmethod
    def _first(found: Iterator[list[Hit]]) -> list[Hit]:
        return next(found, [])

    def _replayed(
        self, sources: Sequence[Breakpoint | Watch], turns: NDArray[np.int64], begin: Position, end: Position, wave: int
    ) -> Iterator[list[Hit]]:
        """Hits by position, ascending, of turns that are replayed."""
        memory = [one for one in sources if isinstance(one, Watch) and one.space != "register"]
        tested = [one for one in sources if one not in memory]
        accesses = Accesses(memory, self.history.per)
        cursor = self.cursor
        for turn in turns.tolist():
            entry = self.history.entry(turn)
            cursor.to(Position(turn))
            watched = any(one.indices(entry) for one in memory)
            cursor.replay.listen(accesses if watched else None)
            accesses.found.clear()
            found: dict[int, list[Hit]] = {}
            try:
                for index in sorted({k for one in tested for k in one.indices(entry)}):
                    if begin < (at := Position(turn, index)) < end:
                        cursor.replay.to_instruction(index)
                        hits = [hit for one in tested if (hit := self._test(one, entry, at, wave)) is not None]
                        if hits:
                            found[index] = hits
                if watched:
                    cursor.replay.to_turn(turn + 1)
            finally:
                cursor.replay.listen(None)
            for touch in accesses.found:
                at = Position(turn, entry.pcs[touch.pc])
                if begin < at < end:
                    hit = Hit(at, touch.watch, touch.wave, touch.lane, touch.kind, touch.address)
                    found.setdefault(at.done, []).append(hit)
            for index in sorted(found):
                yield found[index]

    def _test(self, source: Breakpoint | Watch, entry: Entry, at: Position, preferred: int) -> Hit | None:
        """The hit of a source at the replay's position, if there is one."""
        if at.done not in source.indices(entry):
            return None
        ins = entry.instructions[at.done]
        waves = self.history.waves(at.turn).tolist()
        if source.wave is not None:
            waves = [source.wave] if source.wave in waves else []
        elif preferred in waves:
            waves = [preferred, *(one for one in waves if one != preferred)]
        for wave in waves:
            if isinstance(source, Watch):
                lanes = self.holds("", wave, ins.pc)
                scalar = source.file == "s" or bool(ins.opcode.matrix) or ins.opcode.scalar
                if source.lane is not None and not scalar:
                    lanes = lanes & (np.arange(len(lanes)) == source.lane)
                if scalar or lanes.any():
                    lane = source.lane if source.lane is not None or scalar else int(np.flatnonzero(lanes)[0])
                    written = any(
                        o.kind == source.file and o.index <= source.first < o.index + o.count for o in ins.dst
                    )
                    return Hit(at, source, wave, lane, WRITE if written and WRITE in source.kinds else "read")
                continue
            lanes = self.holds(source.condition, wave, ins.pc)
            if lanes.any():
                return Hit(at, source, wave, int(np.flatnonzero(lanes)[0]))
        return None


def _replayed(source: Breakpoint | Watch) -> bool:
    return isinstance(source, Watch) or bool(source.condition)
