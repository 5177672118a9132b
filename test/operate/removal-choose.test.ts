// Which process groups go: by hand, by shrinking, by misconfiguration. Rules: spec/removal.md [R5]-[R9], [R20]-[R26], [R113].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { remedyOf } from "../../src/plan/reasons/registry.ts";
import fc from "fast-check";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import { actionsOf, removalIds, RemovalWorld, waitOf } from "./removal-world.ts";

const counts = { storage: 5, log: 4, stateless: 3 };

function settled(spec: Partial<ClusterSpec> = {}): RemovalWorld {
  return RemovalWorld.settled({ processCounts: counts, ...spec });
}

function shrink(world: RemovalWorld, change: Partial<Record<string, number>>): void {
  world.changeSpec({ processCounts: { ...counts, ...change } });
}

test("[R20] a class of the right size loses nobody", () => {
  assert.deepEqual(removalIds(settled().plan()), []);
});

test("[R20] a class that is too large marks its surplus and tells it", () => {
  const world = settled();
  shrink(world, { storage: 4 });
  const plan = world.plan();
  assert.equal(removalIds(plan).length, 1);
  assert.match(removalIds(plan)[0] ?? "", /^storage-/);
  const event = plan.events.find(({ reason }) => reason === "ShrinkingProcesses");
  assert.equal(event?.message, `Removing 1 storage process: ${removalIds(plan)[0]}`);
});

test("[R20] two classes shrink at once, and a class that is not wanted goes altogether", () => {
  const world = settled();
  shrink(world, { storage: 3, log: 3, stateless: -1 });
  const ids = removalIds(world.plan());
  const of = (name: string): number => ids.filter((id) => id.startsWith(`${name}-`)).length;
  assert.deepEqual([of("storage"), of("log"), of("stateless")], [2, 1, 3]);
});

test("[R20] who is marked already counts as gone", () => {
  const world = settled();
  const marked = world.id("storage", 4);
  world.changeSpec({ processGroupsToRemove: [marked], processCounts: { ...counts, storage: 4 } });
  assert.deepEqual(removalIds(world.plan()), [marked]);
});

test("[R21] process groups of other classes stay, also when they do not report", () => {
  const world = settled();
  const silent = world.id("log");
  world.silent.add(silent);
  shrink(world, { storage: 4 });
  assert.ok(removalIds(world.plan()).every((id) => id.startsWith("storage-")));
});

test("[R22] who does not report goes first, then who is in trouble", () => {
  const world = settled();
  const [, second = "", third = ""] = world.ids("storage");
  world.silent.add(second);
  shrink(world, { storage: 4 });
  assert.deepEqual(removalIds(world.plan()), [second]);
  world.exclusions.push({ locality: `locality_instance_id:${third}` });
  shrink(world, { storage: 3 });
  assert.deepEqual(removalIds(world.plan()).sort(), [second, third].sort());
});

test("[R23] of two in one zone one goes", () => {
  const world = settled();
  const [first = "", second = ""] = world.ids("storage");
  world.change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      const id = process.locality?.["instance_id"];
      if (id === first || id === second) process.locality = { ...process.locality, zoneid: "z" };
    }
  };
  shrink(world, { storage: 4 });
  const ids = removalIds(world.plan());
  assert.equal(ids.length, 1);
  assert.ok(ids[0] === first || ids[0] === second);
});

test("[R24] coordinators stay where the spread leaves a choice", () => {
  const world = settled();
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const plain = Object.values(seen.status.cluster?.processes ?? {})
    .filter(({ class_type, roles }) => class_type === "log" && roles?.length === 1)
    .map(({ locality }) => locality?.["instance_id"]);
  assert.equal(plain.length, 1);
  shrink(world, { log: 3 });
  assert.deepEqual(removalIds(world.plan()), plain);
});

