/** Why lanes of an access conflict, in a sentence. */

import { runs } from "./dom.js";

const greatest = (one, other) => (other ? greatest(other, one % other) : one);

/**
 * The reason for the phase with the most passes, or "" where no phase needs more than one.
 * @param {object} access - bytes, banks.
 * @param {Array} addresses - by lane.
 * @param {Array} found - phases, as `phases` gives them.
 */
export function whyConflicts(access, addresses, found) {
  const worst = found.reduce((one, other) => (other.degree > one.degree ? other : one));
  if (worst.degree < 2) return "";
  const round = 4 * access.banks;
  const [bank, dwords] = [...worst.banks].filter(([, held]) => held.size === worst.degree).sort(([a], [b]) => a - b)[0];
  const many = `phase ${found.indexOf(worst)} needs ${worst.degree} passes`;
  const steps = worst.lanes.slice(1).map((lane, n) => [lane - worst.lanes[n], addresses[lane] - addresses[worst.lanes[n]]]);
  const stride = steps.find(([lanes]) => lanes === 1)?.[1];
  const even = stride > 0 && stride % 4 === 0 && steps.every(([lanes, bytes]) => bytes === lanes * stride);
  const every = even ? round / greatest(round, stride) : 0;
  const meet = [...dwords.values()].flat();
  if (even && every <= worst.lanes.length / 2) {
    const wide = Math.max(1, access.bytes / 4);
    const banks = wide > 1 ? `the same ${wide} banks` : "the same bank";
    const which = every === 1 ? "every lane meets" : `every ${every === 2 ? "other" : ordinal(every)} lane meets`;
    return `Why: neighbouring lanes are ${stride} bytes apart. ${stride} bytes are ${stride / 4} banks of ${access.banks}, so ${which} ${banks}: lanes ${runs(meet)} of one phase access bank ${bank} at different dwords, and ${many}.`;
  }
  return `Why: dwords that are ${round} bytes (${access.banks} banks × 4) or a multiple of it apart are in one bank. Bank ${bank} has ${worst.degree} of them in one phase, of lanes ${runs(meet)}: bytes ${[...dwords.keys()].slice(0, 4).map((dword) => 4 * dword).join(", ")}${dwords.size > 4 ? ", …" : ""}; ${many}.`;
}

function ordinal(number) {
  const last = number % 100 > 10 && number % 100 < 14 ? 0 : number % 10;
  return `${number}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}
