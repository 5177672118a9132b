// Larger volumes in place, and what is said where that is impossible. Rules: spec/volumes.md [VOL1]-[VOL10].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { persistentVolumeClaims, storageClasses } from "../../src/kube/resource.ts";
import { assertAllCopies, recoveries, untilSettled } from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";
import { frugalProcesses, minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";

function sized(storage: string, storageClassName?: string): NonNullable<ClusterSpec["processes"]> {
  const spec = {
    resources: { requests: { storage } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  const volumeClaimTemplate = { metadata: {}, spec };
  return { general: { ...frugalProcesses["general"], volumeClaimTemplate } };
}

interface Shape {
  readonly storage?: number;
  readonly log?: number;
  readonly mode?: "double" | "triple";
  readonly storageClass?: string;
  readonly automationOptions?: ClusterSpec["automationOptions"];
  readonly world?: TestWorldOptions;
}

/** A cluster with volumes of 16G, at rest. */
async function withVolumes(shape: Shape, body: (world: TestWorld) => Promise<void>): Promise<void> {
  const { storage = 3, log = 3, mode = "double", storageClass, automationOptions = {} } = shape;
  await TestWorld.run({ nodes: 9, ...shape.world }, async (world) => {
    for (const [name, more] of [
      ["stiff", {}],
      ["never", { allowVolumeExpansion: true, parameters: { resize: "never" } }],
      ["at-start", { allowVolumeExpansion: true, parameters: { resize: "at-start" } }],
    ] as const) {
      await world.client.create(storageClasses, {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name },
        provisioner: "disk.emulated.foundationdb.org",
        volumeBindingMode: "WaitForFirstConsumer",
        ...more,
      });
    }
    await world.createCluster({
      databaseConfiguration: { redundancy_mode: mode },
      processCounts: { storage, log, stateless: 3 },
      processes: sized("16G", storageClass),
      automationOptions,
    });
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    await body(world);
  });
}

async function claims(world: TestWorld) {
  const labelSelector = "foundationdb.org/fdb-process-group-id";
  return (await world.client.list(persistentVolumeClaims, { namespace, labelSelector })).items;
}

async function sizes(world: TestWorld): Promise<string[]> {
  const found = (await claims(world)).map(({ status }) => String(status?.capacity?.["storage"]));
  return [...new Set(found)].sort();
}

async function podUids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

async function waitOf(world: TestWorld, reason: string) {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((wait) => wait.reason === reason);
}

async function untilWait(world: TestWorld, reason: string, limitMs = 5 * minuteMs) {
  await world.until(async () => (await waitOf(world, reason)) !== undefined, reason, limitMs);
  return waitOf(world, reason);
}

/** How many claims of other fault domains were growing at the same time, at the most. */
async function zonesGrowing(world: TestWorld): Promise<number> {
  const { status } = await world.cluster();
  const zones = new Map(
    (status?.processGroups ?? []).map((group) => [group.processGroupID, group.faultDomain]),
  );
  const growing = (await claims(world)).filter(
    ({ spec, status: now }) =>
      spec?.resources?.requests?.["storage"] !== now?.capacity?.["storage"],
  );
  const label = "foundationdb.org/fdb-process-group-id";
  return new Set(growing.map(({ metadata }) => zones.get(metadata.labels?.[label] ?? ""))).size;
}

test("[VOL1] [VOL2] [VOL6] 50 storage volumes grow under their pods, one fault domain at a time (long)", async () => {
  await withVolumes({ storage: 50, world: { nodes: 12 } }, async (world) => {
    const [pods, before] = [await podUids(world), recoveries(world)];
    const writes = world.requests.length;
    await world.changeSpec({ processes: sized("32G") });
    let most = 0;
    const isDone = async (): Promise<boolean> => {
      most = Math.max(most, await zonesGrowing(world));
      return (await sizes(world)).join() === "32G";
    };
    await world.until(isDone, "all volumes have their size", 30 * minuteMs);
    await world.untilReconciled();
    assert.equal(most, 1, "claims of one fault domain at a time");
    assert.deepEqual(await podUids(world), pods, "every pod is the same one");
    assert.equal(recoveries(world), before, "no recovery");
    assert.deepEqual(await world.events("ReplacingProcesses"), []);
    const patches = world.requests
      .slice(writes)
      .filter(({ verb, resource }) => verb === "patch" && resource === persistentVolumeClaims);
    assert.equal(patches.length, 53, "one write for each claim");
    await assertAllCopies(world);
    const rested = world.requests.length;
    await world.clock.advance(10 * minuteMs);
    const idle = world.writesSince(rested).filter((write) => !write.includes(" leases "));
    assert.deepEqual(idle, []);
  });
});

test("[VOL1] claims that were made larger by hand are taken as they are when the template follows", async () => {
  await withVolumes({ storageClass: "standard" }, async (world) => {
    const pods = await podUids(world);
    for (const { metadata } of await claims(world)) {
      const body = { spec: { resources: { requests: { storage: "32G" } } } };
      const key = { namespace, name: metadata.name ?? "" };
      await world.client.patch(persistentVolumeClaims, key, body, { type: "merge" });
    }
    await world.clock.advance(minuteMs);
    await world.changeSpec({ processes: sized("32G", "standard") });
    await world.untilReconciled(10 * minuteMs);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await podUids(world), pods);
    assert.deepEqual(await sizes(world), ["32G"]);
  });
});

test("[VOL3] a class that cannot grow: replaced, announced before with the reason", async () => {
  await withVolumes({ storageClass: "stiff", world: { nodes: 14 } }, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("32G", "stiff") });
    const told = await untilWait(world, "VolumeChangeAnnounced");
    assert.match(
      told?.message ?? "",
      /cannot be made larger in place\. From .* on, 6 process groups/,
    );
    assert.equal(await waitOf(world, "ActionFailed"), undefined, "no failure is told beside it");
    assert.deepEqual(await podUids(world), pods, "nothing has happened yet");
    await untilSettled(world, 60 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    await assertAllCopies(world);
  });
});

