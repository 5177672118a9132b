// Which process groups have the name of one that was removed. Rules: spec/world.md [W68].
import assert from "node:assert/strict";
import { test } from "node:test";
import { ReusedNames } from "./reused-names.ts";

test("[W68] a process group that gets the number of a removed one is another one", () => {
  const names = new ReusedNames();
  const group = { processGroupID: "log-7", processClass: "log" };
  const leaving = { ...group, removalTimestamp: "2026-01-01T00:00:00Z" };
  assert.deepEqual(names.note("life", [group]), []);
  assert.deepEqual(names.note("life", [leaving]), []);
  assert.deepEqual(names.note("life", []), []);
  assert.deepEqual(names.note("life", [group]), ["life-log-7"]);
  assert.deepEqual(names.note("life", [group]), [], "told once");
});