test("[R24] processes with roles stay where the spread leaves a choice", () => {
  for (const place of [0, 1, 2]) {
    const world = settled();
    const idle = world.id("stateless", place);
    world.emptied.add(idle);
    shrink(world, { stateless: 2 });
    assert.deepEqual(removalIds(world.plan()), [idle]);
  }
});

test("[R25] without a fit status nobody is chosen", () => {
  const world = settled();
  shrink(world, { storage: 3 });
  world.isDatabaseReachable = false;
  assert.deepEqual(removalIds(world.plan()), []);
  assert.match(waitOf(world.plan(), "ShrinkPending"), /storage.*does not answer/);
  world.isDatabaseReachable = true;
  world.change = (status) => {
    if (status.client?.database_status) status.client.database_status.available = false;
  };
  assert.deepEqual(removalIds(world.plan()), []);
});

test("[R26] a status from before our own last act is no base for a choice", () => {
  const world = settled();
  shrink(world, { storage: 3 });
  world.lastWriteMs = world.nowMs + 1;
  assert.deepEqual(removalIds(world.plan()), []);
  assert.match(waitOf(world.plan(), "ShrinkPending"), /older than/);
});

test("[R23] whatever the zones are, the rest is spread as far as it can be", () => {
  const world = settled({ processCounts: { storage: 8, log: 4, stateless: 3 } });
  const ids = world.ids("storage");
  fc.assert(
    fc.property(
      fc.array(fc.nat(3), { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 1, max: 7 }),
      (zones, storage) => {
        world.change = (status) => {
          for (const process of Object.values(status.cluster?.processes ?? {})) {
            const place = ids.indexOf(process.locality?.["instance_id"] ?? "");
            if (place < 0) continue;
            process.locality = { ...process.locality, zoneid: `zone-${zones[place]}` };
          }
        };
        world.changeSpec({ processCounts: { storage, log: 4, stateless: 3 } });
        const leaving = new Set(removalIds(world.plan()));
        const kept = ids.flatMap((id, place) => (leaving.has(id) ? [] : [zones[place]]));
        assert.equal(kept.length, storage);
        assert.equal(new Set(kept).size, Math.min(storage, new Set(zones).size));
      },
    ),
    { seed: 1, numRuns: 40 },
  );
});

const options = (change: ClusterSpec["automationOptions"]): Partial<ClusterSpec> => ({
  automationOptions: change,
});

const replaced: [string, Partial<ClusterSpec>, RegExp | undefined][] = [
  ["another prefix", { processGroupIDPrefix: "dc1" }, /./],
  ["services for public addresses", { routing: { publicIPSource: "service" } }, /./],
  ["two servers in a storage pod", { storageServersPerPod: 2 }, /^storage/],
  ["two servers in a log pod", { logServersPerPod: 2 }, /^log/],
  ["another image type", { imageType: "split" }, /./],
  ["another IP family", { routing: { podIPFamily: 4 } }, /./],
  ["a larger volume for storage", { processes: { storage: volume("256G") } }, /^storage/],
  [
    "another node selector",
    { processes: { log: template({ nodeSelector: { disk: "fast" } }) } },
    /^log/,
  ],
  [
    "a changed template of logs",
    { processes: { log: template({ priorityClassName: "high" }) } },
    /^log/,
  ],
  [
    "a changed template of storage",
    { processes: { storage: template({ priorityClassName: "high" }) } },
    undefined,
  ],
  [
    "a changed template of storage with strategy Replace",
    {
      processes: { storage: template({ priorityClassName: "high" }) },
      ...options({ podUpdateStrategy: "Replace" }),
    },
    /^storage/,
  ],
  [
    "a changed template of logs with strategy Delete",
    {
      processes: { log: template({ priorityClassName: "high" }) },
      ...options({ podUpdateStrategy: "Delete" }),
    },
    undefined,
  ],
];

function template(spec: object) {
  return { podTemplate: { spec: { containers: [], ...spec } } };
}