test("[VOL3] a class that learns to grow within the minute: nobody is replaced", async () => {
  await withVolumes({ storageClass: "stiff" }, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("32G", "stiff") });
    await untilWait(world, "VolumeChangeAnnounced");
    const key = { name: "stiff" };
    const body = { allowVolumeExpansion: true };
    await world.client.patch(storageClasses, key, body, { type: "merge" });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    assert.deepEqual(await podUids(world), pods);
  });
});

test("[VOL5] [VOL10] a smaller size is refused, also when a larger one is taken back half-way", async () => {
  await withVolumes({}, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("32G") });
    await world.until(async () => (await sizes(world)).length === 2, "some have grown");
    await world.changeSpec({ processes: sized("16G") });
    const refused = await untilWait(world, "VolumeShrinkRefused");
    assert.match(refused?.message ?? "", /asks for 16G, and a volume cannot be made smaller/);
    await world.clock.advance(20 * minuteMs);
    assert.deepEqual(await podUids(world), pods, "nobody is replaced");
    assert.deepEqual(await sizes(world), ["16G", "32G"]);
    assert.match(await pageOf(world), /automationOptions\.volumeSizeChange to Replace/);
    await world.changeSpec({ processes: sized("32G") });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    assert.deepEqual(await podUids(world), pods);
  });
});

