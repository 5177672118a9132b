// Checklist: what instances of one database do together in global mode.
import { strict as assert } from "node:assert";
import { sharedVerdict } from "../../src/plan/coordination/shared-verdict.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import {
  announce,
  bouncing,
  byAddress,
  excluded,
  GlobalWorld,
  gone,
  killed,
  replaced,
} from "../operate/global-world.ts";
import { actionsOf, locality } from "../operate/removal-world.ts";
import { item, table } from "./checklist-case.ts";

const addressOf = (world: GlobalWorld, id: string): string =>
  world.groups().find((group) => group.processGroupID === id)?.addresses?.[0] ?? "";

item("B17.1", () => assert.deepEqual(killed(GlobalWorld.global().plan()), []));
item("B17.2", () => {
  const world = bouncing();
  world.addOther("dc2-log-1");
  world.settleSets();
  assert.deepEqual(killed(world.plan()), world.ids(), "who is not announced holds nobody back");
});
item("B17.3", () => {
  const world = bouncing();
  world.addOther("dc2-log-1");
  world.put("readyForRestart", "dc2/dc2-log-1");
  world.settleSets();
  assert.deepEqual(killed(world.plan()), []);
});
item("B17.4", () => {
  const world = bouncing();
  world.addOther("dc2-log-1");
  for (const set of ["pendingForRestart", "readyForRestart"] as const) {
    world.put(set, "dc2/dc2-log-1");
  }
  world.settleSets();
  assert.deepEqual(killed(world.plan()), [...world.ids(), "dc2-log-1"].sort());
});

table({ "B33.7": [byAddress], "B34.8": [{}] }, (spec: Parameters<typeof GlobalWorld.global>[0]) => {
  const world = GlobalWorld.global(spec);
  const id = world.id("log");
  replaced(world, id);
  assert.deepEqual(world.members("pendingForExclusion"), [id]);
  const target = spec === byAddress ? addressOf(world, id) : locality(id);
  assert.deepEqual(world.stored.get("readyForExclusion")?.get(`dc1/${id}`), [target]);
});

table({ "B35.3": [byAddress], "B35.4": [{}] }, (spec: Parameters<typeof GlobalWorld.global>[0]) => {
  const world = GlobalWorld.global(spec);
  const [first = ""] =
    (world.cluster.status?.connectionString ?? "").split("@")[1]?.split(",") ?? [];
  const id = world.ids().find((one) => first.startsWith(`${world.podNameOf(one)}.`)) ?? "";
  replaced(world, id);
  world.settleSets();
  const [action] = actionsOf(world.plan(), "excludeProcesses");
  assert.deepEqual(action?.processGroupIds, [id]);
  assert.ok(action?.coordinators?.every((address) => address !== first));
});

/** A log of this instance, and one of another that may or may not be ready. */
function two(spec: Parameters<typeof GlobalWorld.global>[0], isReady: boolean): GlobalWorld {
  const world = GlobalWorld.global(spec);
  world.addOther("dc2-log-1");
  announce(world, "dc2-log-1", isReady);
  replaced(world, world.id("log"));
  world.settleSets();
  return world;
}

table(
  {
    "B37.1": [byAddress, false],
    "B37.2": [{}, false],
    "B37.3": [byAddress, true],
    "B37.4": [{}, true],
  },
  (spec: Parameters<typeof GlobalWorld.global>[0], isReady: boolean) => {
    const world = two(spec, isReady);
    const ids = isReady ? [...world.members("readyForExclusion")] : [];
    assert.deepEqual([...excluded(world.plan())].sort(), ids);
    assert.equal(ids.length, isReady ? 2 : 0);
  },
);
item("B37.5", () => {
  const world = two({}, false);
  world.later(300);
  assert.deepEqual(excluded(world.plan()), world.members("readyForExclusion"));
});

item("B45.3", () => {
  const world = GlobalWorld.global(byAddress);
  const id = world.id("log");
  const address = addressOf(world, id);
  gone(world, id, { address });
  assert.deepEqual(
    world.commands.filter((text) => text.startsWith("include")),
    [`include ${address}`],
  );
  assert.deepEqual(world.members("readyForInclusion"), []);
});

item("C03.2", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.pass();
  for (const set of ["pendingForRemoval", "pendingForExclusion", "pendingForInclusion"] as const) {
    assert.deepEqual(world.members(set), [id]);
  }
});
item("C03.3", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  world.mark(id);
  world.exclusions.push({ locality: locality(id) });
  world.pass();
  assert.deepEqual(world.members("pendingForExclusion"), []);
  assert.deepEqual(world.members("pendingForRemoval"), [id]);
});
item("C03.4", () => {
  const world = GlobalWorld.global();
  const id = world.id("storage");
  replaced(world, id);
  assert.deepEqual(world.members("readyForExclusion"), [id]);
  world.exclusions.push({ locality: locality(id) });
  world.pass();
  assert.deepEqual(world.members("readyForExclusion"), []);
  assert.deepEqual(world.members("pendingForExclusion"), []);
});

/** What the instance dc1 makes of logs that are pending and ready, looked at twice. */
function verdictOf(pending: string[], ready: string[], apartMs: number, patience = 30_000) {
  const world = GlobalWorld.global();
  for (const id of new Set([...pending, ...ready])) world.addOther(id);
  for (const id of pending) world.put("pendingForExclusion", `dc1/${id}`);
  for (const id of ready) world.put("readyForExclusion", `dc1/${id}`, [locality(id)]);
  world.snapshot();
  world.nowMs += apartMs;
  const { knowledge, database } = world.snapshot();
  assert.ok(knowledge.coordination !== undefined && database.kind === "seen");
  return sharedVerdict(
    world.snapshot(),
    { purpose: "exclusion", scope: "transaction" },
    knowledge.coordination,
    database.status,
    "dc1",
    { ...defaultPlanOptions, globalSynchronizationWaitMs: patience },
  );
}

const [a, b] = ["dc1-log-1", "dc1-log-2"];
table(
  {
    "C03.7": [[], [], 60_000, "idle"],
    "C03.8": [[a], [], 60_000, "idle"],
    "C03.9": [[a, b], [a, b], 60_000, "agreed"],
    "C03.10": [[a, b], [a, b], 10_000, "settling"],
    "C03.11": [[a, b], [a], 60_000, "waiting"],
    "C03.12": [[a], [a, b], 60_000, "waiting"],
    "C03.13": [[a, b], [a], 300_000, "agreed"],
  },
  (pending: string[], ready: string[], apartMs: number, expected: string) => {
    const verdict = verdictOf(pending, ready, apartMs);
    assert.equal(verdict.kind, expected);
    if (verdict.kind !== "agreed") return;
    assert.deepEqual(
      verdict.entries.map(({ processGroupId }) => processGroupId),
      ready.filter((id) => pending.includes(id)),
    );
  },
);
