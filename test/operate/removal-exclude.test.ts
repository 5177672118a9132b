// Who is excluded, when, and with what. Rules: spec/removal.md [R26], [R30]-[R44].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { actionKey } from "../../src/plan/action-key.ts";
import { describeAction } from "../../src/plan/describe-action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { StatusProcess } from "../../src/model/database-status.ts";
import { zoneProblems } from "../../src/plan/safety/exclusion-zones.ts";
import { actionsOf, removalIds, RemovalWorld, waitOf } from "./removal-world.ts";

const counts = { storage: 5, log: 4, stateless: 3 };
const locality = (id: string): string => `locality_instance_id:${id}`;

function settled(spec: Partial<ClusterSpec> = {}): RemovalWorld {
  return RemovalWorld.settled({ processCounts: counts, ...spec });
}

/** Marks process groups and lets their successors come up. */
function replace(world: RemovalWorld, ...ids: string[]): void {
  world.changeSpec({ processGroupsToRemove: ids });
  world.pass();
  world.runPods();
}

function targets(plan: Plan): readonly string[] {
  const actions = actionsOf(plan, "excludeProcesses");
  assert.ok(actions.length <= 1);
  return actions[0]?.targets ?? [];
}

const byAddress: Partial<ClusterSpec> = {
  automationOptions: { useLocalitiesForExclusion: false },
};

test("[R30] nobody is excluded who is not marked", () => {
  assert.deepEqual(targets(settled().plan()), []);
});

test("[R30] a marked process group is excluded, a tester and one that skips it are not", () => {
  const world = settled({ processCounts: { ...counts, test: 1 } });
  const [first = "", second = ""] = world.ids("storage");
  world.changeSpec({
    processGroupsToRemove: [first, world.id("test")],
    processGroupsToRemoveWithoutExclusion: [second],
    processCounts: { ...counts, storage: 3 },
  });
  assert.deepEqual(targets(world.plan()), [locality(first)]);
});

test("[R31] by locality, or by all addresses", () => {
  const world = settled();
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  assert.match(targets(world.plan()).join(), /^locality_instance_id:storage-\d+$/);
  const other = settled(byAddress);
  other.changeSpec({ processCounts: { ...counts, storage: 4 } });
  assert.match(targets(other.plan()).join(), /^10\.\d+\.\d+\.\d+$/);
  const old = settled({ version: "7.1.40" });
  old.changeSpec({ processCounts: { ...counts, storage: 4 } });
  assert.match(targets(old.plan()).join(), /^10\.\d+\.\d+\.\d+$/);
});

test("[R32] an exclusion that is there is not asked for again", () => {
  const world = settled();
  const id = world.id("storage");
  world.mark(id);
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  assert.deepEqual(targets(world.plan()), [locality(id)]);
  world.exclusions.push({ locality: locality(id) });
  assert.deepEqual(targets(world.plan()), []);
});

test("[R32] of two addresses only the one that is not excluded yet is asked for", () => {
  const world = settled(byAddress);
  const id = world.id("storage");
  const [current = ""] = world.groups().find((one) => one.processGroupID === id)?.addresses ?? [];
  world.mark(id);
  world.changeGroup(id, { addresses: ["10.9.9.9", current] });
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  assert.deepEqual(targets(world.plan()), ["10.9.9.9", current]);
  world.exclusions.push({ address: "10.9.9.9" });
  assert.deepEqual(targets(world.plan()), [current]);
  world.exclusions.push({ address: current });
  assert.deepEqual(targets(world.plan()), []);
});

test("[R32] an exclusion by address does not stand for one by locality", () => {
  const world = settled();
  const id = world.id("storage");
  const [address = ""] = world.groups().find((one) => one.processGroupID === id)?.addresses ?? [];
  world.mark(id);
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  world.exclusions.push({ address });
  assert.deepEqual(targets(world.plan()), [locality(id)]);
});

test("[R33] an exclusion that was proven and then taken back is asked for and proven again", () => {
  const world = settled();
  const id = world.id("storage");
  world.changeSpec({
    processCounts: { ...counts, storage: 4 },
    processGroupsToRemove: [id],
    buggify: { blockRemoval: [id] },
  });
  world.pass();
  world.emptied.add(id);
  world.pass();
  const timestamp = (): string | undefined =>
    world.groups().find((one) => one.processGroupID === id)?.exclusionTimestamp;
  assert.notEqual(timestamp(), undefined);
  world.exclusions.length = 0;
  const plan = world.pass();
  assert.deepEqual(targets(plan), [locality(id)]);
  assert.equal(timestamp(), undefined);
});

