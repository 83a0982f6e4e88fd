/** LDS banks: phases of an instruction, conflicts of an access, and changes of the addresses that remove them. */

import { own, unknown } from "./errors.js";

/** An LDS instruction of an architecture with its phase table. */
export function findAccess(data, arch, name) {
  const target = own(data.archs, arch);
  if (!target) throw unknown("architecture", arch, Object.keys(data.archs));
  const row = target.lds.instructions.find(([found]) => found === name);
  if (!row) throw unknown(`LDS instruction of ${arch}`, name, target.lds.instructions.map(([found]) => found));
  const [, access, bytes, parts, stride, alignment] = row;
  const [lanes, banks, confidence, source, remark, alternatives, wave] = target.lds.tables[access];
  return {
    arch, name, access, bytes, parts, stride, alignment, lanes, banks, confidence, wave,
    source: data.texts[source],
    remark: data.texts[remark],
    alternatives: alternatives.map(([others, count, how, from]) => ({ lanes: others, banks: count, confidence: how, source: data.texts[from] })),
    limit: target.lds_bytes,
    waves: target.waves,
  };
}

/** Lanes of each phase of a wave. */
export function laneSets(data, lanes, wave) {
  if (Array.isArray(lanes)) return lanes;
  const pattern = data.lane_sets[lanes];
  const period = pattern.reduce((sum, part) => sum + part.length, 0);
  if (period >= wave) return pattern.map((part) => part.filter((lane) => lane < wave)).filter((part) => part.length);
  const found = [];
  for (let first = 0; first < wave; first += period) for (const part of pattern) found.push(part.map((lane) => lane + first));
  return found;
}

/**
 * Phases of one wave access with the dwords in each bank.
 * @param {object} options - `active`: booleans by lane; `offset`: the offset field, or both of a two-address form.
 * @returns {Array} phases: part, lanes, banks (Map of bank to Map of dword to lanes) and degree.
 */
export function phases(data, access, addresses, options = {}) {
  const wave = addresses.length;
  if (!access.waves.includes(wave)) throw new Error(`${wave} addresses: a wave of ${access.arch} has ${access.waves.join(" or ")} lanes`);
  const offsets = access.parts === 2 ? (options.offset ?? [0, 1]) : [options.offset ?? 0];
  const found = [];
  for (let part = 0; part < access.parts; part++) {
    for (const lanes of laneSets(data, access.lanes, wave)) {
      const banks = new Map();
      for (const lane of lanes) {
        if (options.active && !options.active[lane]) continue;
        const first = addresses[lane] + offsets[part] * access.stride;
        if (!Number.isInteger(first) || first < 0 || first + access.bytes > access.limit) {
          throw new Error(`lane ${lane} accesses bytes ${first}..${first + access.bytes - 1}, outside the ${access.limit} bytes of LDS on ${access.arch}`);
        }
        for (let dword = Math.floor(first / 4); dword <= Math.floor((first + access.bytes - 1) / 4); dword++) {
          const bank = dword % access.banks;
          if (!banks.has(bank)) banks.set(bank, new Map());
          const held = banks.get(bank);
          if (!held.has(dword)) held.set(dword, []);
          held.get(dword).push(lane);
        }
      }
      const degree = Math.max(0, ...[...banks.values()].map((dwords) => dwords.size));
      found.push({ part, lanes, banks, degree });
    }
  }
  return found;
}

/** Passes beyond the first, over all phases. */
export function extraPasses(found) {
  return found.reduce((sum, phase) => sum + Math.max(0, phase.degree - 1), 0);
}

/** A change of addresses: an exclusive-or ((offset >> shift) & mask) << left, or `pad` bytes after every `row` bytes. */
export function applyChange(change, address) {
  if (!change) return address;
  if (change.pad) return address + Math.floor(address / change.row) * change.pad;
  return change.terms.reduce((value, [shift, mask, left]) => value ^ (((address >>> shift) & mask) << left), address);
}

