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
    accepted: float
    """When the vector queue takes it."""
    start: float
    """When a vector instruction begins to execute."""
    executed: float


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


def available(wave, op, register, rates, end, executing=False):
    """From which clock on a register's value may be used, by the instruction's issue or only by its execution."""
    for issued in reversed(wave.history):
        before = issued.op
        if register not in before.writes:
            continue
        if before.slot == "VALU" and register[0] == "s" and not executing:
            return issued.clock + rates["carry latency" if op.slot == "VALU" else "valu completion"].ends[end]
        if before.slot == "VALU" and register[0] == "s":
            return 0
        if before.matrix:
            return issued.executed + (0 if register in op.chained else rates["matrix latency"].ends[end])
        if before.slot == "VALU":
            return issued.start + rates["transcendental latency" if before.trans else "valu latency"].ends[end]
        if before.slot == "scalar" and not before.scalar_load:
            return issued.clock + rates["salu latency"].ends[end]
        # A load: its registers are guarded by counters; what was there before it no longer matters less.
    return 0


def behind(wave, op, rates, end):
    """From which clock on the pipelines of earlier instructions let one issue, whatever the registers."""
    history = wave.history
    vectors = [issued for issued in history if issued.op.slot == "VALU"]
    scalars = [issued for issued in history if issued.op.slot == "scalar" and not issued.op.scalar_load]
    found = [0]
    if vectors and (op.slot in ("LDS", "memory") or op.settles == "vector"):
        found.append(vectors[-1].start + rates["valu completion"].ends[end])
    if scalars and (op.scalar_load or op.on_scc or op.settles == "scalar"):
        found.append(scalars[-1].clock + rates["salu completion"].ends[end])
    if op.slot == "scalar" and not op.scalar_load:
        readers = [issued for issued in vectors if any(kind == "s" for kind, _ in issued.op.reads)]
        for register in op.writes:
            written = [issued.clock for issued in scalars if register in issued.op.writes]
            if any(register in issued.op.reads and issued.clock > max(written, default=-1) for issued in readers):
                found.append(readers[-1].clock + rates["scalar overwrite"].ends[end])
    if op.ends:
        found += [issued.clock + rates["wave end"].ends[end] for issued in history if issued.op.stores]
        release = rates["queue release"].ends[end] if rates["vector queue"].ends[2 - end] > 1 else 0
        found += [issued.executed + (release if issued.op.matrix else 0) for issued in vectors]
    own = [issued for issued in history if not issued.op.free]
    if op.slot == "internal" and not op.free and own and own[-1].op.slot != "internal":
        found.append(own[-1].clock + rates["internal"].ends[end])
    return max(found)


