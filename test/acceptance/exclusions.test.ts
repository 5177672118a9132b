// Checklist: who goes when a class shrinks, and who is excluded.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import { exclusionBudget } from "../../src/plan/safety/exclusion-budget.ts";
import { item, table } from "./checklist-case.ts";
import { byIp, counts, excluded, isCoordinator, leaving } from "./leaving.ts";
import { actionsOf, markedBy, Scene } from "./scene.ts";

const shrunk = (scene: Scene): string[] => markedBy(scene.decide("chooseRemovals"), scene.groups);

item("B23.1", () => assert.deepEqual(shrunk(new Scene()), []));
item("B23.2", () => {
  const scene = new Scene().spec(counts(3));
  const [gone = "", ...others] = shrunk(scene);
  assert.ok(gone.startsWith("storage-"));
  assert.deepEqual(others, []);
});
item("B23.3", () => {
  const scene = new Scene().spec(counts(3));
  scene.mark(scene.ids("storage")[2] ?? "");
  assert.deepEqual(shrunk(scene), []);
});
item("B23.4", () => {
  const scene = new Scene();
  const [a = "", b = "", c = "", d = ""] = scene.ids("storage");
  for (const [id, zone] of [
    [a, "r1"],
    [b, "r2"],
    [c, "r3"],
    [d, "r3"],
  ] as const) {
    scene.group(id).faultDomain = zone;
    for (const process of scene.processes(id)) {
      process.locality = { ...process.locality, zoneid: zone };
      process.roles = [{ role: "storage" }];
    }
  }
  const [gone = ""] = shrunk(scene.spec(counts(3)));
  assert.ok([c, d].includes(gone), gone);
});
item("B23.5", () => {
  const gone = shrunk(new Scene().spec(counts(3, 3)));
  assert.deepEqual(
    gone.map((id) => id.split("-")[0]),
    ["log", "storage"],
  );
});

const nowMs = Date.UTC(2026, 0, 1);
const groupsOf = (count: number, missing = 0, ageSeconds = 60): ProcessGroupStatus[] =>
  Array.from({ length: count }, (_, index) => ({
    processGroupID: `storage-${index + 1}`,
    processClass: "storage",
    ...(index < missing
      ? {
          processGroupConditions: [
            { type: "MissingProcesses" as const, timestamp: nowMs / 1000 - ageSeconds },
          ],
        }
      : {}),
  }));
const budget = (
  groups: readonly ProcessGroupStatus[],
  desired: number,
  ongoing = 0,
  faultTolerance = 0,
): number => {
  const ids = groups.slice(-ongoing || groups.length).map((group) => group.processGroupID);
  const state = {
    groups,
    desired,
    faultTolerance,
    ongoing: new Set(ongoing === 0 ? [] : ids),
    nowMs,
  };
  return exclusionBudget(state).allowed;
};

/** Valid, wanted, ongoing, allowed. */
table(
  {
    "B30.1": [10, 10, 0, 0],
    "B30.2": [11, 10, 1, 0],
    "B30.3": [13, 10, 2, 1],
    "B30.4": [15, 10, 0, 5],
    "B30.5": [30, 15, 10, 5],
    "B30.6": [8, 10, 0, 0],
    "B30.7": [0, 10, 0, 0],
  },
  (valid: number, desired: number, ongoing: number, allowed: number) =>
    assert.equal(budget(groupsOf(valid), desired, ongoing), allowed),
);

const oldSeconds = 400;
/** Groups, wanted, ongoing, fault tolerance, allowed. */
table(
  {
    "B31.1": [groupsOf(4), 4, 0, 0, 0],
    "B31.2": [groupsOf(4), 4, 0, 1, 1],
    "B31.3": [groupsOf(4, 1, oldSeconds), 4, 0, 1, 0],
    "B31.4": [groupsOf(4), 4, 0, 2, 2],
    "B31.5": [groupsOf(4, 1, oldSeconds), 4, 0, 2, 1],
    "B31.6": [groupsOf(5), 4, 0, 0, 1],
    "B31.7": [groupsOf(5), 4, 1, 0, 0],
    "B31.8": [
      groupsOf(5).map((group, index) =>
        index === 4 ? { ...group, removalTimestamp: "2026-01-01T00:00:00Z" } : group,
      ),
      4,
      0,
      0,
      1,
    ],
    "B31.9": [
      groupsOf(5).map((group, index) =>
        index === 4
          ? {
              ...group,
              removalTimestamp: "2026-01-01T00:00:00Z",
              exclusionTimestamp: "2026-01-01T00:00:00Z",
            }
          : group,
      ),
      4,
      0,
      0,
      0,
    ],
    "B31.10": [groupsOf(5, 1, 60), 4, 0, 1, 0],
    "B31.11": [groupsOf(5, 1, oldSeconds), 4, 0, 1, 1],
    "B32.1": [groupsOf(22, 2, 60), 20, 0, 1, 0],
    "B32.2": [groupsOf(22, 5, oldSeconds), 20, 0, 1, 0],
    "B32.3": [groupsOf(26), 20, 0, 1, 7],
    "B32.4": [groupsOf(26, 2, oldSeconds), 20, 0, 1, 5],
    "B32.5": [groupsOf(22, 2, 60), 20, 0, 2, 0],
    "B32.6": [groupsOf(22, 5, oldSeconds), 20, 0, 2, 0],
    "B32.7": [groupsOf(26), 20, 0, 2, 8],
    "B32.8": [groupsOf(26, 2, oldSeconds), 20, 0, 2, 6],
  } satisfies Record<string, [ProcessGroupStatus[], number, number, number, number]>,
  (
    groups: ProcessGroupStatus[],
    desired: number,
    ongoing: number,
    tolerance: number,
    allowed: number,
  ) => assert.equal(budget(groups, desired, ongoing, tolerance), allowed),
);