/** The change in bytes, in elements of so many bytes, and as a line of C++. */
export function describeChange(change, bytes) {
  if (change.pad) {
    const padded = `${change.pad} bytes after every ${change.row}`;
    const whole = change.pad % bytes === 0 && change.row % bytes === 0;
    return {
      bytes: `offset + offset / ${change.row} * ${change.pad} (${padded})`,
      elements: whole ? `index + index / ${change.row / bytes} * ${change.pad / bytes}` : `not a whole number of elements of ${bytes} bytes`,
      code: `offset += offset / ${change.row}u * ${change.pad}u;`,
    };
  }
  const term = ([shift, mask, left], scale, name) => {
    const [from, to] = [shift - scale, left - scale];
    const move = from - to;
    const moved = move > 0 ? `(${name} >> ${move})` : move < 0 ? `(${name} << ${-move})` : name;
    return `(${moved} & 0x${(mask * 2 ** to).toString(16)})`;
  };
  const text = (scale, name) => change.terms.map((found) => term(found, scale, name)).join(" ^ ");
  const scale = Math.log2(bytes);
  const fits = change.terms.every(([, , left]) => left >= scale);
  return {
    bytes: `offset ^ ${text(0, "offset")}`,
    elements: fits ? `index ^ ${text(scale, "index")}` : `it moves bits inside an element of ${bytes} bytes`,
    code: `offset ^= ${text(0, "offset")};`,
  };
}

/** The changes of one exclusive-or term or one padding, the simplest first, that keep an access whole. */
function* candidates(bytes, span) {
  const unit = bytes === 12 ? 16 : bytes;
  const lowest = Math.max(2, Math.ceil(Math.log2(unit)));
  for (let bits = 1; bits <= 5; bits++) {
    for (let left = lowest; left + bits <= 8; left++) {
      for (let shift = left + bits; shift < 13 && 1 << shift < span; shift++) yield { terms: [[shift, (1 << bits) - 1, left]] };
    }
  }
  for (const pad of [4, 8, 16, 32, 64]) {
    if (pad % unit) continue;
    for (const row of [32, 64, 128, 256, 512, 1024, 2048]) if (row >= unit && row < span) yield { pad, row };
  }
}

/**
 * The simplest change of all accesses that leaves the fewest extra passes; null where none helps.
 * @param {Array} accesses - addresses by lane, one list for each wave access.
 */
export function advise(data, access, accesses, options = {}) {
  const every = accesses.flat();
  if (every.some((address) => address % (access.bytes === 12 ? 16 : access.bytes))) return null;
  const base = Math.min(...every);
  const span = Math.max(...every) + access.bytes - base;
  const count = (change) => accesses.reduce((sum, given) => {
    const moved = given.map((address) => applyChange(change, address));
    return sum + extraPasses(phases(data, { ...access, limit: 2 ** 30 }, moved, options));
  }, 0);
  const before = count(null);
  let best = null;
  let least = before;
  for (const change of before ? candidates(access.bytes, span) : []) {
    const after = count(change);
    if (after < least) [best, least] = [change, after];
    if (!least) break;
  }
  return best && 2 * least <= before ? { change: best, before, after: least } : null;
}

/** LDS addresses of a wave that reads an operand from a tile with k (of C and D: j) along its rows. */
export function operandAddresses(access, fragment, pitch) {
  if (fragment.blocks !== 1) throw new Error(`${fragment.name} has ${fragment.blocks} blocks: give an address expression`);
  const down = "ks".includes(fragment.axes[0]);
  const { lane } = fragment.places;
  const held = Array.from({ length: fragment.lanes }, () => new Map());
  for (let n = 0; n < lane.length; n++) {
    const { row, col } = fragment.coordinatesOf(Math.floor(n / fragment.replicas));
    const [major, minor] = down ? [col, row] : [row, col];
    const block = Math.floor((minor * fragment.width) / (8 * access.bytes));
    const key = major * pitch + block * access.bytes;
    held[lane[n]].set(key, (held[lane[n]].get(key) ?? 0) + fragment.width);
  }
  const widths = new Set(held.flatMap((blocks) => [...blocks.values()]));
  widths.delete(8 * access.bytes);
  if (widths.size) {
    throw new Error(`lanes hold ${Math.min(...widths)} neighbouring bits of ${fragment.name}, ${access.name} moves ${8 * access.bytes}: take an access that fits`);
  }
  const most = Math.max(...held.map((blocks) => blocks.size));
  return Array.from({ length: most }, (_, number) => ({
    addresses: held.map((blocks) => [...blocks.keys()].sort((a, b) => a - b)[number] ?? 0),
    active: held.map((blocks) => number < blocks.size),
  }));
}
