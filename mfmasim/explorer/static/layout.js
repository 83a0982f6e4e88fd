/** Lane layouts: lane and item of an element as digits of its coordinates (docs/layouts.md). */

const DIGIT = /^([a-z])(?:\/(\d+))?%(\d+)$/;

function digits(text) {
  return text
    .trim()
    .split(", ")
    .filter((word) => word !== "0")
    .map((word) => {
      const [, letter, divisor, radix] = DIGIT.exec(word);
      return { letter, divisor: Number(divisor ?? 1), radix: Number(radix), text: word };
    });
}

/** A layout from its text, such as "lane = i%32, k/8%2 ; item = k%8". */
export function parseLayout(text, width, stride) {
  const [lane, item] = text.split(" ; ").map((part) => digits(part.slice(part.indexOf("=") + 1)));
  return { lane, item, width, stride, offset: 0, firstLane: 0 };
}

/** The value of a digit at coordinates, by letter. */
export function digitValue(digit, at) {
  return Math.floor(at[digit.letter] / digit.divisor) % digit.radix;
}

/** The number that digits make, the least significant first. */
export function digitsValue(list, at) {
  let value = 0;
  let weight = 1;
  for (const digit of list) {
    value += digitValue(digit, at) * weight;
    weight *= digit.radix;
  }
  return value;
}

/** Product of the radices: how many values the digits take. */
export function size(list) {
  return list.reduce((product, digit) => product * digit.radix, 1);
}

/** The layout with a coordinate renumbered, so that each lane holds a run of consecutive numbers. */
export function contiguousLayout(layout, letter) {
  let weight = 1;
  const renamed = new Map();
  for (const digit of [...layout.item, ...layout.lane]) {
    if (digit.letter === letter) {
      const divisor = weight;
      const text = `${letter}${divisor > 1 ? `/${divisor}` : ""}%${digit.radix}`;
      renamed.set(digit, { letter, divisor, radix: digit.radix, text });
      weight *= digit.radix;
    }
  }
  const apply = (list) => list.map((digit) => renamed.get(digit) ?? digit);
  return { ...layout, lane: apply(layout.lane), item: apply(layout.item) };
}

/** New number of each old one of a coordinate under `contiguousLayout`: what it puts at the same place. */
export function renumbering(layout, letter, count) {
  const places = (given) => {
    const at = Object.fromEntries([...given.lane, ...given.item].map((digit) => [digit.letter, 0]));
    return Array.from({ length: count }, (_, number) => {
      at[letter] = number;
      return `${digitsValue(given.lane, at)} ${digitsValue(given.item, at)}`;
    });
  };
  const found = new Map(places(contiguousLayout(layout, letter)).map((place, number) => [place, number]));
  return places(layout).map((place) => found.get(place));
}