test("[R35] as many are excluded as the class can spare, the others wait", () => {
  const world = settled();
  const ids = world.ids("storage");
  world.mark(...ids.slice(0, 3));
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  // Two new ones are due before anybody goes.
  assert.deepEqual(targets(world.plan()), []);
  world.pass();
  world.runPods();
  world.silent.add(ids[4] ?? "");
  world.condition(ids[4] ?? "", "MissingProcesses", 400);
  const plan = world.plan();
  assert.deepEqual(targets(plan), ids.slice(0, 3).map(locality));
  world.mark(ids[3] ?? "");
  world.changeSpec({ processCounts: { ...counts, storage: 5 } });
  const more = world.plan();
  assert.deepEqual(targets(more), []);
  assert.match(waitOf(more, "ExclusionPostponed"), /should come up first/);
});

test("[R35] exclusions under way count", () => {
  const world = settled();
  const [first = "", second = "", third = ""] = world.ids("storage");
  world.mark(first, second, third);
  world.exclusions.push({ locality: locality(first) });
  world.changeSpec({ processCounts: { ...counts, storage: 2, log: 4 } });
  assert.deepEqual(targets(world.plan()), [second, third].map(locality));
});

test("[R36] a successor that does not report yet holds the whole class", () => {
  const world = settled();
  const id = world.id("storage");
  world.changeSpec({ processGroupsToRemove: [id] });
  const plan = world.pass();
  assert.deepEqual(targets(plan), []);
  assert.match(waitOf(plan, "ExclusionPostponed"), new RegExp(`${id}; storage-.*come up first`));
  world.runPods();
  assert.deepEqual(targets(world.pass()), [locality(id)]);
});

test("[R36] a missing process of another class does not matter to storage", () => {
  const world = settled();
  const id = world.id("storage");
  replace(world, id);
  world.silent.add(world.id("log"));
  assert.deepEqual(targets(world.plan()), [locality(id)]);
});

test("[R37] a process that is gone for long needs no room", () => {
  const databaseConfiguration = { redundancy_mode: "single" } as const;
  const world = settled({
    databaseConfiguration,
    processCounts: { storage: 2, log: 2, stateless: 2 },
  });
  const id = world.id("storage");
  world.silent.add(id);
  replace(world, id);
  world.condition(id, "MissingProcesses", 10);
  assert.deepEqual(targets(world.plan()), []);
  world.condition(id, "MissingProcesses", 301);
  assert.deepEqual(targets(world.plan()), [locality(id)]);
});

test("[R38] an exclusion that would leave too few zones is not asked for", () => {
  for (const processClass of ["storage", "log"]) {
    const world = settled();
    world.change = (status) => {
      for (const process of Object.values(status.cluster?.processes ?? {})) {
        if (process.class_type !== processClass) continue;
        const id = process.locality?.["instance_id"] ?? "";
        const zoneid = id === world.id(processClass) ? "zone-2" : "zone-1";
        process.locality = { ...process.locality, zoneid };
      }
    };
    const id = world.id(processClass);
    world.mark(id);
    world.changeSpec({ processCounts: { ...counts, storage: 4, log: 3 } });
    const plan = world.plan();
    assert.ok(!targets(plan).includes(locality(id)));
    assert.match(waitOf(plan, "ExclusionPostponed"), /left in 1 zone, and double needs 2/);
  }
});

test("[R38] of those that are to go only as many stay as zones would be missing", () => {
  const process = (id: string, zoneid: string, more: Partial<StatusProcess> = {}) =>
    [id, { class_type: "log", locality: { instance_id: id, zoneid }, ...more }] as const;
  const needed = (...processes: (readonly [string, StatusProcess])[]) => {
    const leaving = new Set(["old-1", "old-2", "old-3", "old-4"]);
    const status = { cluster: { processes: Object.fromEntries(processes) } };
    const [problem] = zoneProblems(status, leaving, "triple");
    return problem === undefined ? [] : [...problem.needed].sort();
  };
  const old = [process("old-1", "a"), process("old-2", "a"), process("old-3", "b")];
  const two = [process("new-1", "x"), process("new-2", "y")];
  assert.deepEqual(needed(...old, ...two), ["old-1"]);
  assert.deepEqual(needed(...old, process("new-1", "x")), ["old-1", "old-3"]);
  assert.deepEqual(needed(...old, ...two, process("new-3", "z")), []);
  const excluded = [process("old-1", "a", { excluded: true }), process("old-3", "b")];
  assert.deepEqual(needed(...excluded, ...two), ["old-3"], "who is excluded gives no zone");
  assert.deepEqual(needed(process("old-1", "x"), ...two), ["old-1"], "all, when nothing helps");
});

