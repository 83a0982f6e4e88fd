"""The timeline clock by clock: an obvious model without events, queues or remembered times, never optimised.

Whether a wave may issue is decided anew in every clock from the list of everything that has issued before.
"""

from dataclasses import dataclass, field


@dataclass
class Issued:
    """An instruction that has issued."""

    op: object
    clock: float
    done: float
    """When what it counts in its counters is complete."""


@dataclass
class Wave:
    number: int
    trace: object
    history: list = field(default_factory=list)
    barriers: int = 0
    """Barriers that it has signalled."""

    @property
    def place(self):
        return len(self.history)

    @property
    def over(self):
        return self.place == len(self.trace.operations)


def outstanding(wave, counter, clock):
    """How many operations a counter counts in a clock; those of one order complete in the order of their issue."""
    count = 0
    latest = {}
    for issued in wave.history:
        for row in issued.op.raises:
            if row.counter != counter:
                continue
            done = issued.done
            if row.order:
                done = latest[row.order] = max(done, latest.get(row.order, 0))
            count += done > clock
    return count


def usable(wave, op, register, clock, rates, end):
    """Whether a register's value may be used in a clock."""
    for issued in reversed(wave.history):
        before = issued.op
        if register not in before.writes:
            continue
        if before.matrix:
            extra = 0 if register in op.chained else rates["matrix latency"].ends[end]
            return clock >= issued.clock + before.matrix + extra
        if before.slot == "VALU":
            name = "transcendental latency" if before.trans else "valu latency"
            return clock >= issued.clock + rates[name].ends[end]
        if before.slot == "scalar" and not before.scalar_load:
            return clock >= issued.clock + rates["salu latency"].ends[end]
        # A load: its registers are guarded by counters; what was there before it no longer matters less.
    return True


def simulate(trace, end):
    """Clocks in which each instruction of each wave issues; `end` is 0 (low), 1 or 2 (high)."""
    rates = trace.arch.rates
    period = rates["issue"].value
    waves = [Wave(number, each) for number, each in enumerate(trace.waves)]
    operations = trace.operations
    opened = {}  # workgroup -> clocks in which its barriers opened
    lds, ports, fill, memory, l2, lines = {}, {}, {}, {}, {}, {}
    most = max(1, rates.l1_bytes // rates.line_bytes)
    valu, matrix, trans = [0.0] * 4, [0.0] * 4, [0.0] * 4

    def priority(wave):
        given = [issued.op.priority for issued in wave.history if issued.op.priority is not None]
        return given[-1] if given else 0

    def stands(wave, clock):
        """Whether something of the wave itself keeps it from issuing."""
        op = operations[wave.trace.operations[wave.place]]
        if wave.history:
            last = wave.history[-1]
            after = last.clock + period + last.op.idle
            if last.op.flow and not last.op.ends and op.pc != last.op.next_pc:
                after += rates["branch"].ends[end]
            if clock < after:
                return True
            if last.op.awaits:
                doors = opened.get(wave.trace.workgroup, [])
                if len(doors) < wave.barriers or clock < doors[wave.barriers - 1]:
                    return True
        if any(outstanding(wave, counter, clock) > value for counter, value in op.waits):
            return True
        if any(outstanding(wave, row.counter, clock) >= row.limit for row in op.raises):
            return True
        return not all(usable(wave, op, register, clock, rates, end) for register in op.reads)

    def serve(wave, op, simd, clock):
        """When an access is complete."""
        number = wave.trace.accesses[wave.place]
        access = trace.accesses[number] if number >= 0 else None
        group, pair = simd // rates.lds_simds, simd // 2
        if op.slot == "LDS":
            start = max(clock, lds.get(group, 0), ports.get(pair, 0))
            lds[group] = start + (access.lds if access else 0)
            ports[pair] = start + (access.port if access else 0)
            return max(start, lds[group], ports[pair]) + rates["lds latency"].ends[end]
        if op.slot == "memory":
            start = max(clock, memory.get(group, 0))
            needed = 0
            if access and access.lanes:
                needed = max(
                    access.lanes / rates["addresses"].value,
                    len(access.lines) / rates["lines"].value,
                    access.bytes / rates["l1"].value,
                )
            memory[group] = start + needed
            done = memory[group] + rates["l1 latency"].ends[end]
            held = lines.setdefault(group, [])
            missed = 0
            for line in access.lines if access else ():
                if line in held:
                    held.remove(line)
                else:
                    missed += 1
                held.append(line)
                del held[:-most]
            if missed:
                l2[group] = max(l2.get(group, 0), start) + missed * rates.line_bytes / rates["l2"].value
                done = max(done, l2[group] + rates["l2 latency"].ends[end])
            if access and access.fill:
                done = fill[group] = max(fill.get(group, 0), done) + access.fill
            return done
        return clock + rates["scalar load"].ends[end]

    clock = 0.0
    while not all(wave.over for wave in waves):
        for simd in range(4):
            if period > 1 and clock % period != simd % period:
                continue
            mine = [wave for wave in waves if wave.number % 4 == simd and not wave.over]
            able = [wave for wave in mine if not stands(wave, clock)]
            taken = set()
            for wave in sorted(able, key=lambda wave: (-priority(wave), wave.number)):
                op = operations[wave.trace.operations[wave.place]]
                needs = dict(op.needs)
                if op.slot != "internal":
                    if op.slot in taken:
                        continue
                    if op.slot == "VALU":
                        free = max(valu[simd], matrix[simd] if op.matrix else 0, trans[simd] if op.trans else 0)
                        if free > clock:
                            continue
                        if op.matrix:
                            matrix[simd] = clock + op.matrix
                            valu[simd] = clock + (op.matrix if rates.matrix_on_valu else period)
                        else:
                            valu[simd] = clock + needs["VALU"]
                            trans[simd] = clock + needs["transcendental"] if op.trans else trans[simd]
                    taken.add(op.slot)
                done = serve(wave, op, simd, clock) if op.raises else clock
                wave.history.append(Issued(op, clock, done))
                if op.signals:
                    wave.barriers += 1
                for workgroup in {each.trace.workgroup for each in waves}:
                    running = [w for w in waves if w.trace.workgroup == workgroup and not w.over]
                    doors = opened.setdefault(workgroup, [])
                    if running and all(w.barriers > len(doors) for w in running):
                        doors.append(clock + rates["barrier"].ends[end])
        clock += 1
        assert clock < 1e6
    return [[issued.clock for issued in wave.history] for wave in waves]