def simulate(trace, end):
    """Clocks in which each instruction of each wave issues; `end` is 0 (low), 1 or 2 (high)."""
    rates = trace.arch.rates
    period = rates["issue"].value
    waves = [Wave(number, each) for number, each in enumerate(trace.waves)]
    operations = trace.operations
    opened = {}  # workgroup -> clocks in which its barriers opened
    lds, ports, fill, memory, l2, lines, asked, stored = {}, {}, {}, {}, {}, {}, {}, {}
    most = max(1, rates.l1_bytes // rates.line_bytes)
    valu, matrix, trans = [0.0] * 4, [0.0] * 4, [0.0] * 4
    places = rates["vector queue"].ends[2 - end]
    queues = [[] for _ in range(4)]  # of each SIMD: when its vector instructions leave, and when they are executed

    def priority(wave):
        given = [issued.op.priority for issued in wave.history if issued.op.priority is not None]
        return given[-1] if given else 0

    def stands(wave, clock):
        """Whether something of the wave itself keeps it from issuing."""
        op = operations[wave.trace.operations[wave.place]]
        if wave.history:
            last = wave.history[-1]
            after = last.clock if last.op.free else last.accepted + period + last.op.idle
            if last.op.flow and not last.op.ends:
                taken = op.pc != last.op.next_pc
                after = max(
                    after,
                    last.clock + (period + rates["branch"].ends[end] if taken else rates["fall through"].ends[end]),
                )
            if clock < after or clock < behind(wave, op, rates, end):
                return True
            if last.op.awaits:
                doors = opened.get(wave.trace.workgroup, [])
                if len(doors) < wave.barriers or clock < doors[wave.barriers - 1]:
                    return True
        if any(outstanding(wave, counter, clock) > value for counter, value in op.waits):
            return True
        if any(outstanding(wave, row.counter, clock) >= row.limit for row in op.raises):
            return True
        place, history = wave.place, wave.history
        told = any(
            place == before + 1 + skipped for before, issued in enumerate(history) for skipped in issued.op.delays
        )
        if places > 1 and op.slot == "VALU" and not told:
            return False
        return any(clock < available(wave, op, register, rates, end) for register in op.reads)

    def send(wave, op, simd, clock):
        """When a vector instruction is accepted, starts to execute and is executed."""
        needs = dict(op.needs)
        cycles = max(needs.get("matrix", 0), needs.get("VALU", 0), needs.get("transcendental", 0))
        if places == 1:
            return clock, clock, clock + cycles
        queue, accepted = queues[simd], clock
        while sum(leaves > accepted for leaves, _ in queue) >= places:
            accepted += 1
        start = max([accepted, *(executed for _, executed in queue)])
        start = max([start, *(available(wave, op, register, rates, end, True) for register in op.reads)])
        executed = start + (op.matrix or needs["VALU"])
        leaves = executed + (rates["queue release"].ends[end] if op.matrix else 0)
        queue.append((max([leaves, *(before for before, _ in queue)]), executed))
        return accepted, start, max(executed, start + cycles)

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
            if access and access.write:
                taken = max(access.bytes, 64 * len(access.lines)) / 128 * rates["l2 stores"].ends[end]
                stored[group] = max(stored.get(group, 0), start) + taken
                return max(memory[group], stored[group]) + rates["l2 latency"].ends[end]
            done = memory[group] + rates["l1 latency"].ends[end]
            held = lines.setdefault(group, [])
            missed = 0
            owner = wave.trace.workgroup if end else 0
            for line in access.lines if access else ():
                if (owner, line) in held:
                    held.remove((owner, line))
                else:
                    missed += 1
                held.append((owner, line))
                del held[:-most]
            if missed:
                l2[group] = (
                    max(l2.get(group, 0), start) + missed * rates.line_bytes / 128 * rates["l2 sustained"].ends[end]
                )
                fresh = [line for line in access.lines if line not in asked.setdefault(group, [])]
                asked[group] += fresh
                done = max(done, l2[group] + rates["miss latency" if fresh else "l2 latency"].ends[end])
            if access and access.fill:
                done = fill[group] = max(fill.get(group, 0), done) + access.fill
            return done
        return clock + rates["scalar load"].ends[end]

    def doors_of(wave, clock):
        """Barriers open when every running wave of a workgroup has signalled."""
        running = [w for w in waves if w.trace.workgroup == wave.trace.workgroup and not w.over]
        doors = opened.setdefault(wave.trace.workgroup, [])
        if running and all(w.barriers > len(doors) for w in running):
            doors.append(clock + rates["barrier"].ends[end])

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
                while op.free and not stands(wave, clock):
                    wave.history.append(Issued(op, clock, clock, clock, clock, clock))
                    if wave.over:
                        break
                    op = operations[wave.trace.operations[wave.place]]
                if wave.over or stands(wave, clock):
                    doors_of(wave, clock)
                    continue
                needs = dict(op.needs)
                if op.slot != "internal":
                    if op.slot in taken:
                        continue
                    if op.slot == "VALU":
                        core = matrix[simd] if op.matrix and places == 1 else 0
                        free = max(valu[simd], core, trans[simd] if op.trans else 0)
                        if free > clock:
                            continue
                        accepted, start, executed = send(wave, op, simd, clock)
                        if op.matrix and places == 1:
                            matrix[simd] = clock + op.matrix
                            valu[simd] = clock + (op.matrix if rates.matrix_on_valu else op.shadow or period)
                        else:
                            valu[simd] = max(accepted, clock + (period if op.matrix else needs["VALU"]))
                            trans[simd] = clock + needs["transcendental"] if op.trans else trans[simd]
                    taken.add(op.slot)
                if op.slot != "VALU":
                    accepted = start = executed = clock
                done = serve(wave, op, simd, clock) if op.raises else clock
                wave.history.append(Issued(op, clock, done, accepted, start, executed))
                if op.signals:
                    wave.barriers += 1
                doors_of(wave, clock)
        clock += 1
        assert clock < 1e6
    return [[issued.clock for issued in wave.history] for wave in waves]
