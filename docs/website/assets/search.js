/* The search of the site: its index is fetched when a reader turns to the search, and words that say nothing about the subject
   of a question are left out, since every word has to be found. It runs before the theme's own script. */
(() => {
  const IDLE = new Set(
    (
      "a about all am an and any are as at be but by can could do does for from get give has have how i if in into is it its " +
      "me my of on or should that the their them then there these they this to use using want was we what when where which " +
      "who why will with without would you your"
    ).split(" ")
  );
  let turn;
  const turned = new Promise((resolve) => (turn = resolve));
  const search = (event) =>
    event.target.closest?.(".md-search, [data-md-component=search], [for=__search]") ||
    event.key === "/" || event.key === "f" || event.key === "s" || ((event.ctrlKey || event.metaKey) && event.key === "k");
  for (const kind of ["pointerover", "focusin", "click", "keydown"])
    addEventListener(kind, (event) => search(event) && turn(), { capture: true, passive: true });
  if (/[?&](h|q)=/.test(location.search)) turn();

  const { open, send: begin } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, address, ...more) {
    this.waits = /search\.json$/.test(String(address));
    return open.call(this, method, address, ...more);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (this.waits) turned.then(() => begin.apply(this, body));
    else begin.apply(this, body);
  };

  const plain = (text) => {
    const words = text.split(/\s+/).filter(Boolean);
    const telling = words.filter((word) => !IDLE.has(word.toLowerCase().replace(/[?.,!]+$/, "")));
    return (telling.length ? telling : words).map((word) => word.replace(/\?+$/, "")).join(" ");
  };
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    if (message?.type === 2 && typeof message.data?.input === "string")
      message = { ...message, data: { ...message.data, input: plain(message.data.input) } };
    return send.call(this, message, ...more);
  };
})();
