// Run buttons on doctests and commands. Without a runtime (window.mfmasimRuntime, written by the build), or where it
// cannot be loaded, the page stays as it is.
(() => {
  const runtime = window.mfmasimRuntime;
  const script = document.currentScript;
  if (!runtime || !script || location.protocol === "file:") return;
  const here = new URL(".", script.src);
  const blocks = [...document.querySelectorAll("div.run")];
  if (!blocks.length) return;

  let worker = null;
  let number = 0;
  const waiting = new Map();

  function start() {
    worker = new Worker(new URL("run-worker.mjs", here), { type: "module" });
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)(data);
      waiting.delete(data.id);
    };
    worker.onerror = (event) => {
      for (const [id, done] of waiting) done({ id, error: event.message || "the runtime cannot be loaded" });
      waiting.clear();
      worker = null;
    };
  }

  function ask(block) {
    if (!worker) start();
    const id = (number += 1);
    const kind = block.classList.contains("commands") ? "commands" : "doctest";
    const text = block.querySelector("code").textContent;
    return new Promise((done) => {
      waiting.set(id, done);
      worker.postMessage({ id, kind, text, runtime, here: here.href });
    });
  }

  // The doctests of a page are one session: those above a block run before it, once.
  async function run(block, button, output) {
    button.disabled = true;
    output.hidden = false;
    output.className = "run-output";
    output.textContent = block.closest("body").dataset.runtime ? "Running …" : "Loading Python, once for this page …";
    const before = block.classList.contains("commands") ? [] : blocks.slice(0, blocks.indexOf(block));
    for (const other of before) {
      if (!other.classList.contains("commands") && !other.dataset.ran) {
        await ask(other);
        other.dataset.ran = "yes";
      }
    }
    const answer = await ask(block);
    block.dataset.ran = "yes";
    document.body.dataset.runtime = "loaded";
    output.textContent = answer.error || answer.text || "(no output)";
    output.classList.add(answer.error ? "run-failed" : answer.same === false ? "run-differs" : "run-passed");
    button.disabled = false;
  }

  function decorate() {
    for (const block of blocks) {
      const button = document.createElement("button");
      const output = document.createElement("pre");
      button.className = "run-button";
      button.type = "button";
      button.textContent = "Run";
      output.className = "run-output";
      output.setAttribute("aria-live", "polite");
      output.hidden = true;
      button.addEventListener("click", () => run(block, button, output));
      block.after(button, output);
    }
  }

  fetch(new URL("pyodide.mjs", new URL(runtime.index, here)), { method: "HEAD" })
    .then((found) => found.ok && decorate())
    .catch(() => {});
})();
