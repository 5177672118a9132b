// Which former coordinators are kept, and when a cluster file leads nowhere.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import { formerCoordinatorsMaximum } from "../../api/cluster-status.ts";
import type { FormerCoordinators, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { addCondition, hasCondition } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { formerCoordinators, withClusterFiles, withReplaced } from "./outdated-cluster-files.ts";

const entry = (name: string, ...processGroups: string[]): FormerCoordinators => ({
  coordinators: [`10.9.0.${name}:4501`],
  processGroups,
});

interface Row {
  readonly stored?: readonly FormerCoordinators[];
  readonly isChange?: boolean;
  readonly away?: readonly string[];
  readonly kept: readonly FormerCoordinators[];
}

const rows: Readonly<Record<string, Row>> = {
  "nothing is kept when nobody misses a change": { isChange: true, kept: [] },
  "nothing without a change": { away: ["a"], kept: [] },
  "a change that one misses is kept": { isChange: true, away: ["a"], kept: [entry("9", "a")] },
  "who misses two changes has the first in its file, and goes by the second": {
    ...{ stored: [entry("1", "a")], isChange: true, away: ["a"] },
    kept: [entry("1", "a"), entry("9")],
  },
  "who misses only the second has that one": {
    ...{ stored: [entry("1", "a")], isChange: true, away: ["a", "b"] },
    kept: [entry("1", "a"), entry("9", "b")],
  },
  "who is back needs no step before the one of the others": {
    ...{ stored: [entry("1", "a"), entry("2"), entry("3", "b")], away: ["b"] },
    kept: [entry("3", "b")],
  },
  "all are forgotten when everybody is back": {
    ...{ stored: [entry("1", "a"), entry("2", "b")], kept: [] },
  },
};

for (const [title, { stored = [], isChange, away = [], kept }] of Object.entries(rows)) {
  test(`[T84] ${title}`, () => {
    const replaced = isChange === true ? entry("9").coordinators : [];
    assert.deepEqual(withReplaced(stored, replaced, new Set(away)), kept);
  });
}

test("[T84] the list does not grow without end", () => {
  let stored: readonly FormerCoordinators[] = [];
  for (let count = 0; count < 100; count += 1) {
    stored = withReplaced(stored, [`10.9.1.${count}:4501`], new Set(["a", `b${count}`]));
    assert.ok(stored.length <= formerCoordinatorsMaximum);
  }
  assert.deepEqual(stored.at(-1)?.coordinators, ["10.9.1.99:4501"]);
});

/** A process group of the class whose processes the database does not see. */
function staged(processClass: string): { world: PlanWorld; group: ProcessGroup } {
  const world = new PlanWorld();
  world.settle();
  const found = (world.cluster.status?.processGroups ?? []).find(
    (group) => group.processClass === processClass,
  );
  assert.ok(found !== undefined);
  const processes = Object.entries(seen(world.snapshot()).cluster?.processes ?? {}).filter(
    ([, { locality }]) => locality?.["instance_id"] !== found.processGroupID,
  );
  world.statusOverlay = { processes: Object.fromEntries(processes) };
  return { world, group: found };
}

function seen({ database }: Snapshot) {
  assert.ok(database.kind === "seen");
  return database.status;
}

function isMisled(
  snapshot: Snapshot,
  list: readonly FormerCoordinators[],
  group: ProcessGroup,
): boolean {
  return withClusterFiles(snapshot, list, [group]).some((each) =>
    hasCondition(each, "ClusterFileOutdated"),
  );
}

const gone = ["10.9.0.1:4501"];

test("[T84] a file without a volume is gone with its pod", () => {
  for (const [processClass, isKept] of [
    ["stateless", false],
    ["storage", true],
  ] as const) {
    const { world, group } = staged(processClass);
    const next = "sample:other@10.9.0.2:4501";
    assert.deepEqual(formerCoordinators(world.snapshot(), next, [group]), [], "nobody told it");
    world.statusOverlay = { ...world.statusOverlay, connection_string: next };
    const here = formerCoordinators(world.snapshot(), next, [group]);
    assert.deepEqual(here[0]?.processGroups, [group.processGroupID]);
    world.pods.delete(`sample-${group.processGroupID}`);
    const later = formerCoordinators(world.snapshot(), next, [group]);
    assert.equal(later.length, isKept ? 1 : 0, processClass);
  }
});

interface Case {
  readonly former: (serving: readonly string[], id: string) => readonly FormerCoordinators[];
  readonly isSo: boolean;
}

const cases: Readonly<Record<string, Case>> = {
  "none of its coordinators serves": {
    former: (_, id) => [{ coordinators: gone, processGroups: [id] }],
    isSo: true,
  },
  "one of them serves": {
    former: (serving, id) => [
      { coordinators: [...gone, ...serving.slice(0, 1)], processGroups: [id] },
    ],
    isSo: false,
  },
  "it is led on to some who are gone": {
    former: (serving, id) => [
      { coordinators: [...serving], processGroups: [id] },
      { coordinators: gone, processGroups: [] },
    ],
    isSo: true,
  },
  "those who are gone were before its time": {
    former: (serving, id) => [
      { coordinators: gone, processGroups: ["other"] },
      { coordinators: [...serving], processGroups: [id] },
    ],
    isSo: false,
  },
  "it missed nothing": {
    former: () => [{ coordinators: gone, processGroups: ["other"] }],
    isSo: false,
  },
};

for (const [title, { former, isSo }] of Object.entries(cases)) {
  test(`[T85] ${title}: ${isSo ? "its cluster file leads nowhere" : "it finds the database"}`, () => {
    const { world, group } = staged("storage");
    const serving = coordinatorsOf(world.cluster.status?.connectionString ?? "");
    const list = former(serving, group.processGroupID);
    const judge = (from: ProcessGroup): boolean => isMisled(world.snapshot(), list, from);
    assert.equal(judge(group), isSo);
    assert.equal(judge(addCondition(group, "ClusterFileOutdated", world.nowMs)), isSo);
    assert.equal(judge(addCondition(group, "IncorrectConfigMap", world.nowMs)), false);
  });
}

test("[T85] without a status the last finding stands; a pod that does not run, or is isolated, says nothing", () => {
  const { world, group } = staged("storage");
  const list = [{ coordinators: gone, processGroups: [group.processGroupID] }];
  const judge = (from: ProcessGroup): boolean => isMisled(world.snapshot(), list, from);
  const name = `sample-${group.processGroupID}`;
  const pod = world.pods.get(name);
  assert.ok(pod !== undefined);
  world.pods.set(name, { ...pod, status: { ...pod.status, phase: "Pending" } });
  assert.equal(judge(group), false);
  const annotations = { "foundationdb.org/isolate-process-group": "true" };
  world.pods.set(name, { ...pod, metadata: { ...pod.metadata, annotations } });
  assert.equal(judge(group), false);
  world.pods.set(name, pod);
  world.isDatabaseReachable = false;
  assert.equal(judge(group), false);
  assert.equal(judge(addCondition(group, "ClusterFileOutdated", world.nowMs)), true);
});

test("[T85] [API37] a whole datacenter that missed many changes is judged together, not each process group by itself", () => {
  const { world, group } = staged("storage");
  const serving = coordinatorsOf(world.cluster.status?.connectionString ?? "");
  const { processes = {} } = seen(world.snapshot()).cluster ?? {};
  const [each] = Object.values(processes);
  assert.ok(each !== undefined);
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [index, each]));
  world.statusOverlay = { processes: { ...processes, ...many } };
  const groups = Array.from({ length: 2_000 }, (_, index) => ({
    ...group,
    processGroupID: `storage-${index}`,
  }));
  const processGroups = groups.map(({ processGroupID }) => processGroupID);
  let looks = 0;
  const list = Array.from({ length: formerCoordinatorsMaximum }, (_, index) => ({
    get coordinators(): string[] {
      looks += 1;
      return [...serving];
    },
    processGroups: index === 0 ? processGroups : [],
  }));
  const snapshot = world.snapshot();
  assert.equal(withClusterFiles(snapshot, list, groups).length, groups.length);
  // Each look goes through all processes.
  assert.ok(looks <= formerCoordinatorsMaximum, `${looks} looks`);
});