item("B31.12", () => {
  const scene = new Scene(counts(5)).spec(counts(4));
  const [log = ""] = scene.ids("log");
  scene.loseProcesses(log);
  scene.condition(log, "MissingProcesses", 60);
  const [id = ""] = scene.ids("storage");
  scene.mark(id);
  assert.deepEqual(excluded(scene), [`locality_instance_id:${id}`]);
});

const hosts = (scene: Scene, ids: readonly string[]): string[] =>
  ids.map((id) => scene.pod(id).status?.podIP ?? "").sort();
const localities = (ids: readonly string[]): string[] =>
  ids.map((id) => `locality_instance_id:${id}`).sort();

item("B33.1", () => assert.deepEqual(excluded(leaving(0, byIp).scene), []));
item("B33.2", () => {
  const { scene, ids } = leaving(1, byIp);
  assert.deepEqual(excluded(scene), hosts(scene, ids));
});
item("B33.3", () => {
  const { scene, ids } = leaving(1, byIp);
  const [id = ""] = ids;
  scene.group(id).addresses = ["10.7.7.7", scene.pod(id).status?.podIP ?? ""];
  scene.database.configuration = {
    ...scene.database.configuration,
    excluded_servers: [{ address: "10.7.7.7" }],
  };
  assert.deepEqual(excluded(scene), hosts(scene, ids));
});
item("B33.4", () => {
  const { scene, ids } = leaving(2, byIp);
  assert.deepEqual(excluded(scene), hosts(scene, ids));
});
item("B33.5", () => {
  const { scene, ids } = leaving(2, byIp);
  scene.exclude(ids[0] ?? "", { hasRoles: true, by: hosts(scene, ids.slice(0, 1)) });
  assert.deepEqual(excluded(scene), hosts(scene, ids.slice(1)));
});
item("B33.6", () => {
  const { scene, ids } = leaving(2, byIp);
  scene.exclude(ids[0] ?? "", { isKnown: true, by: hosts(scene, ids.slice(0, 1)) });
  assert.deepEqual(excluded(scene), hosts(scene, ids.slice(1)));
});
item("B34.1", () => assert.deepEqual(excluded(leaving(0).scene), []));
item("B34.2", () => {
  const { scene, ids } = leaving(1);
  assert.deepEqual(excluded(scene), localities(ids));
});
item("B34.3", () => {
  const { scene, ids } = leaving(2);
  assert.deepEqual(excluded(scene), localities(ids));
});
item("B34.4", () => {
  const { scene, ids } = leaving(2);
  scene.exclude(ids[0] ?? "", { hasRoles: true });
  assert.deepEqual(excluded(scene), localities(ids.slice(1)));
});
item("B34.5", () => {
  const { scene, ids } = leaving(2);
  scene.exclude(ids[0] ?? "", { isKnown: true });
  assert.deepEqual(excluded(scene), localities(ids.slice(1)));
});
item("B34.6", () => {
  const { scene, ids } = leaving(1);
  scene.exclude(ids[0] ?? "", { hasRoles: true, by: hosts(scene, ids) });
  assert.deepEqual(excluded(scene), localities(ids));
});
item("B34.7", () => {
  const { scene, ids } = leaving(1);
  scene.exclude(ids[0] ?? "", { hasRoles: true });
  assert.deepEqual(excluded(scene), []);
});

function leavingCoordinator(spec: Partial<ClusterSpec>): void {
  const scene = new Scene({ processCounts: { storage: 4, log: 6, stateless: 3 }, ...spec });
  scene.spec(counts(4));
  const id = scene.ids("log").find((each) => isCoordinator(scene, each)) ?? "";
  scene.mark(id);
  const [act] = actionsOf(scene.decide("excludeProcesses"), "excludeProcesses");
  assert.deepEqual(act?.processGroupIds, [id]);
  assert.equal(act?.coordinators?.length, 3);
  assert.ok(!act?.coordinators?.some((text) => text.includes(id)));
}
item("B35.1", () => leavingCoordinator(byIp));
item("B35.2", () => leavingCoordinator({}));

/** A log and a stateless process both leave; a log may be missing for some time. */
function transactionSystem(missingSeconds?: number): string[] {
  const scene = new Scene({ processCounts: { storage: 4, log: 6, stateless: 5 } });
  scene.spec(counts(4));
  const logs = scene.ids("log").filter((id) => !isCoordinator(scene, id));
  const [log = "", missing = ""] = logs;
  scene.mark(log);
  scene.mark(scene.ids("stateless")[0] ?? "");
  if (missingSeconds !== undefined) {
    scene.loseProcesses(missing);
    scene.condition(missing, "MissingProcesses", missingSeconds);
  }
  return excluded(scene).map((text) => text.split(":")[1]?.split("-")[0] ?? "");
}
item("B36.1", () => assert.deepEqual(transactionSystem(), ["log", "stateless"]));
item("B36.2", () => assert.deepEqual(transactionSystem(60), []));
item("B36.3", () => assert.deepEqual(transactionSystem(700), ["log", "stateless"]));
