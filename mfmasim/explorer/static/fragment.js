/** One operand of a matrix instruction: which lane and register bits hold which element. */

import { digitsValue, size } from "./layout.js";
import { within } from "./errors.js";

/** An operand spread over the registers of a wave. */
export class Fragment {
  /**
   * @param {object} given - name, format, rows, cols, blocks, axes, layout, lanes, vgprs, source, and `origin`: under
   *     broadcast modifiers the element whose place each element is read from, else null.
   */
  constructor(given) {
    Object.assign(this, given);
    this.width = this.layout.width;
    this.replicas = size(this.layout.lane.filter((digit) => digit.letter === "r"));
    this.count = this.blocks * this.rows * this.cols;
  }

  /** The same fragment with other fields. */
  changed(fields) {
    return new Fragment({ ...this, held: null, startsAt: null, ...fields });
  }

  /** Coordinates of an element, by letter. */
  coordinates(row, col, block, replica = 0) {
    return { [this.axes[0]]: row, [this.axes[1]]: col, b: block, r: replica };
  }

  /** Number of an element in the order block, row, column. */
  number(row, col, block) {
    return (block * this.rows + row) * this.cols + col;
  }

  /** Row, column and block of an element's number. */
  coordinatesOf(number) {
    const cells = this.rows * this.cols;
    const rest = number % cells;
    return { row: Math.floor(rest / this.cols), col: rest % this.cols, block: Math.floor(number / cells) };
  }

  /** Lanes and first bits of all elements, `replicas` each; computed once. */
  get places() {
    if (this.held) return this.held;
    const { replicas, count } = this;
    const lane = new Int32Array(count * replicas);
    const bit = new Int32Array(count * replicas);
    const { layout } = this;
    for (let number = 0; number < count; number++) {
      const source = this.origin ? this.origin[number] : number;
      const { row, col, block } = this.coordinatesOf(source);
      for (let replica = 0; replica < replicas; replica++) {
        const at = this.coordinates(row, col, block, replica);
        lane[number * replicas + replica] = digitsValue(layout.lane, at) + layout.firstLane;
        bit[number * replicas + replica] = digitsValue(layout.item, at) * layout.stride + layout.offset;
      }
    }
    this.held = { lane, bit };
    return this.held;
  }

  /** Numbers of the elements that start at a place, by `lane * span + bit`; computed once. */
  get starts() {
    if (this.startsAt) return this.startsAt;
    const { lane, bit } = this.places;
    this.span = this.vgprs * 32;
    const found = new Map();
    for (let n = 0; n < lane.length; n++) {
      const key = lane[n] * this.span + bit[n];
      const number = Math.floor(n / this.replicas);
      if (found.has(key)) found.get(key).push(number);
      else found.set(key, [number]);
    }
    this.startsAt = found;
    return found;
  }

  /** All places of an element: lane, register, lowest bit and width. */
  locate(row, col, block = 0) {
    within(`row of ${this.name}`, row, this.rows);
    within(`column of ${this.name}`, col, this.cols);
    within(`block of ${this.name}`, block, this.blocks);
    const first = this.number(row, col, block) * this.replicas;
    const { lane, bit } = this.places;
    return Array.from({ length: this.replicas }, (_, replica) => ({
      lane: lane[first + replica],
      vgpr: bit[first + replica] >> 5,
      bit: bit[first + replica] & 31,
      width: this.width,
    }));
  }

  /** Numbers of the elements that a place holds; several only under broadcast modifiers. */
  numbersAt(lane, vgpr, bit = 0) {
    within(`lane of ${this.name}`, lane, this.lanes);
    within(`register of ${this.name}`, vgpr, this.vgprs);
    within("bit", bit, 32);
    const { starts } = this;
    const first = vgpr * 32 + bit;
    for (let at = first; at > first - this.width && at >= 0; at--) {
      const numbers = starts.get(lane * this.span + at);
      if (numbers) return numbers;
    }
    return [];
  }

  /** The elements that a lane holds, as numbers. */
  ofLane(lane) {
    const found = new Set();
    const { lane: lanes } = this.places;
    for (let n = 0; n < lanes.length; n++) if (lanes[n] === lane) found.add(Math.floor(n / this.replicas));
    return found;
  }
}
