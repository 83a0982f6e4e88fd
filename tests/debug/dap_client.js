// Drives the server with Microsoft's test client for debug adapters; prints a line of JSON for each stop.
const {DebugClient} = require("@vscode/debugadapter-testsupport");

const [port, source, token] = process.argv.slice(2);
const client = new DebugClient("", "", "mfmasim");
const print = found => console.log(JSON.stringify(found));

async function stop(move) {
  const [event] = await Promise.all([client.waitForEvent("stopped", 10000), move()]);
  const stack = await client.stackTraceRequest({threadId: event.body.threadId});
  const {line, source} = stack.body.stackFrames[0];
  print({reason: event.body.reason, line, name: source ? source.name : ""});
  return stack.body.stackFrames[0].id;
}

async function main() {
  await client.start(Number(port));
  const capabilities = await client.initializeRequest({adapterID: "mfmasim", linesStartAt1: true});
  print({back: capabilities.body.supportsStepBack, data: capabilities.body.supportsDataBreakpoints});
  await Promise.all([client.waitForEvent("initialized", 30000), client.launchRequest({target: ["gemm"], token})]);
  const set = await client.setBreakpointsRequest({source: {path: source}, breakpoints: [{line: 31}]});
  print({verified: set.body.breakpoints.map(one => one.verified)});
  await stop(() => client.configurationDoneRequest());
  const args = {threadId: 1};
  await stop(() => client.continueRequest(args));
  const frameId = await stop(() => client.stepInRequest(args));
  const scopes = await client.scopesRequest({frameId});
  print({scopes: scopes.body.scopes.map(one => one.name)});
  const value = await client.evaluateRequest({expression: "blockDim.x", frameId, context: "watch"});
  print({value: value.body.result});
  await stop(() => client.stepBackRequest(args));
  await stop(() => client.reverseContinueRequest(args));
  await client.disconnectRequest({});
  process.exit(0);
}

main().catch(error => { console.error(error.message || error); process.exit(1); });
