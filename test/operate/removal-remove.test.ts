// Who loses pod and volume, and who keeps them. Rules: spec/removal.md [R50]-[R67], [R78]-[R80].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { remedyOf } from "../../src/plan/reasons/registry.ts";
import {
  actionsOf,
  counts,
  emptied,
  locality,
  removed,
  RemovalWorld,
  storages,
  waitOf,
} from "./removal-world.ts";

test("[R50] pod, volume claim and service go in one act", () => {
  const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;
  const { world, ids } = emptied(storages(1), { routing });
  const [id = ""] = ids;
  const [action] = actionsOf(world.plan(), "removeProcessGroups");
  const [order] = action?.groups ?? [];
  const name = world.podNameOf(id);
  assert.deepEqual(
    [order?.processGroupId, order?.pod?.name, order?.pvc?.name, order?.service?.name, order?.proof],
    [id, name, `${name}-data`, name, "certificate"],
  );
});

test("[R50] a stateless process group has no volume to go", () => {
  const { world, ids } = emptied((each) => [each.id("stateless")]);
  const [action] = actionsOf(world.plan(), "removeProcessGroups");
  const [order] = action?.groups ?? [];
  assert.deepEqual(
    [order?.processGroupId, order?.pvc, order?.proof],
    [ids[0], undefined, "certificate"],
  );
});

const deletionTimestamp = "2026-01-01T00:00:00Z";

