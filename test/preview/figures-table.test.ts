// The table of how near previews are, and its place in the manual. Rule: spec/preview.md [PV10].
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RunRecord } from "../../src/preview/recorder.ts";
import { missesOf } from "./against-world.ts";
import type { Comparison } from "./against-world.ts";
import { figuresTable, withTable } from "./figures-table.ts";

const figures: Comparison["figures"] = [
  { what: "act: createPod log", stated: [1, 2], happened: 2 },
  { what: "recoveries", stated: [1, 1], happened: 3 },
  { what: "bytes moved", stated: [30e6, 50e6], happened: 60e6, share: 0.2, amount: 40e6 },
];

function comparison(stated: boolean, happened: boolean): Comparison {
  const record = (isDataMissing: boolean): RunRecord => ({ isDataMissing }) as RunRecord;
  const records = { stated: [record(stated), record(false)], happened: record(happened) };
  return { figures, ends: { stated: ["time"], happened: "rested" }, records };
}

test("[PV10] the table has how often and how far figures were off, and goes to its place in the manual", () => {
  const table = figuresTable([comparison(false, false)]);
  assert.match(table, /\n\| acts, by kind and class \| 1 \| 1 \| 0 \| 0 \| 1 \|\n/);
  assert.match(table, /\n\| recoveries \| 1 \| 0 \| 1 \| 2 \| 0 \|\n/);
  assert.match(table, /\n\| bytes moved \| 1 \| 0 \| 0 \| 10 MB \| 20 MB \|$/);
  const page = readFileSync(join(import.meta.dirname, "../../docs/preview.md"), "utf8");
  const written = withTable(page, table);
  assert.equal(withTable(written, table), written);
  assert.ok(written.includes(`-->\n\n${table}\n\n<!--`));
  assert.equal(written.split("| recoveries |").length, 2);
  assert.throws(() => withTable("# A page\n", table), /no place/);
});

test("[PV10] [PV12] of what comes after a loss that was stated no figure counts; one that was not stated is a miss", () => {
  assert.deepEqual(missesOf(comparison(true, true)), []);
  assert.doesNotMatch(figuresTable([comparison(true, true)]), /recoveries/);
  const ordinary = ["recoveries: stated 1, 1, happened 3", "end: stated time, happened rested"];
  assert.deepEqual(missesOf(comparison(true, false)), ordinary);
  assert.deepEqual(missesOf(comparison(false, true)), [
    ordinary[0],
    "loss: stated none, none, happened data is lost",
    ordinary[1],
  ]);
});
