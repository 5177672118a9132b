// Checklist: the end of a maintenance, and the list of process groups under maintenance.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { maintenanceFindings } from "../../src/plan/restart/maintenance-mode-checker.ts";
import { item, table } from "./checklist-case.ts";
import { actionsOf, Scene } from "./scene.ts";

const options: Partial<ClusterSpec> = {
  automationOptions: { maintenanceModeOptions: { UseMaintenanceModeChecker: true } },
};
const hour = 3_600;

/** Entries of the list by age in seconds, and the zone under maintenance. */
function scene(entries: Readonly<Record<string, number>>, zone = ""): Scene {
  const found = new Scene(options);
  found.database.maintenance_zone = zone;
  const now = Math.floor(found.nowMs / 1000);
  const list = new Map(Object.entries(entries).map(([id, age]) => [id, now - age]));
  found.rest = {
    knowledge: {
      verified: new Map(),
      maintenanceList: { entries: list, observedMs: found.nowMs - 500 },
    },
  };
  return found;
}
interface Outcome {
  removed: string[];
  isReset: boolean;
  isWaiting: boolean;
}
function outcome(found: Scene): Outcome {
  const result = found.decide("maintenanceModeChecker");
  return {
    removed: actionsOf(result, "updateMaintenanceList").flatMap((action) => [...action.remove]),
    isReset: actionsOf(result, "resetMaintenanceZone").length > 0,
    isWaiting: (result.waits ?? []).length > 0,
  };
}
const quiet: Outcome = { removed: [], isReset: false, isWaiting: false };
const sample = new Scene(options);
const [first = "", second = ""] = sample.ids("storage");
const zone = sample.group(first).faultDomain ?? "";
const restarted = (found: Scene, id: string): Scene => {
  for (const process of found.processes(id)) process.uptime_seconds = 10;
  return found;
};
const lost = (found: Scene, id: string): Scene => {
  found.loseProcesses(id);
  return found;
};

item("B40.1", () => assert.deepEqual(outcome(scene({})), quiet));
item("B40.2", () => assert.deepEqual(outcome(scene({ [first]: 60 })), quiet));
item("B40.3", () => {
  const found = scene({ [first]: 5 * hour });
  for (const process of found.processes(first)) process.uptime_seconds = 6 * hour;
  assert.deepEqual(outcome(found), { ...quiet, removed: [first] });
});

item("B41.1", () => assert.deepEqual(outcome(scene({}, zone)), { ...quiet, isReset: true }));
item("B41.2", () => {
  assert.deepEqual(outcome(scene({ [first]: 60 }, zone)), { ...quiet, isWaiting: true });
});
item("B41.3", () => {
  const found = lost(scene({ [first]: 60 }, zone), first);
  assert.deepEqual(outcome(found), { ...quiet, isWaiting: true });
});
item("B41.4", () => {
  const found = restarted(scene({ [first]: 60 }, zone), first);
  assert.deepEqual(outcome(found), { removed: [first], isReset: true, isWaiting: false });
});
item("B41.5", () => {
  const found = lost(restarted(scene({ [first]: 60, [second]: 60 }, zone), first), second);
  assert.deepEqual(outcome(found), { removed: [first], isReset: false, isWaiting: true });
});
const foreign = "foreign-zone";
item("B41.6", () => {
  assert.deepEqual(outcome(scene({ [first]: 60 }, foreign)), { ...quiet, isWaiting: true });
});
item("B41.7", () => {
  const found = lost(scene({ [first]: 60 }, foreign), first);
  assert.deepEqual(outcome(found), { ...quiet, isWaiting: true });
});
item("B41.8", () => {
  assert.deepEqual(outcome(scene({ [first]: 400 }, foreign)), { ...quiet, isReset: true });
});
item("B41.9", () => {
  const found = scene({ [first]: 5 * hour }, foreign);
  for (const process of found.processes(first)) process.uptime_seconds = 6 * hour;
  assert.deepEqual(outcome(found), { removed: [first], isReset: true, isWaiting: false });
});

/** Finished, stale and pending entries. */
function findings(found: Scene): string[][] {
  const snapshot = found.snapshot();
  const entries = snapshot.knowledge.maintenanceList?.entries ?? new Map<string, number>();
  const { finished, stale, pending } = maintenanceFindings(
    snapshot,
    found.draft(snapshot),
    found.status,
    entries,
  );
  return [[...finished], [...stale], [...pending]];
}
table(
  {
    "C09.3": [() => scene({}), [[], [], []]],
    "C09.4": [() => restarted(scene({ [first]: 60 }, zone), first), [[first], [], []]],
    "C09.5": [() => scene({ [first]: 60 }, zone), [[], [], [first]]],
    "C09.6": [() => lost(scene({ [first]: 60 }, zone), first), [[], [], [first]]],
    "C09.7": [() => scene({ [first]: 60 }, foreign), [[], [], [first]]],
    "C09.8": [() => scene({ [first]: 400 }, foreign), [[], [], []]],
    "C09.9": [() => lost(scene({ [first]: 5 * hour }, zone), first), [[], [first], []]],
  } satisfies Record<string, [() => Scene, string[][]]>,
  (make: () => Scene, expected: string[][]) => assert.deepEqual(findings(make()), expected),
);