test("[R51] what is being deleted is not deleted again, and is waited for", () => {
  const { world, ids } = emptied(storages(1));
  const name = world.podNameOf(ids[0] ?? "");
  world.pass();
  assert.deepEqual([world.pods.has(name), world.pvcs.has(`${name}-data`)], [false, false]);
  const { world: other } = emptied(storages(1));
  const pod = other.pods.get(name);
  const claim = other.pvcs.get(`${name}-data`);
  assert.ok(pod !== undefined && claim !== undefined);
  other.pods.set(name, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
  other.pass();
  const [action] = actionsOf(other.plan(), "removeProcessGroups");
  assert.equal(action, undefined, "the volume has gone with the first act");
  assert.equal(other.pvcs.has(`${name}-data`), false);
  const plan = other.plan();
  assert.equal(plan.status.generations?.["hasPendingRemoval"], 2);
});

test("[HALL21] removals that began in two halls go on in one after the other", () => {
  const { world, ids } = emptied(storages(2), {
    automationOptions: { removalMode: "All", waitBetweenRemovalsSeconds: 0 },
  });
  const redundancy_mode = "three_data_hall_fallback";
  world.changeSpec({ databaseConfiguration: { redundancy_mode } });
  const hallOf = (id: string): string => (id === ids[0] ? "az1" : "az2");
  world.change = ({ cluster }) => {
    if (cluster?.configuration) cluster.configuration.redundancy_mode = redundancy_mode;
    for (const process of Object.values(cluster?.processes ?? {})) {
      const id = process.locality?.["instance_id"] ?? "";
      process.locality = { ...process.locality, data_hall: hallOf(id) };
    }
  };
  // Somebody deleted their pods, or a removal that was begun before there were halls.
  for (const id of ids) {
    world.changeGroup(id, { exclusionTimestamp: deletionTimestamp });
    const name = world.podNameOf(id);
    const pod = world.pods.get(name);
    if (pod) world.pods.set(name, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
  }
  const removals: string[][] = [];
  for (let pass = 0; pass < 4; pass += 1) {
    removals.push(removed(world.pass()));
    world.nowMs += 2_000;
  }
  assert.deepEqual(removals.flat().sort(), [...ids].sort());
  assert.ok(removals.every((each) => each.length <= 1));
});

test("[R52] an isolated pod keeps everything", () => {
  const { world, ids } = emptied(storages(1));
  const name = world.podNameOf(ids[0] ?? "");
  const pod = world.pods.get(name);
  assert.ok(pod !== undefined);
  const annotations = {
    ...pod.metadata.annotations,
    "foundationdb.org/isolate-process-group": "true",
  };
  world.pods.set(name, { ...pod, metadata: { ...pod.metadata, annotations } });
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  assert.match(waitOf(plan, "RemovalBlocked"), /isolate-process-group/);
});

test("[R53] two volume claims of one process group stay", () => {
  const { world, ids } = emptied(storages(1));
  const claim = world.pvcs.get(`${world.podNameOf(ids[0] ?? "")}-data`);
  assert.ok(claim !== undefined);
  world.pvcs.set("second", { ...claim, metadata: { ...claim.metadata, name: "second" } });
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  assert.match(waitOf(plan, "RemovalBlocked"), /2 volume claims/);
});

test("[R54] blockRemoval keeps the objects and counts the exclusion as ended", () => {
  const { world, ids } = emptied(storages(2));
  world.changeSpec({ buggify: { blockRemoval: [ids[0] ?? ""] } });
  const plan = world.plan();
  assert.deepEqual(removed(plan), [ids[1]]);
  assert.match(waitOf(plan, "RemovalBlocked"), new RegExp(ids[0] ?? "-"));
  const group = plan.status.processGroups?.find((one) => one.processGroupID === ids[0]);
  assert.notEqual(group?.exclusionTimestamp, undefined);
});

const modes: ["All" | "Zone" | "ProcessGroup" | "None", number][] = [
  ["All", 3],
  ["Zone", 1],
  ["ProcessGroup", 1],
  ["None", 0],
];
for (const [removalMode, count] of modes) {
  test(`[R55] removal mode ${removalMode} takes ${count} of three`, () => {
    const { world } = emptied(storages(3), { automationOptions: { removalMode } });
    const plan = world.plan();
    assert.equal(removed(plan).length, count);
    if (removalMode === "None") assert.match(waitOf(plan, "RemovalBlocked"), /None/);
    else if (count === 1) assert.match(waitOf(plan, "RemovalPending"), /another fault domain/);
  });
}

test("[R56] the next one goes when nothing is left of the one before", () => {
  const { world, ids } = emptied(storages(2));
  assert.equal(removed(world.pass()).length, 1);
  world.later(5);
  assert.equal(removed(world.pass()).length, 1);
  assert.equal(ids.filter((id) => world.pods.has(world.podNameOf(id))).length, 0);
});

test("[R56] while something is left of it, the pause has to be over", () => {
  const { world } = emptied(storages(2));
  const claims = new Map(world.pvcs);
  const [first = ""] = removed(world.pass());
  const name = `${world.podNameOf(first)}-data`;
  const claim = claims.get(name);
  assert.ok(claim !== undefined);
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
  world.later(50);
  const waiting = world.pass();
  assert.deepEqual(removed(waiting), []);
  assert.match(waitOf(waiting, "RemovalPending"), /the removal before is not over/);
  world.later(61);
  assert.equal(removed(world.pass()).length, 1);
});

test("[R56] a process that the database still sees counts as left", () => {
  const { world } = emptied(storages(2));
  const seen = world.database();
  const processes = seen.kind === "seen" ? (seen.status.cluster?.processes ?? {}) : {};
  const [first = ""] = removed(world.pass());
  const lingering = Object.entries(processes).filter(
    ([, process]) => process.locality?.["instance_id"] === first,
  );
  world.change = ({ cluster }) =>
    Object.assign(cluster?.processes ?? {}, Object.fromEntries(lingering));
  world.later(5);
  assert.deepEqual(removed(world.pass()), []);
  world.change = () => {};
  assert.equal(removed(world.pass()).length, 1);
});

test("[R56] a pause of 0 seconds is none", () => {
  const automationOptions = { waitBetweenRemovalsSeconds: 0 };
  const { world } = emptied(storages(2), { automationOptions });
  world.pass();
  world.later(1);
  world.pass();
  world.later(1);
  world.pass();
  world.later(1);
  world.pass();
  assert.equal(world.commands.filter((command) => command.startsWith("remove")).length, 2);
});

test("[R57] the exclusions of all that are gone are taken back together, when nobody is left to go", () => {
  const { world, ids } = emptied(storages(2));
  world.pass();
  world.later(5);
  world.pass();
  assert.equal(world.exclusions.length, 2);
  world.later(5);
  world.pass();
  assert.equal(world.commands.filter((command) => command.startsWith("include")).length, 1);
  assert.deepEqual(world.exclusions, []);
  world.later(5);
  world.pass();
  assert.ok(ids.every((id) => !world.ids().includes(id)));
});

test("[R58] a volume that is left of a removal goes without a pause", () => {
  const { world, ids } = emptied(storages(2));
  const claims = new Map(world.pvcs);
  const [first = ""] = removed(world.pass());
  const name = `${world.podNameOf(first)}-data`;
  const claim = claims.get(name);
  assert.ok(claim !== undefined && ids.includes(first));
  world.pvcs.set(name, claim);
  world.verified.set(first, { targets: [locality(first)], completedMs: world.nowMs });
  world.later(1);
  assert.deepEqual(removed(world.plan()), [first]);
});

test("[R59] who is not excluded, or not in two statuses, keeps everything", () => {
  const { world, ids } = emptied(storages(1));
  const [id = ""] = ids;
  const { statuses } = world.snapshot();
  const plan = world.plan({ statuses: statuses.slice(0, 1) });
  assert.deepEqual(removed(plan), []);
  assert.match(waitOf(plan, "CertificateMissing"), new RegExp(`${id}; a second fresh status`));
  assert.deepEqual(removed(world.plan()), [id]);
});

test("[R60] while data moves, the wait names what is still there", () => {
  const { world, ids } = emptied(storages(1));
  world.emptied.clear();
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  assert.match(waitOf(plan, "ExclusionRunning"), new RegExp(`${ids[0]}; .*there: storage`));
});

test("[R61] the database must confirm the exclusion of a process that does not report", () => {
  const { world, ids } = emptied(storages(1));
  const [id = ""] = ids;
  world.silent.add(id);
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  assert.deepEqual(plan.databaseQuestions, [
    { type: "verifyExclusion", processGroupId: id, targets: [locality(id)] },
  ]);
  assert.match(waitOf(plan, "CertificateMissing"), /has not confirmed/);
  world.verified.set(id, { targets: [locality(id)], completedMs: world.nowMs - 1000 });
  assert.deepEqual(removed(world.plan()), [id]);
});

test("[R61] nothing is asked about a process that reports or is not excluded", () => {
  const { world, ids } = emptied(storages(1));
  world.emptied.clear();
  assert.deepEqual(world.plan().databaseQuestions, []);
  world.silent.add(ids[0] ?? "");
  world.exclusions.length = 0;
  assert.deepEqual(world.plan().databaseQuestions, []);
});

test("[R62] who is proven to be empty counts as excluded and gets no new pod", () => {
  const { world, ids } = emptied(storages(2));
  const plan = world.pass();
  for (const group of plan.status.processGroups ?? []) {
    const isProven = ids.includes(group.processGroupID);
    assert.equal(group.exclusionTimestamp !== undefined, isProven);
  }
  for (const id of ids) world.pods.delete(world.podNameOf(id));
  assert.ok(world.plan().actions.every((action) => action.type !== "createPod"));
});

test("[R63] a coordinator keeps everything, also when it skips the exclusion", () => {
  const world = RemovalWorld.settled({ processCounts: counts });
  const id = world.id("log");
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.locality?.["instance_id"] === id) process.roles = [{ role: "coordinator" }];
    }
  };
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  world.pass();
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  assert.match(waitOf(plan, "RemovalPending"), new RegExp(`${id}; it is a coordinator`));
});