function volume(storage: string) {
  const spec = { resources: { requests: { storage } } };
  return { volumeClaimTemplate: { metadata: {}, spec } };
}

for (const [title, change, ids] of replaced) {
  const rule = /prefix|services|servers|volume/.test(title) ? "R5" : "R7";
  test(`[${rule}] ${title} replaces ${ids === undefined ? "nothing" : `what matches ${ids}`}`, () => {
    const world = settled();
    world.changeSpec(change);
    const expected = ids === undefined ? [] : world.ids().filter((id) => ids.test(id));
    // A changed volume is announced first.
    if (title.includes("volume")) world.pass();
    world.nowMs += 60_000;
    assert.deepEqual(removalIds(world.plan()), expected);
  });
}

test("[R99] a changed volume template is announced a minute before it replaces, and can be taken back", () => {
  const world = settled();
  const claimsOf = (size: string) => world.changeSpec({ processes: { storage: volume(size) } });
  claimsOf("256G");
  const first = world.pass();
  assert.deepEqual(removalIds(first), []);
  const [told] = first.waits.filter(({ reason }) => reason === "VolumeChangeAnnounced");
  assert.equal(told?.event?.type, "Warning");
  assert.match(
    told?.event?.message ?? "",
    /^volumeClaimTemplate has changed\. From \S+Z on, 5 process groups are replaced, and all data/,
  );
  world.nowMs += 59_000;
  const second = world.pass();
  assert.deepEqual(removalIds(second), []);
  assert.ok(second.waits.some(({ reason }) => reason === "VolumeChangeAnnounced"));
  assert.match(remedyOf("VolumeChangeAnnounced"), /put volumeClaimTemplate back before that time/);
  claimsOf("128G");
  world.nowMs += 10_000;
  const back = world.pass();
  assert.deepEqual([removalIds(back), back.waits], [[], []]);
  claimsOf("256G");
  world.pass();
  world.nowMs += 60_000;
  const before = world.ids("storage");
  assert.deepEqual(removalIds(world.pass()), before);
});

test("[R5] a volume claim under another name replaces its process group", () => {
  const world = settled();
  const name = `${world.podNameOf(world.id("storage"))}-data`;
  const claim = world.pvcs.get(name);
  assert.ok(claim !== undefined);
  world.pvcs.set("other", { ...claim, metadata: { ...claim.metadata, name: "other" } });
  assert.deepEqual(removalIds(world.plan()), [world.id("storage")]);
});

test("[R102] a copy of a volume claim, with its labels, replaces nobody", () => {
  const world = settled();
  const claim = world.pvcs.get(`${world.podNameOf(world.id("storage"))}-data`);
  assert.ok(claim !== undefined);
  const { ownerReferences: _, ...metadata } = claim.metadata;
  world.pvcs.set("copy", { ...claim, metadata: { ...metadata, name: "copy" } });
  assert.deepEqual(removalIds(world.plan()), []);
});

test("[R5] without pod nobody is replaced: the new pod will be right", () => {
  const world = settled();
  world.pods.delete(world.podNameOf(world.id("log")));
  world.changeSpec({ processes: { log: template({ nodeSelector: { disk: "fast" } }) } });
  assert.deepEqual(removalIds(world.plan()), world.ids("log").slice(1));
});

const requests = (cpu: string) => ({
  podTemplate: {
    spec: {
      containers: [{ name: "foundationdb", resources: { requests: { cpu, memory: "1Gi" } } }],
    },
  },
});

test("[R6] more requests replace where that is wanted, fewer never do", () => {
  const strategy = options({ podUpdateStrategy: "Delete" });
  const world = settled({ processes: { general: requests("1") }, ...strategy });
  world.changeSpec({ processes: { general: requests("2") } });
  assert.deepEqual(removalIds(world.plan()), []);
  world.changeSpec({ replaceInstancesWhenResourcesChange: true });
  assert.deepEqual(removalIds(world.plan()), world.ids());
  world.changeSpec({ processes: { general: requests("500m") } });
  assert.deepEqual(removalIds(world.plan()), []);
});

