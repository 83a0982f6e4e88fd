/** Recorded timelines: which wave issues what when, and why it waits. */

/** Clocks from their differences. */
function totals(steps) {
  let now = 0;
  return steps.map((step) => (now += step));
}

/**
 * A recorded timeline with its columns unpacked.
 * @returns {object} the record, with lanes {wave, simd, issued, lasts, op, reason, stood, cause} and cores by SIMD
 *     {start, lasts, wave}.
 */
export function unpackTimeline(run) {
  const lanes = run.lanes.map(([wave, simd, issued, lasts, numbers, reason, stood, causes]) => {
    const op = totals(numbers);
    return { wave, simd, issued: totals(issued), lasts, op, reason, stood, cause: causes.map((step, n) => op[n] + step) };
  });
  const cores = Object.fromEntries(Object.entries(run.cores).map(([simd, [start, lasts, wave]]) => [simd, { start: totals(start), lasts, wave }]));
  return { ...run, lanes, cores };
}

/** Number of the first entry of ascending numbers that is above a value. */
export function firstAbove(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a lane does at a clock: the number of the entry that issues or waits then, or null. */
export function entryAt(lane, clock) {
  const next = firstAbove(lane.issued, clock);
  if (next < lane.issued.length && lane.stood[next] && clock > lane.issued[next] - lane.stood[next]) return next;
  return next ? next - 1 : null;
}

/** Why an instruction issued later than it could, in a sentence; "" where it did not wait. */
export function whyItWaits(run, lane, n) {
  if (!lane.stood[n]) return "";
  const reason = run.reasons[lane.reason[n]];
  const until = lane.issued[n];
  const [cause] = run.operations[lane.cause[n]];
  const from = lane.op.lastIndexOf(lane.cause[n], n - 1);
  const of = from >= 0 ? `${cause}, issued at clock ${lane.issued[from]}` : cause;
  const why = {
    barrier: () => lastToArrive(run, lane, until),
    "matrix core": () => coreUser(run, lane, until),
    "issue slot": () => "another wave of its SIMD issues an instruction of the same kind",
    stores: () => "its stores are not complete",
    VALU: () => "the VALU of its SIMD is busy",
  }[reason] ?? (() => `${reason.endsWith("result") ? "it needs the result" : `${reason} counts operations in flight: it needs that`} of ${of}`);
  return `waits ${lane.stood[n]} clocks (${reason}): ${why()}`;
}

function lastToArrive(run, lane, until) {
  let last = null;
  for (const other of run.lanes) {
    for (let n = firstAbove(other.issued, until) - 1; n >= 0; n--) {
      if (!run.operations[other.op[n]][0].startsWith("s_barrier")) continue;
      if (other.issued[n] < until && (!last || other.issued[n] > last.clock)) last = { wave: other.wave, clock: other.issued[n] };
      if (other.issued[n] < until) break;
    }
  }
  if (!last) return "other waves have not reached it";
  return last.wave === lane.wave ? `it is the last to arrive, at clock ${last.clock}` : `wave ${last.wave} arrives last, at clock ${last.clock}`;
}

function coreUser(run, lane, until) {
  const core = run.cores[lane.simd];
  const n = core ? firstAbove(core.start, until - 1) - 1 : -1;
  return n < 0 ? "it is busy" : `that of SIMD ${lane.simd} executes an instruction of wave ${core.wave[n]} from clock ${core.start[n]} to ${core.start[n] + core.lasts[n]}`;
}
