/** Colours that differ in lightness too, so that they can be told apart without hue, in both themes. */

const LIGHT = ["#9ecae9", "#f2cf5b", "#b5d99c", "#f1a7a0", "#cdb4db", "#7fc8b8", "#e0c3a0", "#c9cfd6"];
const DARK = ["#2f6d9a", "#8a6d0f", "#3f7a3a", "#9c4a43", "#6f5488", "#22786a", "#7a5c38", "#59626b"];

/** What the system prefers; asked for every cell, so that the query is made once. */
export const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the dark theme is shown. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemIsDark.matches;
}

/** Fill colour of a group's number. */
export function groupColour(number) {
  const palette = isDark() ? DARK : LIGHT;
  return palette[number % palette.length];
}

/** Colour of a number on a scale from 0 to size - 1, light to dark. */
export function scaleColour(number, size) {
  const part = size > 1 ? number / (size - 1) : 0;
  const lightness = isDark() ? 24 + 40 * part : 92 - 45 * part;
  return `hsl(${205 + 60 * part} 60% ${lightness}%)`;
}

/** Colours of text, lines and marks. */
export function inks() {
  return isDark()
    ? { text: "#e6e9ec", faint: "#8b949e", line: "#0d1117", mark: "#ffffff", related: "#ffd166", paper: "#0d1117" }
    : { text: "#16191d", faint: "#5b6570", line: "#ffffff", mark: "#000000", related: "#c1121f", paper: "#ffffff" };
}
