// Tests of facts: they keep their beginning, and a status brings them back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { storedFacts } from "../operate/stored-facts.ts";
import { datedFacts, lastsFor, observedSince } from "./facts.ts";
import type { ClusterFacts, Findings } from "./facts.ts";

const none: Findings<keyof ClusterFacts> = {
  connectionStringLost: false,
  databaseSilent: false,
  clientsIncompatible: false,
  waking: false,
  maintenanceMarked: false,
};
const nowMs = Date.UTC(2026, 0, 1);

const table: [string, ClusterFacts, Partial<typeof none>, ClusterFacts][] = [
  ["begins now", {}, { databaseSilent: true }, { databaseSilent: nowMs }],
  ["keeps its beginning", { databaseSilent: 5 }, { databaseSilent: true }, { databaseSilent: 5 }],
  ["ends", { databaseSilent: 5 }, {}, {}],
  ["stands untold", { databaseSilent: 5 }, { databaseSilent: "unknown" }, { databaseSilent: 5 }],
  ["does not begin untold", {}, { databaseSilent: "unknown" }, {}],
  [
    "counts from now when it began in the future of this clock",
    { clientsIncompatible: Infinity },
    { clientsIncompatible: true },
    { clientsIncompatible: nowMs },
  ],
];

for (const [title, before, findings, after] of table) {
  test(`[P107] a fact ${title}`, () => {
    assert.deepEqual(datedFacts(before, { ...none, ...findings }, nowMs), after);
  });
}

test("[P107] facts go through the status to the next operator", () => {
  const facts = { connectionStringLost: nowMs, clientsIncompatible: nowMs - 90_000 };
  assert.deepEqual(storedFacts(observedSince(facts).observedSince), facts);
  assert.deepEqual(observedSince({}), {});
  assert.deepEqual(storedFacts(undefined), {});
  assert.deepEqual(storedFacts({ databaseSilent: "soon" }), { databaseSilent: Infinity });
});

test("[P107] a fact lasts from the time on that is given", () => {
  assert.equal(lastsFor(undefined, 0, nowMs), false);
  assert.equal(lastsFor(nowMs - 999, 1000, nowMs), false);
  assert.equal(lastsFor(nowMs - 1000, 1000, nowMs), true);
});
