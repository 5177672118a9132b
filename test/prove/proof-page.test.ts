// The text of the page, whole.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { duration, placed, proofPage, summaryOf } from "./proof-page.ts";
import type { ProofResult, ProofRun, Verdict } from "./proof-page.ts";
import type { Proof } from "./proof.ts";

function proofOf(name: string, what: string): Proof {
  return { name, what, half: "real", needs: [], limitMinutes: 1, command: ["x.ts"], figure: /^#/ };
}

function resultOf(name: string, verdict: Verdict, figures: readonly string[] = []): ProofResult {
  return { proof: proofOf(name, `${name} works`), verdict, seconds: 75.4, figures };
}

const run: ProofRun = {
  ...{ day: "2026-01-02", operatorVersion: "1.2.3" },
  machine: {
    ...{ versions: ["7.1.57", "7.3.79"], missing: "", hasBackupTools: true, hasObjectStore: true },
    ...{ hasControlPlane: true, cores: 2, memoryGiB: 16 },
  },
  results: [resultOf("one", "proven", ["3 of 3", "no loss"]), resultOf("two", "FAILED")],
  skipped: [
    { proof: proofOf("three", "three works"), why: "nothing is there" },
    { proof: proofOf("five", "five works"), why: "no time is left" },
    { proof: proofOf("four", "four works"), why: "nothing is there" },
  ],
};

test("[PROVE4] the page says what ran, on what, with which figures, and what was skipped and why", () => {
  assert.equal(
    proofPage(run),
    `The run of 2026-01-02, version 1.2.3 of the operator, 2 cores, 16 GiB, FoundationDB 7.1.57, 7.3.79: 1 proven, 1 failed, 3 skipped.

| proof | what | outcome | time |
|---|---|---|---|
| \`one\` | one works | proven | 1 min 15 s |
| \`two\` | two works | FAILED | 1 min 15 s |

\`one\`:

- 3 of 3
- no loss

Skipped:

- \`three\` (three works), \`four\` (four works): nothing is there
- \`five\` (five works): no time is left`,
  );
});

test("[PROVE4] a run without a database says so, and has no empty parts", () => {
  const bare = { ...run, machine: { ...run.machine, versions: [] }, results: [], skipped: [] };
  assert.equal(
    proofPage(bare),
    "The run of 2026-01-02, version 1.2.3 of the operator, 2 cores, 16 GiB, no FoundationDB: 0 proven, 0 failed, 0 skipped.",
  );
});

test("[PROVE4] what took too long has failed, and what was interrupted is counted apart", () => {
  const results = [resultOf("a", "TOOK TOO LONG"), resultOf("b", "interrupted")];
  assert.equal(summaryOf({ results, skipped: [] }), "0 proven, 1 failed, 1 interrupted, 0 skipped");
});

test("[PROVE4] a file with a place for the page keeps the rest, any other becomes the page", () => {
  const file = "# Title\n\n<!-- begin of the page -->\nold\n<!-- end of the page -->\n\nrest\n";
  assert.equal(
    placed(file, "new"),
    "# Title\n\n<!-- begin of the page -->\n\nnew\n\n<!-- end of the page -->\n\nrest\n",
  );
  assert.equal(placed("something else", "new"), "# Proof\n\nnew\n");
  assert.equal(placed(undefined, "new"), "# Proof\n\nnew\n");
});

test("[PROVE4] times are told as people say them", () => {
  assert.deepEqual([0.4, 59.4, 60, 3_725].map(duration), [
    "0 s",
    "59 s",
    "1 min 0 s",
    "62 min 5 s",
  ]);
});
