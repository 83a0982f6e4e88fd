/** Colours that differ in lightness, so that neighbours can be distinguished without hue, in both themes and in print. */

// Luminance of each fill plus 0.05: 0.66, 0.43, 0.275, 0.17, repeated (dark: 0.091, 0.142, 0.222, 0.35): neighbours have
// a contrast of at least 1.5 (WCAG 2).
const LIGHT = ["#a9d2f0", "#ce9f11", "#3f925b", "#8048a8", "#f2c3b3", "#38b4cd", "#c360a2", "#3d5cb7"];
const DARK = ["#103c5b", "#6b5209", "#378150", "#ae85cb", "#632612", "#1b5d6b", "#ba4894", "#7d93d4"];

// VALU, matrix, LDS, memory, scalar, scalar memory, branch and barrier, internal, and a second one of the matrix cores.
const PIPES_LIGHT = ["#2f7fc1", "#b88a00", "#3f925b", "#8048a8", "#c2552d", "#1d8fa5", "#c0458f", "#6b7580", "#c9a13f"];
const PIPES_DARK = ["#5aa9e6", "#d9a514", "#4cb36b", "#b48cd6", "#ee7d55", "#3fb8cf", "#f078c0", "#9aa4af", "#f3d98a"];

/** What the system prefers; asked for every cell, so that the query is made once. */
export const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is being printed: always in light colours. */
export const printing = matchMedia("print");

/** Whether the dark theme is shown. */
export function isDark() {
  if (printing.matches || document.documentElement.dataset.printing) return false;
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemIsDark.matches;
}

/** Fill colour of a group's number. */
export function groupColour(number) {
  const palette = isDark() ? DARK : LIGHT;
  return palette[number % palette.length];
}

/** Fill colour of a pipe in the time view, where bars stand on the paper: a contrast of at least 2.4 (dark: 6.9) with it. */
export function pipeColour(number) {
  return (isDark() ? PIPES_DARK : PIPES_LIGHT)[number];
}

/** Colour of a number on a scale from 0 to size - 1, light to dark. */
export function scaleColour(number, size) {
  const part = size > 1 ? number / (size - 1) : 0;
  return cssHex(205 + 60 * part, 0.6, isDark() ? 0.2 + 0.45 * part : 0.92 - 0.5 * part);
}

/** Hue, saturation and lightness as "#rrggbb". */
function cssHex(hue, saturation, lightness) {
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    const found = lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * found).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/** Black or white, whichever has the larger contrast on a fill "#rrggbb": 4.5 at least. */
export function inkOn(fill) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const level = parseInt(fill.slice(at, at + 2), 16) / 255;
    return level <= 0.03928 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** Colours of text, lines and marks. */
export function inks() {
  return isDark()
    ? { text: "#e6e9ec", faint: "#9aa4af", line: "#0d1117", mark: "#ffffff", related: "#ffd166", paper: "#0d1117" }
    : { text: "#16191d", faint: "#5b6570", line: "#ffffff", mark: "#000000", related: "#8f0010", paper: "#ffffff" };
}