test("[R8] another user of the containers replaces only with the operator's option", () => {
  const world = settled(options({ podUpdateStrategy: "Delete" }));
  world.changeSpec({ processes: { storage: template({ securityContext: { runAsUser: 7 } }) } });
  assert.deepEqual(removalIds(world.plan()), []);
  const plan = world.plan({
    options: { ...defaultPlanOptions, replacesOnSecurityContextChange: true },
  });
  assert.deepEqual(removalIds(plan), world.ids("storage"));
});

test("[R7] a pod that is being deleted comes back as specified, so its group stays", () => {
  const world = settled();
  const id = world.id("log");
  const pod = world.pods.get(world.podNameOf(id));
  assert.ok(pod !== undefined);
  const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  world.pods.set(world.podNameOf(id), { ...pod, metadata });
  world.changeSpec({ processes: { log: template({ priorityClassName: "high" }) } });
  assert.deepEqual(removalIds(world.plan()), world.ids("log").slice(1));
  world.changeSpec({ processGroupIDPrefix: "dc1" });
  assert.ok(removalIds(world.plan()).includes(id));
});

test("[R9] the limit holds replacements back and says so", () => {
  const prefix = { processGroupIDPrefix: "dc1" };
  const world = settled();
  world.changeSpec({ ...prefix, ...options({ maxConcurrentReplacements: 2 }) });
  assert.equal(removalIds(world.plan()).length, 2);
  assert.match(waitOf(world.plan(), "ReplacementQueued"), /and 7 more must be replaced.*allows 2/);
  world.changeSpec({ ...prefix, ...options({ maxConcurrentReplacements: 0 }) });
  assert.equal(removalIds(world.plan()).length, 0);
  world.mark(world.id("storage"));
  world.changeSpec({ ...prefix, ...options({ maxConcurrentReplacements: 2 }) });
  assert.equal(removalIds(world.plan()).length, 2);
});

test("[R9] nothing begins during an incompatible upgrade or a change of TLS", () => {
  const world = settled();
  world.changeSpec({ processGroupIDPrefix: "dc1", version: "7.4.1" });
  assert.deepEqual(removalIds(world.plan()), []);
  assert.match(waitOf(world.plan(), "ReplacementPostponed"), /version 7\.4\.1/);
  const other = settled();
  other.changeSpec({ processGroupIDPrefix: "dc1", mainContainer: { enableTls: true } });
  assert.deepEqual(removalIds(other.plan()), []);
  assert.match(waitOf(other.plan(), "ReplacementPostponed"), /TLS/);
});

test("[R9] [T52] what a change of TLS waits for goes first, and the others are named", () => {
  const world = settled();
  const id = world.id("log");
  const name = world.podNameOf(id);
  const pod = structuredClone(world.pods.get(name));
  assert.ok(pod?.spec !== undefined);
  for (const container of pod.spec.containers) {
    container.env = (container.env ?? []).filter((one) => one.name !== "FDB_MACHINE_ID");
  }
  world.pods.set(name, pod);
  world.changeSpec({ processGroupIDPrefix: "dc1", mainContainer: { enableTls: true } });
  const plan = world.plan();
  assert.deepEqual(removalIds(plan), [id]);
  const held = waitOf(plan, "ReplacementPostponed");
  assert.match(held, /and \d+ more will be replaced later: TLS is being switched/);
  assert.ok(!held.includes(id));
});