/** In double mode: two storage servers of a zone of their own are to go, and all that stay share another one. */
function sharing(limit: number): { world: RemovalWorld; leaving: readonly string[] } {
  const world = settled({
    automationOptions: { replacements: { maxConcurrentReplacements: limit } },
  });
  const leaving = world.ids("storage").slice(0, 2);
  replace(world, ...leaving);
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.class_type !== "storage") continue;
      const isLeaving = leaving.includes(process.locality?.["instance_id"] ?? "");
      process.locality = { ...process.locality, zoneid: isLeaving ? "old" : "new" };
    }
  };
  return { world, leaving };
}

test("[R38] a failed process group of another class holds up nobody who may go, whose place in the bucket it waits for", () => {
  const { world, leaving } = sharing(2);
  const failed = world.id("stateless");
  world.silent.add(failed);
  world.condition(failed, "MissingProcesses", 7201);
  const plan = world.plan();
  assert.match(waitOf(plan, "ReplacementLimited"), new RegExp(`^${failed} should be replaced`));
  assert.deepEqual(targets(plan), [locality(leaving[1] ?? "")]);
  for (let round = 0; round < 3; round += 1) {
    world.emptied.add(leaving[1] ?? "");
    world.pass();
    world.later(130);
  }
  assert.ok(removalIds(world.plan()).includes(failed));
});

test("[R38] all wait for one of their own kind that may bring another zone", () => {
  const { world } = sharing(2);
  const last = world.ids("storage").at(-1) ?? "";
  world.silent.add(last);
  world.condition(last, "MissingProcesses", 600);
  assert.deepEqual(targets(world.plan()), []);
});

test("[R39] logs and stateless processes go in one command, storage with them", () => {
  const world = settled();
  const ids = [world.id("log", 3), world.id("stateless"), world.id("storage", 4)];
  world.mark(...ids);
  world.changeSpec({ processCounts: { storage: 4, log: 3, stateless: 2 } });
  assert.deepEqual([...targets(world.plan())].sort(), ids.map(locality).sort());
});

test("[R39] while one class of the transaction system must wait, all do, and storage goes on", () => {
  const world = settled();
  const [log, stateless, storage] = [
    world.id("log", 3),
    world.id("stateless"),
    world.id("storage", 4),
  ];
  world.mark(log, stateless, storage);
  world.changeSpec({ processCounts: { storage: 4, log: 3, stateless: 2 } });
  const silent = world.id("log", 1);
  world.silent.add(silent);
  world.condition(silent, "MissingProcesses", 60);
  const plan = world.plan();
  assert.deepEqual(targets(plan), [locality(storage)]);
  const messages = plan.waits
    .filter(({ reason }) => reason === "ExclusionPostponed")
    .map(({ message }) => message);
  assert.equal(messages.length, 2);
  assert.ok(messages.some((text) => text.includes(stateless) && /go together/.test(text)));
  world.condition(silent, "MissingProcesses", 601);
  assert.deepEqual(
    [...targets(world.plan())].sort(),
    [log, stateless, storage].map(locality).sort(),
  );
});

test("[R40] a recent recovery holds back what costs another one, and not storage", () => {
  const world = settled();
  const [log, storage] = [world.id("log", 3), world.id("storage", 4)];
  world.mark(log, storage);
  world.changeSpec({ processCounts: { storage: 4, log: 3, stateless: 3 } });
  world.change = (status) => {
    if (status.cluster?.recovery_state) {
      status.cluster.recovery_state.seconds_since_last_recovered = 119;
    }
  };
  const plan = world.plan();
  assert.deepEqual(targets(plan), [locality(storage)]);
  assert.match(waitOf(plan, "ExclusionPostponed"), new RegExp(`${log}; the last recovery`));
});

test("[R40] a process without roles, or one that is gone, does not wait for a calm database", () => {
  const world = settled();
  const [idle, gone] = [world.id("stateless", 0), world.id("stateless", 1)];
  world.emptied.add(idle);
  world.silent.add(gone);
  world.mark(idle, gone);
  world.condition(gone, "MissingProcesses", 400);
  world.changeSpec({ processCounts: { ...counts, stateless: 1 } });
  world.change = (status) => {
    if (status.cluster?.recovery_state) {
      status.cluster.recovery_state.seconds_since_last_recovered = 5;
    }
  };
  assert.deepEqual([...targets(world.plan())].sort(), [idle, gone].map(locality).sort());
});