test("[R64] without exclusion it goes at once, and a warning says so", () => {
  const world = RemovalWorld.settled({ processCounts: counts });
  const id = world.id("storage");
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  const plan = world.plan();
  const [action] = actionsOf(plan, "removeProcessGroups");
  assert.deepEqual(
    action?.groups.map(({ processGroupId, proof }) => [processGroupId, proof]),
    [[id, "exclusionSkipped"]],
  );
  const event = plan.events.find(({ reason }) => reason === "RemovingProcesses");
  assert.equal(event?.type, "Warning");
  assert.match(event?.message ?? "", new RegExp(`not excluded before: ${id}`));
});

test("[R111] one that lost its pod gets it back while the database misses copies, and goes afterwards", () => {
  const world = RemovalWorld.settled({ processCounts: counts });
  const id = world.id("storage");
  world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
  world.pods.delete(world.podNameOf(id));
  world.silent.add(id);
  assert.deepEqual(removed(world.plan()), [id], "all data has its copies elsewhere");
  world.change = (status) => {
    const tracker = status.cluster?.data?.team_trackers?.[0];
    if (tracker?.state) tracker.state.min_replicas_remaining = 1;
  };
  const plan = world.plan();
  assert.deepEqual(removed(plan), []);
  const made = plan.actions.flatMap((action) =>
    action.type === "createPod" ? [action.processGroupId] : [],
  );
  assert.ok(made.includes(id));
  world.change = () => {};
  assert.deepEqual(removed(world.plan()), [id]);
});

