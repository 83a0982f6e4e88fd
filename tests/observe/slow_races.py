"""The slow model of races in the LDS: byte by byte and wave by wave, in plain Python, straight from the rules.

Each byte remembers its last writer, its last two readers and its last two atomic operations of different waves, each
with the barriers that its wave had signalled when it was issued, and when it was complete. Values are not followed.
"""

from collections import defaultdict
from dataclasses import dataclass, field

__all__ = ["SlowRaces"]


@dataclass(eq=False)
class Access:
    """A wave's part of an instruction."""

    wave: int
    pc: int
    kind: str
    direct: bool
    counter: tuple[str, str]
    order: int
    issued: int
    complete: int
    octets: set[int]
    flying: bool = True


@dataclass
class Wave:
    """Counters of one wave, and what it has done."""

    issued: dict = field(default_factory=lambda: defaultdict(int))
    complete: dict = field(default_factory=lambda: defaultdict(int))
    signalled: int = 0
    accesses: list = field(default_factory=list)


class SlowRaces:
    """Races of one workgroup whose barriers are all `s_barrier`."""

    def __init__(self, waves, size):
        """`size` is bytes of the LDS."""
        self.waves = [Wave() for _ in range(waves)]
        self.last = [{"read": [], "write": [], "atomic": []} for _ in range(size)]
        self.found = defaultdict(set)
        """By both instructions and what the first one was, the kinds of finding that fit."""

    def access(self, number, pc, kind, direct, raised, octets):
        """A wave accesses bytes."""
        wave, counter = self.waves[number], (raised.counter, raised.order)
        new = Access(number, pc, kind, direct, counter, wave.issued[counter], wave.signalled, wave.signalled, octets)
        for old in wave.accesses:
            in_order = direct == old.direct and (not direct or old.counter == counter)
            if old.flying and not in_order and not kind == old.kind == "read" and old.octets & octets:
                self.found[old.pc, pc, "flight"].add("races-own-in-flight")
        for octet in octets:
            last = self.last[octet]
            against = last["write"] + (last["read"] if kind != "read" else [])
            for old in against + (last["atomic"] if kind != "atomic" else []):
                if old.wave != number and wave.signalled <= old.complete:
                    why = "races-not-done-at-barrier" if wave.signalled > old.issued else "races-no-barrier"
                    self.found[old.pc, pc, old.kind].add(why)
            alike = last[kind]
            if alike and alike[-1].wave == number:
                del alike[-1]
            alike.append(new)
            del alike[: -1 if kind == "write" else -2]
        wave.accesses.append(new)
        wave.issued[counter] += 1
        self._complete(wave, counter, raised.limit)

    def wait(self, number, name, left):
        """A wave waits until at most `left` operations of a counter are in flight."""
        wave = self.waves[number]
        for counter in list(wave.issued):
            if counter[0] == name:
                self._complete(wave, counter, left)

    def _complete(self, wave, counter, left):
        wave.complete[counter] = max(wave.complete[counter], wave.issued[counter] - left)
        for old in wave.accesses:
            old.flying &= old.counter != counter or old.order >= wave.complete[counter]

    def barrier(self, number):
        """A wave passes a barrier: what is in flight is complete at the next one at the earliest."""
        wave = self.waves[number]
        wave.signalled += 1
        for access in wave.accesses:
            if access.flying:
                access.complete = wave.signalled