test("[R41] many active generations hold everything back", () => {
  const world = settled();
  world.changeSpec({ processCounts: { ...counts, storage: 3 } });
  world.change = (status) => {
    if (status.cluster?.recovery_state) status.cluster.recovery_state.active_generations = 11;
  };
  assert.deepEqual(targets(world.plan()), []);
  assert.match(waitOf(world.plan(), "ExclusionPostponed"), /10 active generations/);
});

function coordinator(world: RemovalWorld): string {
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const found = Object.values(seen.status.cluster?.processes ?? {}).find(({ roles }) =>
    roles?.some(({ role }) => role === "coordinator"),
  );
  return found?.locality?.["instance_id"] ?? "";
}

for (const [how, spec] of [
  ["locality", {}],
  ["address", byAddress],
] as const) {
  test(`[R42] with a coordinator among them the coordinators change in the same act (${how})`, () => {
    const world = settled(spec);
    const id = coordinator(world);
    replace(world, id);
    const [action] = actionsOf(world.plan(), "excludeProcesses");
    assert.deepEqual(action?.processGroupIds, [id]);
    assert.equal(action?.coordinators?.length, 3);
    assert.ok(action.coordinators.every((address) => !address.includes(`${id}.`)));
  });
}

test("[R42] without valid coordinators among those that stay they serve on, and the others go", () => {
  const world = settled();
  const id = coordinator(world);
  const storage = world.groups().find((group) => group.processClass === "storage");
  const other = storage?.processGroupID ?? "";
  world.changeSpec({
    coordinatorSelection: [{ processClass: "log" }],
    processGroupsToRemove: [id, other],
  });
  world.pass();
  world.runPods();
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.class_type !== "log" || process.locality?.["instance_id"] === id) continue;
      process.under_maintenance = true;
    }
  };
  const plan = world.plan();
  const [action] = actionsOf(plan, "excludeProcesses");
  assert.deepEqual([action?.processGroupIds, action?.coordinators], [[other], undefined]);
  assert.match(
    waitOf(plan, "ExclusionPostponed"),
    new RegExp(`Not excluded yet: ${id}; a coordinator is among them`),
  );
});

test("[R42] [T18] a coordinator that is to go does not wait for names that others get when they go themselves", () => {
  const automationOptions = { maxConcurrentReplacements: 1 };
  const world = settled({ automationOptions, routing: { useDNSInClusterFile: false } });
  const id = coordinator(world);
  const before = new Set(world.groups().map((group) => group.processGroupID));
  replace(world, id);
  world.changeSpec({ routing: { useDNSInClusterFile: true } });
  let isSuccessorUp = true;
  world.change = ({ cluster }) => {
    for (const [key, process] of Object.entries(cluster?.processes ?? {})) {
      const own = process.locality?.["instance_id"] ?? "";
      const isNew = !before.has(own);
      process.locality = { ...process.locality, dns_name: isNew ? `${own}.test` : "" };
      if (isNew && !isSuccessorUp) delete cluster?.processes?.[key];
    }
  };
  const coordinatorsOf = (): readonly string[] =>
    actionsOf(world.plan(), "excludeProcesses")[0]?.coordinators ?? [];
  const chosen = coordinatorsOf();
  assert.equal(chosen.length, 3);
  assert.equal(chosen.filter((address) => address.includes(".test:")).length, 1);
  isSuccessorUp = false;
  assert.deepEqual(coordinatorsOf(), []);
});

test("[R40] a recent recovery holds back a coordinator of storage", () => {
  const world = settled({ coordinatorSelection: [{ processClass: "storage", priority: 9 }] });
  const id = coordinator(world);
  assert.match(id, /^storage/);
  world.mark(id);
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  world.change = (status) => {
    if (status.cluster?.recovery_state) {
      status.cluster.recovery_state.seconds_since_last_recovered = 60;
    }
  };
  assert.deepEqual(targets(world.plan()), []);
});

test("[R43] the lock is asked for where locks are in use", () => {
  for (const disableLocks of [true, false]) {
    const world = settled({ lockOptions: { disableLocks } });
    world.changeSpec({ processCounts: { ...counts, storage: 4 } });
    const [action] = actionsOf(world.plan(), "excludeProcesses");
    assert.equal(action?.needsLock, !disableLocks);
  }
});

test("[R44] an exclusion is an event", () => {
  const world = settled();
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  const plan = world.plan();
  const event = plan.events.find(({ reason }) => reason === "ExcludingProcesses");
  assert.match(event?.message ?? "", /^Excluding storage-\d+$/);
});