test("[VOL2] [FENCE6] a fenced pod whose file system waits for its start keeps nobody else from growing (long)", async () => {
  const shape = { storage: 5, log: 5, mode: "triple", storageClass: "at-start" } as const;
  await withVolumes({ ...shape, world: { nodes: 12 } }, async (world) => {
    const [fenced] =
      (await world.cluster()).status?.processGroups?.filter(
        ({ processClass }) => processClass === "storage",
      ) ?? [];
    const id = fenced?.processGroupID ?? "";
    await world.changeSpec({ fence: [id] });
    await untilWait(world, "ProcessGroupFenced");
    await world.changeSpec({ processes: sized("32G", "at-start") });
    const isDone = async (): Promise<boolean> =>
      (await claims(world)).every(
        ({ metadata, status }) =>
          metadata.name === `sample-${id}-data` || status?.capacity?.["storage"] === "32G",
      );
    await world.until(isDone, "all others have grown", 300 * minuteMs);
    await world.changeSpec({ fence: null });
    await world.untilReconciled(60 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    await assertAllCopies(world);
  });
});

test("[VOL5] [HIB1] a size that is refused keeps no database from falling asleep, and is told again when it wakes", async () => {
  await withVolumes({}, async (world) => {
    await world.changeSpec({ processes: sized("8G"), hibernate: true });
    const isAsleep = async (): Promise<boolean> => (await world.pods()).length === 0;
    await world.until(isAsleep, "it sleeps", 20 * minuteMs);
    await world.changeSpec({ hibernate: null });
    await untilWait(world, "VolumeShrinkRefused", 10 * minuteMs);
    assert.deepEqual(await sizes(world), ["16G"]);
    await world.clock.advance(5 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[VOL3] [P120] [WIN4] volumes that cannot grow wait for their window without an alarm, and over a sleep", async () => {
  const maintenanceWindows = [{ cron: "0 12 1 1 *", duration: "1h" }];
  const shape = { storageClass: "stiff", automationOptions: { maintenanceWindows } };
  await withVolumes(shape, async (world) => {
    await world.changeSpec({ processes: sized("32G", "stiff") });
    await untilWait(world, "MaintenanceWindowClosed");
    assert.equal(conditionIn((await world.cluster()).status, "Degraded")?.status, "False");
    const pods = await podUids(world);
    await world.clock.advance(150 * minuteMs);
    assert.deepEqual(await podUids(world), pods, "nobody is replaced as failed");
    await world.changeSpec({ hibernate: true });
    const isAsleep = async (): Promise<boolean> => (await world.pods()).length === 0;
    await world.until(isAsleep, "it sleeps", 10 * minuteMs);
    await world.changeSpec({ hibernate: null });
    await untilWait(world, "MaintenanceWindowClosed", 20 * minuteMs);
    assert.deepEqual(await sizes(world), ["16G"]);
    await assertAllCopies(world);
  });
});

test("[VOL2] sizes that change quickly still let one fault domain grow at a time (long)", async () => {
  for (const last of ["64G", "24G"]) {
    await withVolumes({ storage: 6 }, async (world) => {
      await world.changeSpec({ processes: sized("32G") });
      await world.until(async () => (await zonesGrowing(world)) === 1, "the first grows", minuteMs);
      await world.until(async () => (await sizes(world)).includes("32G"), "one has grown");
      await world.until(async () => (await zonesGrowing(world)) === 1, "the next grows", minuteMs);
      await world.changeSpec({ processes: sized(last) });
      let most = 0;
      for (let second = 0; second < 240; second += 1) {
        await world.clock.advance(1_000);
        most = Math.max(most, await zonesGrowing(world));
      }
      assert.equal(most, 1, `on the way to ${last}`);
    });
  }
});

test("[VOL7] [VOL10] what the driver says is told when the size is taken back, too", async () => {
  await withVolumes({ storageClass: "never" }, async (world) => {
    await world.changeSpec({ processes: sized("32G", "never") });
    await untilWait(world, "VolumeGrowthFailed");
    await world.changeSpec({ processes: sized("24G", "never") });
    const refused = await untilWait(world, "VolumeShrinkRefused");
    assert.match(refused?.message ?? "", /that have or are to get 32G/);
    assert.ok(await waitOf(world, "VolumeGrowthFailed"));
    await world.clock.advance(5 * minuteMs);
    assert.equal(await zonesGrowing(world), 1, "the others wait");
  });
});

test("[VOL5] people who want new volumes get them, also smaller ones", async () => {
  const automationOptions = { volumeSizeChange: "Replace" } as const;
  await withVolumes({ automationOptions, world: { nodes: 14 } }, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("8G") });
    await untilSettled(world, 60 * minuteMs);
    assert.deepEqual(await sizes(world), ["8G"]);
    const left = new Set(await podUids(world));
    const stateless = (await world.pods("stateless")).map(({ metadata }) => metadata.uid);
    assert.deepEqual(
      pods.filter((uid) => left.has(uid)),
      stateless.sort(),
    );
    await assertAllCopies(world);
  });
});

test("[VOL8] a driver that resizes at a start: each pod with a volume starts again once, zone by zone (long)", async () => {
  await withVolumes({ storageClass: "at-start" }, async (world) => {
    const pods = new Set(await podUids(world));
    const stateless = new Set((await world.pods("stateless")).map(({ metadata }) => metadata.uid));
    const names = (await world.pods()).map(({ metadata }) => metadata.name).sort();
    await world.changeSpec({ processes: sized("32G", "at-start") });
    await world.untilReconciled(120 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    const after = await world.pods();
    assert.deepEqual(
      after.map(({ metadata }) => metadata.name).sort(),
      names,
      "nobody is replaced",
    );
    for (const { metadata } of after) {
      assert.equal(pods.has(metadata.uid ?? ""), stateless.has(metadata.uid), metadata.name);
    }
    const deletions = world.activities.filter(
      (activity) => activity.type === "action" && activity.action.type === "deletePods",
    );
    assert.equal(deletions.length, 6, "one zone at a time, each once");
    await assertAllCopies(world);
  });
});

/** As a quota on storage does it. */
function quotaOnClaims() {
  let isFull = false;
  const wrapTransport: TestWorldOptions["wrapTransport"] = (transport) => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: async (request) => {
      const isGrowth =
        request.method === "PATCH" && request.path.includes("persistentvolumeclaims");
      if (!isFull || !isGrowth) return transport.request(request);
      const message = 'persistentvolumeclaims "x" is forbidden: exceeded quota: storage';
      const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden" };
      return { status: 403, body: { ...status, message, code: 403 } };
    },
  });
  const fill = (full: boolean): void => {
    isFull = full;
  };
  return { wrapTransport, fill };
}