const states: readonly [string, (status: DatabaseStatus) => void, boolean][] = [
  ["waits for logs of its last generation", recovering("locking_coordinated_state"), true],
  ["begins to recover", recovering("reading_coordinated_state"), true],
  ["lacks a majority of its coordinators", withoutQuorum, true],
  ["recruits, and may lack just them", recovering("recruiting_transaction_servers"), false],
];
for (const [what, change, isHeld] of states) {
  test(`[R113] ${isHeld ? "only stateless" : "all"} processes are replaced while the database ${what}`, () => {
    const world = settled();
    world.change = change;
    world.changeSpec({ processGroupIDPrefix: "dc1" });
    const plan = world.plan();
    const all = ["log", "stateless", "storage"].flatMap((name) => world.ids(name));
    assert.deepEqual(removalIds(plan).sort(), isHeld ? world.ids("stateless") : all);
    const fresh = plan.status.processGroups?.map(({ processGroupID }) => processGroupID) ?? [];
    assert.equal(
      fresh.some((id) => /^dc1-(log|storage)/.test(id)),
      !isHeld,
    );
    if (isHeld) assert.match(waitOf(plan, "ReplacementPostponed"), /later: the database is not/);
  });
}

for (const isAsked of [true, false]) {
  test(`[R113] so it is where the status was lost, and ${isAsked ? "the coordinators are silent" : "nobody was asked yet"}`, () => {
    const world = settled();
    const { connectionString, processGroups } = world.cluster.status ?? {};
    world.cluster = { ...world.cluster, status: { connectionString, processGroups } };
    world.change = withoutQuorum;
    if (!isAsked) {
      world.database = () => ({ kind: "missing", reason: "Asking", message: "", sinceMs: 0 });
    }
    world.changeSpec({ processGroupIDPrefix: "dc1" });
    assert.deepEqual(removalIds(world.plan()).sort(), world.ids("stateless"));
  });
}

test("[R113] [S101] who is about to lose its volume is replaced also while the database is down", () => {
  const world = settled();
  const id = world.id("storage");
  const name = `${world.podNameOf(id)}-data`;
  const claim = world.pvcs.get(name);
  assert.ok(claim);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
  world.change = recovering("locking_coordinated_state");
  world.changeSpec({ processGroupIDPrefix: "dc1" });
  assert.deepEqual(removalIds(world.plan()).sort(), [...world.ids("stateless"), id].sort());
});

function withoutQuorum(status: DatabaseStatus): void {
  recovering("reading_coordinated_state")(status);
  const coordinators = status.client?.coordinators;
  if (coordinators !== undefined) coordinators.quorum_reachable = false;
}

function recovering(name: string): (status: DatabaseStatus) => void {
  return ({ client, cluster }) => {
    if (client !== undefined) client.database_status = { available: false, healthy: false };
    if (cluster !== undefined) cluster.recovery_state = { name, active_generations: 1 };
  };
}

test("[S101] who is about to lose its volume goes before those that were changed", () => {
  const world = settled();
  const id = world.ids("storage").at(-1) ?? "";
  const name = `${world.podNameOf(id)}-data`;
  const claim = world.pvcs.get(name);
  assert.ok(claim);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
  world.changeSpec({
    processGroupIDPrefix: "dc1",
    ...options({ maxConcurrentReplacements: 1 }),
  });
  assert.deepEqual(removalIds(world.plan()), [id]);
});

test("[R9] a limit of 0 is no wait that ends by itself", () => {
  const world = settled();
  world.changeSpec({ processGroupIDPrefix: "dc1", ...options({ maxConcurrentReplacements: 0 }) });
  const wait = world.plan().waits.find(({ reason }) => reason === "ReplacementLimited");
  assert.match(wait?.remedy ?? "", /^None is replaced while .*maxConcurrentReplacements is 0/);
});

test("[R9] every class gets its new process groups in the same pass", () => {
  const world = settled();
  world.changeSpec({ processGroupIDPrefix: "dc1" });
  const plan = world.plan();
  const fresh = plan.status.processGroups?.filter((one) => one.removalTimestamp === undefined);
  assert.equal(fresh?.length, 12);
  assert.ok(fresh.every((one) => one.processGroupID.startsWith("dc1-")));
  assert.equal(actionsOf(plan, "excludeProcesses").length, 0);
});