test("[R26] no exclusion rests on a status from before the last act, or beside another act", () => {
  const world = settled();
  world.changeSpec({ processCounts: { ...counts, storage: 4 } });
  world.pass();
  world.exclusions.length = 0;
  world.lastWriteMs = world.nowMs + 1;
  const plan = world.plan();
  assert.deepEqual(targets(plan), []);
  assert.match(waitOf(plan, "ExclusionPostponed"), /older than/);
  world.lastWriteMs = 0;
  world.changeSpec({ databaseConfiguration: { redundancy_mode: "double", logs: 4 } });
  const both = world.plan();
  assert.equal(actionsOf(both, "configureDatabase").length, 1);
  assert.deepEqual(targets(both), []);
});

test("[R26] an act that fails or is refused holds nobody back, a running command does", () => {
  const world = settled();
  world.changeSpec({
    processCounts: { ...counts, storage: 4 },
    databaseConfiguration: { redundancy_mode: "double", logs: 4 },
  });
  const [act] = actionsOf(world.plan(), "configureDatabase");
  assert.ok(act !== undefined);
  const [key, what] = [actionKey(act), describeAction(act)];
  const failure = {
    key,
    step: act.step,
    what,
    message: "no",
    isCommand: true,
    retryAtMs: world.nowMs + 1000,
  };
  assert.equal(targets(world.plan({ failures: [failure] })).length, 1);
  assert.equal(
    targets(world.plan({ failures: [{ ...failure, retryAtMs: world.nowMs }] })).length,
    0,
  );
  const refusal = { key, step: act.step, what, reason: "LockHeld", message: "no" } as const;
  assert.equal(targets(world.plan({ refusals: [refusal] })).length, 1);
  assert.equal(targets(world.plan({ refusals: [refusal], runningCommand: "x" })).length, 0);
});

test("[R35] whatever is asked for and missing, enough is left to serve", () => {
  const input = fc.record({
    marked: fc.uniqueArray(fc.nat(4), { maxLength: 5 }),
    silent: fc.uniqueArray(fc.nat(4), { maxLength: 2 }),
    missingSeconds: fc.constantFrom(10, 400),
    desired: fc.integer({ min: 2, max: 5 }),
  });
  const base = settled();
  const ids = base.ids("storage");
  fc.assert(
    fc.property(input, ({ marked, silent, missingSeconds, desired }) => {
      const world = settled();
      world.mark(...marked.map((place) => ids[place] ?? ""));
      for (const place of silent) {
        world.silent.add(ids[place] ?? "");
        world.condition(ids[place] ?? "", "MissingProcesses", missingSeconds);
      }
      world.changeSpec({ processCounts: { ...counts, storage: desired } });
      const plan = world.plan();
      const chosen = new Set(targets(plan));
      const leaving = removalIds(plan);
      const isGone = (id: string): boolean => world.silent.has(id);
      const left = ids.filter((id) => !isGone(id) && !chosen.has(locality(id)));
      const isTouching = ids.some((id) => chosen.has(locality(id)) && !isGone(id));
      if (isTouching) assert.ok(left.length >= desired - 1, `${left.length} of ${desired}`);
      const isAwaited = silent.some((place) => !leaving.includes(ids[place] ?? ""));
      if (isAwaited && missingSeconds < 300) assert.equal(chosen.size, 0);
    }),
    { seed: 1, numRuns: 40 },
  );
});

test("[R45] a coordinator that skips the exclusion is relieved first", () => {
  const world = settled();
  const id = coordinator(world);
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  const plan = world.pass();
  const [action] = actionsOf(plan, "changeCoordinators");
  assert.equal(action?.addresses.length, 3);
  assert.ok(action.addresses.every((address) => !address.includes(`${id}.`)));
  assert.equal(actionsOf(plan, "removeProcessGroups").length, 0);
  world.later(5);
  const [removal] = actionsOf(world.plan(), "removeProcessGroups");
  assert.deepEqual(
    removal?.groups.map((order) => order.processGroupId),
    [id],
  );
});

test("[R45] its relief waits for a calm database", () => {
  const world = settled();
  const id = coordinator(world);
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  world.change = (status) => {
    if (status.cluster?.recovery_state) {
      status.cluster.recovery_state.seconds_since_last_recovered = 60;
    }
  };
  const plan = world.plan();
  assert.equal(actionsOf(plan, "changeCoordinators").length, 0);
  assert.match(waitOf(plan, "ExclusionPostponed"), new RegExp(`Still a coordinator.*${id}`));
});