test("[R111] also when the resource has forgotten that it named it", () => {
  const world = RemovalWorld.settled({ processCounts: counts });
  const id = world.id("storage");
  world.mark(id);
  world.changeGroup(id, { exclusionSkipped: true, exclusionTimestamp: "2026-01-01T00:00:00Z" });
  world.pods.delete(world.podNameOf(id));
  world.silent.add(id);
  world.change = (status) => {
    const tracker = status.cluster?.data?.team_trackers?.[0];
    if (tracker?.state) tracker.state.min_replicas_remaining = 1;
  };
  const made = world
    .plan()
    .actions.flatMap((action) => (action.type === "createPod" ? [action.processGroupId] : []));
  assert.ok(made.includes(id));
});

test("[R65] a tester goes at once and leaves without inclusion", () => {
  const world = RemovalWorld.settled({ processCounts: { ...counts, test: 1 } });
  const id = world.id("test");
  world.changeSpec({ processCounts: counts });
  // The mark comes first, the skip with the next look at the group.
  world.pass();
  assert.deepEqual(removed(world.pass()), [id]);
  world.later(5);
  const plan = world.pass();
  assert.ok(!world.ids().includes(id));
  assert.equal(actionsOf(plan, "includeProcesses").length, 0);
});

const degradations: [string, RegExp, (world: RemovalWorld) => void][] = [
  [
    "copies of data are missing",
    /1 of 2 copies/,
    (world) => {
      world.change = (status) => {
        const tracker = status.cluster?.data?.team_trackers?.[0];
        if (tracker?.state) tracker.state.min_replicas_remaining = 1;
      };
    },
  ],
  [
    "a log is missing",
    /log is missing/,
    (world) => {
      world.change = (status) => {
        const set = status.cluster?.logs?.[0];
        if (set) set.log_fault_tolerance = 0;
      };
    },
  ],
  [
    "a coordinator cannot be reached",
    /coordinator .* cannot be reached/,
    (world) => {
      world.change = (status) => {
        const found = status.client?.coordinators?.coordinators?.[0];
        if (found) found.reachable = false;
      };
    },
  ],
];
for (const [title, text, degrade] of degradations) {
  test(`[R66] nothing of which it is not known that it holds no data goes while ${title}`, () => {
    const { world, ids } = emptied((each) => [...storages(1)(each), each.id("stateless")]);
    degrade(world);
    assert.deepEqual(removed(world.plan()), []);
    const [, stateless = ""] = ids;
    const podUid = world.snapshot().pods.get(world.podNameOf(stateless))?.metadata.uid ?? "";
    const seen = { podUid, firstSeenMs: 0, lastSeenMs: 0, isSettled: true };
    const histories = new Map([[stateless, { ...seen, shown: "nothing" } as const]]);
    const plan = world.plan({ histories });
    assert.deepEqual(removed(plan), [stateless]);
    assert.match(waitOf(plan, "FaultToleranceReduced"), text);
    const held = new Map([[stateless, { ...seen, shown: "data" } as const]]);
    assert.deepEqual(removed(world.plan({ histories: held })), []);
  });
  test(`[R66] nothing goes while ${title}`, () => {
    const { world } = emptied(storages(1));
    degrade(world);
    const plan = world.plan();
    assert.deepEqual(removed(plan), []);
    assert.match(waitOf(plan, "FaultToleranceReduced"), text);
  });
}

