// Python in a worker: Pyodide, its packages, the wheels of the site, then the blocks of the page one after another.
let session = null;

async function load(runtime, here) {
  const index = new URL(runtime.index, here).href;
  const { loadPyodide } = await import(new URL("pyodide.mjs", index).href);
  const python = await loadPyodide({ indexURL: index, env: { COLUMNS: "100" } });
  const wheels = runtime.wheels.map((name) => new URL(name, here).href);
  await python.loadPackage([...runtime.packages, ...wheels], { messageCallback: () => {} });
  const source = await (await fetch(new URL("session.py", here))).text();
  python.runPython(source);
  return python.globals.get("answer");
}

self.onmessage = async ({ data }) => {
  try {
    session = session || load(data.runtime, data.here);
    const answer = await session;
    self.postMessage({ id: data.id, ...JSON.parse(answer(data.kind, data.text)) });
  } catch (error) {
    self.postMessage({ id: data.id, error: String(error.message || error) });
  }
};
