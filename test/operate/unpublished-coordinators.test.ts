// Coordinators while the ConfigMap cannot be written: whoever reads it is to find the database still.
// Rules: spec/restart.md [T118], spec/removal.md [R114].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clusterFileKey } from "../../src/build/config-map.ts";
import { formatTime } from "../../src/kube/time.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { actionKey } from "../../src/plan/action-key.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { actionsOf, locality, removed, RemovalWorld, waitOf } from "./removal-world.ts";

const spec = {
  processCounts: { storage: 5, log: 4, stateless: 3 },
  databaseConfiguration: { redundancy_mode: "double" },
} as const;

const elsewhere = "10.9.9.9:4501";

function connectionStringOf({ cluster }: RemovalWorld): string {
  return cluster.status?.connectionString ?? "";
}

/** Settled, with a ConfigMap that names these coordinators. */
function behind(coordinators: (current: readonly string[]) => readonly string[]): RemovalWorld {
  const world = RemovalWorld.settled(spec);
  const { configMap } = world;
  assert.ok(configMap !== undefined);
  const current = coordinatorsOf(connectionStringOf(world));
  const clusterFile = `sample:before@${coordinators(current).join(",")}`;
  world.configMap = { ...configMap, data: { ...configMap.data, [clusterFileKey]: clusterFile } };
  return world;
}

const partly = (current: readonly string[]): readonly string[] => [
  ...current.slice(0, 1),
  elsewhere,
];

/** The API server refuses to have the ConfigMap changed. */
function refusal(world: RemovalWorld): Pick<Snapshot, "failures"> {
  const [action] = world.plan().actions.filter(({ type }) => type === "updateConfigMap");
  assert.ok(action !== undefined);
  const told = { step: "updateConfigMap", what: "update config map sample-config", message: "no" };
  const failure = { ...told, retryAtMs: world.nowMs + 5_000, isCommand: false };
  return { failures: [{ key: actionKey(action), ...failure }] };
}

function coordinatorIds(world: RemovalWorld): string[] {
  const text = connectionStringOf(world);
  return world.ids().filter((id) => text.includes(`${world.podNameOf(id)}.`));
}

const changes = (plan: Plan): number => actionsOf(plan, "changeCoordinators").length;

/** The resource wants other classes than that of the first coordinator. */
function wishForOthers(world: RemovalWorld): void {
  const isLog = coordinatorIds(world)[0]?.startsWith("log");
  const processClass = isLog ? "storage" : "log";
  world.changeSpec({ coordinatorSelection: [{ processClass, priority: 1 }] });
}

const rows: readonly [string, (current: readonly string[]) => readonly string[], boolean][] = [
  ["one that serves is named there", partly, true],
  ["none of them is named there", () => [elsewhere], false],
];

for (const [title, named, isHeld] of rows) {
  test(`[T118] the ConfigMap cannot be changed, and ${title}: coordinators ${isHeld ? "stay" : "change"}`, () => {
    const world = behind(named);
    wishForOthers(world);
    const failures = refusal(world);
    assert.equal(changes(world.plan()), 1, "nothing was refused yet");
    const plan = world.plan(failures);
    assert.equal(changes(plan), isHeld ? 0 : 1);
    if (isHeld) assert.match(waitOf(plan, "CoordinatorsUnfit"), /ConfigMap names coordinators of/);
  });
}

test("[T118] a coordinator that is gone is replaced all the same", () => {
  const world = behind(partly);
  const [lost = ""] = coordinatorIds(world);
  world.silent.add(lost);
  const failures = refusal(world);
  const since = world.nowMs - 120_000;
  const missingCoordinators = new Map(
    coordinatorsOf(connectionStringOf(world)).map((each) => [each, since]),
  );
  assert.equal(changes(world.plan({ ...failures, missingCoordinators })), 1);
});

test("[T118] a coordinator that is to go serves on, and others that are to go are excluded", () => {
  const world = behind(partly);
  const [leaving = ""] = coordinatorIds(world);
  const other = world.ids("storage").find((id) => !coordinatorIds(world).includes(id)) ?? "";
  world.mark(leaving, other);
  const processCounts = { storage: 4, log: 3, stateless: 3 };
  world.changeSpec({ processCounts });
  const targets = (plan: Plan) => actionsOf(plan, "excludeProcesses")[0]?.targets ?? [];
  assert.ok(targets(world.plan()).includes(locality(leaving)));
  const plan = world.plan(refusal(world));
  assert.deepEqual(targets(plan), [locality(other)]);
  assert.match(waitOf(plan, "ExclusionPostponed"), /ConfigMap names coordinators of/);
});

test("[T118] one whose volume is about to be lost does not wait", () => {
  const world = behind(partly);
  const [leaving = ""] = coordinatorIds(world);
  const claim = [...world.pvcs.keys()].find((name) => name.includes(world.podNameOf(leaving)));
  const { metadata } = world.pvcs.get(claim ?? "") ?? {};
  assert.ok(claim !== undefined && metadata !== undefined);
  const deletionTimestamp = formatTime(world.nowMs);
  world.changeObject(world.pvcs, claim, { metadata: { ...metadata, deletionTimestamp } });
  world.mark(leaving);
  world.pass();
  world.runPods();
  world.later(600);
  world.configMap = behind(partly).configMap;
  const plan = world.plan(refusal(world));
  assert.ok(actionsOf(plan, "excludeProcesses")[0]?.targets.includes(locality(leaving)));
});

/** Two that were coordinators before are empty and may go; the ConfigMap names nobody else. */
function formerCoordinators(): { world: RemovalWorld; former: readonly string[] } {
  const world = RemovalWorld.settled(spec);
  const serving = coordinatorIds(world);
  const former = world
    .ids("storage")
    .filter((id) => !serving.includes(id))
    .slice(0, 2);
  const { configMap } = world;
  assert.ok(configMap !== undefined && former.length === 2);
  const names = former.map((id) => `${world.podNameOf(id)}.sample.default.svc.cluster.local:4501`);
  const clusterFile = `sample:before@${names.join(",")}`;
  world.configMap = { ...configMap, data: { ...configMap.data, [clusterFileKey]: clusterFile } };
  for (const id of former) {
    world.emptied.add(id);
    world.exclusions.push({ locality: locality(id) });
  }
  world.mark(...former);
  world.changeSpec({
    processCounts: { ...spec.processCounts, storage: 3 },
    automationOptions: { removalMode: "All" },
  });
  return { world, former };
}

test("[R114] the last former coordinator that the ConfigMap leads to stays while it cannot be changed", () => {
  const { world, former } = formerCoordinators();
  assert.deepEqual(removed(world.plan()).toSorted(), former.toSorted(), "nothing was refused yet");
  const plan = world.plan(refusal(world));
  assert.deepEqual(removed(plan), former.slice(1));
  assert.match(waitOf(plan, "RemovalBlocked"), new RegExp(`${former[0]}; .*ConfigMap`));
  assert.ok(
    plan.status.processGroups?.every(
      (group) => !former.includes(group.processGroupID) || group.exclusionTimestamp !== undefined,
    ),
    "it holds no place of a replacement",
  );
});

test("[R114] it goes when another one that is named there serves", () => {
  const { world, former } = formerCoordinators();
  world.changeSpec({ processCounts: { ...spec.processCounts, storage: 4 } });
  const [kept = "", gone = ""] = former;
  world.changeGroup(kept, { removalTimestamp: undefined });
  assert.deepEqual(removed(world.plan(refusal(world))), [gone]);
});
