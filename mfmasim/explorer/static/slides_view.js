/** Slides: a text beside a view of the page, with keys of their own. */

import { element } from "./dom.js";
import { change, fallBackOn, value, view } from "./state.js";

/** Draw a slide; `views` draws a view by its name. What is changed in it stays until the next slide. */
export function drawSlides(data, root, views) {
  const count = data.slides.length;
  const number = Math.min(count, Math.max(1, Math.round(Number(value("slide", "1"))) || 1));
  const slide = data.slides[number - 1];
  const go = (to) => change({ slide: Math.min(count, Math.max(1, to)) }, { fresh: true });
  document.onkeydown = (event) => {
    if (view() !== "slides" || event.ctrlKey || event.altKey || event.metaKey) return;
    const on = event.target;
    const to = { PageDown: number + 1, PageUp: number - 1, n: number + 1, p: number - 1, Home: 1, End: count, ArrowRight: number + 1, ArrowLeft: number - 1, " ": number + 1 }[event.key];
    // Fields and figures keep the keys that they use themselves.
    if (!to || on.matches("input, select") || (on.matches("canvas, button, a, summary, [tabindex]") && !/^(Page|[np]$)/.test(event.key))) return;
    event.preventDefault();
    go(to);
  };
  const button = (text, name, to) => element("button", { type: "button", name, disabled: to < 1 || to > count, click: () => go(to) }, text);
  const figure = element("div", { class: "slide-figure" });
  root.append(element("section", { class: "slide" },
    element("div", { class: "slide-text" }, element("h2", {}, slide.title), element("ul", {}, slide.points.map((one) => element("li", {}, one))),
      element("p", { class: "pager" }, button("back", "back", number - 1), ` ${number} of ${count} `, button("next", "next", number + 1)),
      element("p", { class: "hint" }, "Keys: arrows, Page Up and Page Down, n and p, Home, End. ", element("a", { href: `#${slide.view}?${new URLSearchParams(slide.state)}` }, "open this view")))), figure);
  fallBackOn(slide.state);
  views(slide.view, figure);
}
