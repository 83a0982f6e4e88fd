import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { ADAPTER, INSTRUCTION, hover, show, verify } from "../src/commands";
import { findings } from "../src/sarif";

const LOG = {
  runs: [
    {
      results: [
        {
          ruleId: "mapping-wrong-element",
          level: "error",
          message: { text: "needs B[1, 0], holds B[0, 1]" },
          locations: [{ physicalLocation: { artifactLocation: { uri: "a%20b/tile.hip" }, region: { startLine: 16 } } }],
        },
        { ruleId: "conflicts-lds", level: "note", message: { text: "x" }, locations: [] },
        {
          ruleId: "races",
          level: "error",
          message: { text: "x" },
          suppressions: [{}],
          locations: [{ physicalLocation: { artifactLocation: { uri: "tile.hip" } } }],
        },
      ],
    },
  ],
};

test("findings have file, line and id; those without a place or suppressed are left out", () => {
  assert.deepEqual(findings(JSON.stringify(LOG)), [
    {
      file: "a b/tile.hip",
      line: 16,
      id: "mapping-wrong-element",
      message: "needs B[1, 0], holds B[0, 1]",
      level: "error",
    },
  ]);
  assert.deepEqual(findings("{}"), []);
});

test("matrix instructions and their builtins are recognised", () => {
  const line = "  acc = __builtin_amdgcn_mfma_f32_32x32x8f16(fa, fb, acc, 0, 0, 0);  // v_mfma_f32_32x32x8_f16 v[2:17]";
  assert.equal(INSTRUCTION.exec(line)?.[0], "__builtin_amdgcn_mfma_f32_32x32x8f16");
  assert.equal(INSTRUCTION.exec("v_wmma_f32_16x16x16_f16 v[0:7]")?.[0], "v_wmma_f32_16x16x16_f16");
  assert.equal(INSTRUCTION.exec("v_add_f32 v0, v1, v2"), null);
});

test("command lines", () => {
  assert.deepEqual(ADAPTER, ["debug", "--dap"]);
  assert.deepEqual(verify("a.py", "b.sarif"), ["verify", "a.py", "--quiet", "--sarif", "b.sarif"]);
  assert.match(hover("gfx950", "v_x", " | a |\n"), /^\*\*v_x\*\* on gfx950\n\n\| a \|\n\n`mfmasim show gfx950 v_x/);
});

test("the program prints an instruction in Markdown", { skip: !process.env.MFMASIM }, () => {
  const words = show("gfx950", "__builtin_amdgcn_mfma_f32_32x32x16_f16");
  const printed = execFileSync(process.env.MFMASIM as string, words, { encoding: "utf8" });
  assert.match(printed, /\|/);
  assert.match(printed, /32/);
});
