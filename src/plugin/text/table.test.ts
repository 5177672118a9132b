// How tables give way where a terminal is narrow.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { shortened, tableLines } from "./table.ts";
import type { Column } from "./table.ts";

const columns: readonly Column[] = [
  { title: "NAME", widthMin: 8 },
  { title: "CPU", isRight: true },
  { title: "ZONE", spare: 1, widthMin: 6 },
  { title: "ROLES", spare: 2 },
];
const rows = [
  ["sample-storage-12345", "0.25", "zone-a", "storage"],
  ["log-1", "", "zone-with-a-long-name", "log, coordinator"],
];
const at = (width: number): string[] => tableLines(columns, rows, { width, hasColor: false });

test("[VW2] a wide terminal gets every column in full, a cell without text a dash", () => {
  assert.deepEqual(at(100), [
    "NAME                   CPU  ZONE                   ROLES",
    "sample-storage-12345  0.25  zone-a                 storage",
    "log-1                    -  zone-with-a-long-name  log, coordinator",
  ]);
});

test("[VW2] names give way first, in their middle, then the columns that matter least", () => {
  assert.deepEqual(at(48), [
    "NAME          CPU  ZONE         ROLES",
    "sampl…12345  0.25  zone-a       storage",
    "log-1           -  zone-…-name  log, coordinator",
  ]);
  assert.deepEqual(at(30), [
    "NAME          CPU  ZONE",
    "sampl…12345  0.25  zone-a",
    "log-1           -  zone-…-name",
  ]);
  assert.deepEqual(at(14), ["NAME       CPU", "samp…345  0.25", "log-1        -"]);
  // What stays is never cut beyond its least width, however narrow the terminal is.
  assert.deepEqual(at(3), at(14));
});

test("[VW3] colour stands around the text alone", () => {
  const painted = tableLines(
    [{ title: "A" }, { title: "B" }],
    [[{ text: "x", style: "red" }, "y"]],
    { width: 80, hasColor: true },
  );
  assert.deepEqual(painted, [
    "\u001b[1mA\u001b[22m  \u001b[1mB\u001b[22m",
    "\u001b[31mx\u001b[39m  y",
  ]);
});

test("[VW2] a name is shortened in its middle", () => {
  assert.equal(shortened("abcdef", 6), "abcdef");
  assert.equal(shortened("abcdef", 5), "ab…ef");
  assert.equal(shortened("abcdef", 2), "a…");
  assert.equal(shortened("abcdef", 1), "…");
  assert.equal(shortened("abcdef", 0), "");
});
