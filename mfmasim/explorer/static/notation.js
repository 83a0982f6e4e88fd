/** Layouts as other libraries write them, as mfmasim.lds.layout_offsets reads them: CuTe's shape:stride, and linear ones. */

const EXAMPLES = "'(16,4):(64,8)', 'Swizzle<3,3,3> o (16,4):(64,8)' or 'linear 64 128 256 512 8 16'";
const LARGEST = 2 ** 31;

/** Places of the elements 0 to count - 1, in elements. */
export function layoutOffsets(text, count) {
  const bad = () => new Error(`layout '${text}': expected a layout such as ${EXAMPLES}`);
  const few = (size) => new Error(`layout '${text}' has ${size} elements, ${count} are needed`);
  const numbers = Array.from({ length: count }, (_, number) => number);
  const plain = text.replace(/\s+/g, "");
  if (plain.startsWith("linear")) {
    const words = text.replaceAll(",", " ").trim().split(/\s+/).slice(1);
    if (!words.every((word) => /^\d+$/.test(word) && Number(word) < LARGEST)) throw bad();
    if (2 ** words.length < count) throw few(2 ** words.length);
    return numbers.map((number) => words.reduce((place, word, bit) => place ^ (number >> bit & 1 ? Number(word) : 0), 0));
  }
  const swizzle = plain.match(/^(?:Swizzle|Sw)<(\d+),(\d+),(-?\d+)>(?:o|∘)/);
  const [shape, stride, more] = plain.slice(swizzle?.[0].length ?? 0).split(":");
  if (stride === undefined || more !== undefined) throw bad();
  const pairs = paired(modes(shape, bad), modes(stride, bad), text);
  const size = pairs.reduce((product, [extent]) => product * extent, 1);
  if (size < count) throw few(size);
  const places = numbers.map((number) => {
    let [rest, place] = [number, 0];
    for (const [extent, step] of pairs) {
      place += (rest % extent) * step;
      rest = Math.floor(rest / extent);
    }
    return place;
  });
  const largest = Math.max(...places);
  if (largest >= LARGEST) throw new Error(`layout '${text}': a place is ${largest}, below ${LARGEST} is allowed`);
  if (!swizzle) return places;
  const [bits, base, shift] = swizzle.slice(1).map(Number);
  if (bits + base + Math.abs(shift) > 31) throw new Error(`Swizzle<${bits},${base},${shift}> moves bits above 31`);
  const mask = (2 ** bits - 1) * 2 ** (base + Math.max(shift, 0));
  return places.map((place) => place ^ (shift >= 0 ? (place & mask) >> shift : (place & mask) << -shift));
}

/** The number or nested list that a text is. */
function modes(text, bad) {
  const words = text.match(/\d+|[(),]/g) ?? [];
  if (words.join("") !== text || !words.length) throw bad();
  let next = 0;
  const mode = (depth) => {
    const word = words[next++] ?? "";
    if (/^\d/.test(word) && Number(word) < LARGEST) return Number(word);
    if (word !== "(" || depth > 8) throw bad();
    const parts = [mode(depth + 1)];
    while (words[next] === ",") {
      next++;
      parts.push(mode(depth + 1));
    }
    if (words[next++] !== ")") throw bad();
    return parts;
  };
  const found = mode(0);
  if (next !== words.length) throw bad();
  return found;
}

/** Extent and stride of each mode, leftmost first. */
function paired(shape, stride, text) {
  if (typeof shape === "number" && typeof stride === "number") {
    if (!shape) throw new Error(`layout '${text}': an extent is 0`);
    return [[shape, stride]];
  }
  if (!Array.isArray(shape) || !Array.isArray(stride) || shape.length !== stride.length) throw new Error(`layout '${text}': shape and stride have different modes`);
  return shape.flatMap((one, n) => paired(one, stride[n], text));
}
