/** The stepper: a recorded run, instruction by instruction. */

import { element } from "./dom.js";

/** Draw the view. */
export function drawStepper(data, root) {
  root.append(element("p", {}, `${data.records.length} recorded runs`));
}