test("[R66] nothing goes, is excluded or asked while the database is not available", () => {
  const { world, ids } = emptied(storages(1));
  world.silent.add(ids[0] ?? "");
  world.change = (status) => {
    if (status.client?.database_status) status.client.database_status.available = false;
  };
  const plan = world.plan();
  assert.ok(plan.actions.every((action) => action.type !== "removeProcessGroups"));
  assert.equal(actionsOf(plan, "excludeProcesses").length, 0);
  assert.deepEqual(plan.databaseQuestions, []);
  assert.match(waitOf(plan, "RemovalPending"), /not available/);
});

test("[R78] a headless service stays while coordinators are known by its names", () => {
  const world = RemovalWorld.settled({ processCounts: counts });
  world.changeSpec({ routing: { useDNSInClusterFile: false } });
  const plan = world.plan();
  assert.match(waitOf(plan, "ServiceSurplus"), /coordinator .* is known by a name/);
  assert.ok(plan.actions.every((action) => action.type !== "deleteService"));
});

test("[R78] a headless service goes when nobody needs its names any more", () => {
  const routing = { useDNSInClusterFile: false };
  const world = RemovalWorld.settled({ processCounts: counts, routing });
  const ownerReferences = [
    {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      name: "sample",
      uid: "cluster-uid",
    },
  ];
  const metadata = { name: "sample", namespace: "default", uid: "own", ownerReferences };
  world.services.set("sample", { apiVersion: "v1", kind: "Service", metadata });
  const deletions = (): number =>
    world.plan().actions.filter((action) => action.type === "deleteService").length;
  assert.equal(deletions(), 1);
  world.silent.add(world.id("stateless"));
  assert.equal(deletions(), 0, "a process that is away may come back with an old cluster file");
  assert.match(waitOf(world.plan(), "ServiceSurplus"), /may still look for coordinators/);
});

test("[R78] a service of somebody else stays", () => {
  const routing = { useDNSInClusterFile: false };
  const world = RemovalWorld.settled({ processCounts: counts, routing });
  const metadata = { name: "sample", namespace: "default", uid: "other" };
  world.services.set("sample", { apiVersion: "v1", kind: "Service", metadata });
  const plan = world.plan();
  assert.ok(plan.actions.every((action) => action.type !== "deleteService"));
  assert.match(waitOf(plan, "ServiceNotOwned"), /does not belong/);
});

test("[R79] with services for public addresses each goes with its process group", () => {
  const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;
  const { world, ids } = emptied(storages(1), { routing });
  const before = world.services.size;
  world.pass();
  assert.equal(world.services.size, before - 1);
  assert.ok(!world.services.has(world.podNameOf(ids[0] ?? "")));
});

test("[R80] every wait on the way names process group and remedy", () => {
  const { world, ids } = emptied(storages(2));
  world.emptied.delete(ids[0] ?? "");
  for (let count = 0; count < 8; count += 1) {
    for (const wait of world.pass().waits) {
      assert.ok(
        ids.some((id) => wait.message.includes(id)),
        wait.message,
      );
      assert.ok((wait.remedy ?? remedyOf(wait.reason)).length > 10);
    }
    world.later(20);
  }
});

test("[R67] with more to lose than the database can bear, one fault domain goes at a time", () => {
  const world = RemovalWorld.settled({
    processCounts: counts,
    automationOptions: { removalMode: "All" },
  });
  const [first = "", second = "", third = ""] = world.ids("storage");
  world.emptied.add(third);
  world.exclusions.push({ locality: locality(third) });
  world.changeSpec({
    processCounts: { ...counts, storage: 2 },
    processGroupsToRemove: [third],
    processGroupsToRemoveWithoutExclusion: [first, second],
  });
  const plan = world.pass();
  assert.deepEqual(removed(plan), [third]);
  assert.match(waitOf(plan, "BudgetExhausted"), new RegExp(`${first}, ${second} and ${third}`));
  world.later(5);
  assert.deepEqual(removed(world.plan()), [first]);
});
