/** Errors of bad input: the value, what is allowed, the nearest match. */

/** Edit distance of two words. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

/** The error for a name that is not in a list. */
export function unknown(what, name, known) {
  const near = [...known].sort((a, b) => distance(String(name), a) - distance(String(name), b)).slice(0, 3);
  return new Error(`unknown ${what} '${name}'; nearest: ${near.join(", ")}`);
}

/** What a table has under a name of the user's; undefined for names that every object inherits, such as "constructor". */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A number from 0 to size - 1, or an error that says so. */
export function within(what, value, size) {
  if (!Number.isInteger(value) || value < 0 || value >= size) {
    throw new Error(`${what} ${value} is not within 0..${size - 1}`);
  }
  return value;
}
