// Which of those that may go do go now. Rules: spec/removal.md [R55], [R56].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PodDeletionMode } from "../../api/automation-options.ts";
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import { removalsNow } from "./removal-pace.ts";
import type { RemovalChoice } from "./removal-pace.ts";

const nowMs = Date.UTC(2026, 0, 1);

function group(id: string, faultDomain?: string, terminatingSeconds?: number): ProcessGroupStatus {
  return {
    processGroupID: id,
    processClass: "storage",
    ...(faultDomain === undefined ? {} : { faultDomain }),
    ...(terminatingSeconds === undefined
      ? {}
      : {
          processGroupConditions: [
            { type: "ResourcesTerminating", timestamp: nowMs / 1000 - terminatingSeconds },
          ],
        }),
  } as ProcessGroupStatus;
}

function choose(
  mode: PodDeletionMode,
  ready: readonly ProcessGroupStatus[],
  others: readonly ProcessGroupStatus[] = [],
): RemovalChoice {
  return removalsNow(ready, [...ready, ...others], { mode, pauseSeconds: 60, nowMs });
}

function chosen(choice: RemovalChoice): string[] {
  return choice.kind === "now" ? choice.chosen.map((each) => each.processGroupID) : [choice.kind];
}

const ready = [group("a", "zone-1"), group("b", "zone-2"), group("c", "zone-2"), group("d")];

test("[R55] a zone at a time, the one with most members first", () => {
  assert.deepEqual(chosen(choose("Zone", ready)), ["b", "c"]);
  assert.deepEqual(chosen(choose("Zone", [group("x", "zone-9"), group("y", "zone-3")])), ["y"]);
  assert.deepEqual(chosen(choose("Zone", [group("d")])), ["d"]);
});

test("[R55] one process group, all, or none", () => {
  assert.deepEqual(chosen(choose("ProcessGroup", ready)), ["a"]);
  assert.deepEqual(chosen(choose("All", ready)), ["a", "b", "c", "d"]);
  assert.deepEqual(chosen(choose("None", ready)), ["never"]);
  assert.deepEqual(chosen(choose("Zone", [])), []);
});

test("[R56] the pause counts from the newest removal, and not at all where all may go", () => {
  const recent = group("t", "zone-1", 20);
  const old = group("u", "zone-1", 300);
  assert.deepEqual(choose("Zone", ready, [old, recent]), { kind: "later", remainingMs: 40_000 });
  assert.deepEqual(choose("ProcessGroup", ready, [recent]), {
    kind: "later",
    remainingMs: 40_000,
  });
  assert.deepEqual(chosen(choose("Zone", ready, [old])), ["b", "c"]);
  assert.deepEqual(chosen(choose("All", ready, [recent])), ["a", "b", "c", "d"]);
});