test("[VOL4] a refusal for another reason replaces nobody", async () => {
  const { wrapTransport, fill } = quotaOnClaims();
  await withVolumes({ world: { nodes: 9, wrapTransport } }, async (world) => {
    const pods = await podUids(world);
    fill(true);
    await world.changeSpec({ processes: sized("32G") });
    const told = await untilWait(world, "ActionFailed");
    assert.match(told?.message ?? "", /Could not ask for 32G in volume claim .*exceeded quota/);
    assert.match(told?.remedy ?? "", /ResourceQuota/);
    await world.clock.advance(20 * minuteMs);
    assert.deepEqual(await podUids(world), pods);
    fill(false);
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await sizes(world), ["32G"]);
    assert.deepEqual(await podUids(world), pods);
  });
});

test("[VOL7] a driver that cannot is told, and other fault domains wait", async () => {
  await withVolumes({ storageClass: "never" }, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("32G", "never") });
    const told = await untilWait(world, "VolumeGrowthFailed");
    assert.match(told?.message ?? "", /does not grow to 32G: .*the pool has no room for it/);
    await world.clock.advance(20 * minuteMs);
    assert.equal(await zonesGrowing(world), 1);
    assert.deepEqual(await sizes(world), ["16G"]);
    assert.deepEqual(await podUids(world), pods);
    assert.match(await pageOf(world), /kubectl describe pvc/);
  });
});

test("[VOL9] a claim that is being deleted and a process group that leaves are left alone", async () => {
  await withVolumes({ storage: 4, world: { nodes: 14 } }, async (world) => {
    const [first] = await world.pods("storage");
    const id = first?.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    const name = `${first?.metadata.name}-data`;
    await world.changeSpec({ processGroupsToRemove: [id], processes: sized("32G") });
    await untilSettled(world, 60 * minuteMs);
    const patched = world.requests.filter(
      (request) => request.verb === "patch" && request.name === name,
    );
    assert.deepEqual(patched, []);
    assert.deepEqual(await sizes(world), ["32G"]);
    await assertAllCopies(world);
  });
});
