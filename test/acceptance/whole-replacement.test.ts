// Checklist: process groups that go and come in whole worlds.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { persistentVolumeClaims, pods, storageClasses } from "../../src/kube/resource.ts";
import { standardStorageClass } from "../../src/sim/standard-storage.ts";
import { commandsOf, excluded, untilSettled } from "../world/removal-harness.ts";
import { hourMs, minuteMs } from "../world/world-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";
import { long, shared } from "./checklist-case.ts";
import { excludeByHand, includeByHand } from "./hands.ts";
import {
  coordinatorId,
  coordinators,
  cut,
  firstOf,
  groupOf,
  hold,
  idsOf,
  life,
  nameOf,
  namespace,
  podOf,
  release,
  template,
  uidsOf,
} from "./life.ts";

const { item, together } = long;

const replaced = shared(async () => {
  const found = {
    id: "",
    pods: [] as string[],
    coordinators: [] as readonly string[],
    ids: [] as string[],
  };
  await life({}, async (world) => {
    found.id = await coordinatorId(world);
    await world.changeSpec({ processGroupsToRemove: [found.id] });
    await untilSettled(world);
    found.pods = (await world.pods()).map(nameOf);
    found.coordinators = await coordinators(world);
    found.ids = await idsOf(world);
  });
  return found;
});
item("A07.1", async () => {
  const found = await replaced();
  assert.equal(found.pods.length, 9);
  assert.ok(!found.pods.some((name) => name.endsWith(found.id)));
});
item("A07.2", async () => {
  const found = await replaced();
  assert.equal(found.coordinators.length, 3);
  assert.ok(!found.coordinators.some((text) => text.includes(found.id)));
});
item("A07.3", async () => {
  const found = await replaced();
  assert.ok(!found.ids.includes(found.id));
});

/** The group goes, and one of its objects sticks. */
function stuck(kind: "pod" | "pvc"): Promise<void> {
  return life({}, async (world) => {
    const id = await coordinatorId(world);
    const name = nameOf(await podOf(world, id));
    const held = kind === "pod" ? name : `${name}-data`;
    await hold(world, kind, held);
    await world.changeSpec({ processGroupsToRemove: [id] });
    await world.untilReconciled(15 * minuteMs);
    await world.clock.advance(2 * minuteMs);
    const { status, metadata } = await world.cluster();
    assert.equal(status?.generations?.reconciled, metadata.generation);
    assert.equal(status?.generations?.hasPendingRemoval, metadata.generation);
    assert.deepEqual(await excluded(world), [`locality_instance_id:${id}`]);
    await release(world, kind, held);
    await untilSettled(world);
    assert.deepEqual(await excluded(world), []);
  });
}
together(["A08.1", "F01.18"], () => stuck("pod"));
together(["A08.2", "F01.22"], () => stuck("pvc"));

async function skipped(world: TestWorld): Promise<void> {
  const id = await firstOf(world, "storage");
  await world.changeSpec({ skip: true, processGroupsToRemove: [id] });
  const mark = world.requests.length;
  await world.clock.advance(10 * minuteMs);
  // That it is left alone is all that is written.
  assert.deepEqual(world.writesSince(mark), ["update foundationdbclusters/status sample"]);
  assert.ok((await idsOf(world)).includes(id));
}
together(["A09.1", "F01.10"], () => life({}, skipped));
item("A09.2", () =>
  life({}, async (world) => {
    // A pod that no node takes never has an address.
    const processCounts = { storage: 4, log: 3, stateless: 3 };
    const huge = template({ spec: { nodeSelector: { "example.org/none": "1" } } });
    await world.changeSpec({ processCounts, processes: { storage: huge["general"] } });
    await world.clock.advance(minuteMs);
    const pending = (await world.pods("storage")).find((pod) => pod.status?.podIP === undefined);
    assert.ok(pending);
    const id = pending.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
    await world.changeSpec({ processGroupsToRemove: [id], processes: { storage: null } });
    await untilSettled(world, 90 * minuteMs);
    assert.ok(!(await idsOf(world)).includes(id));
    assert.deepEqual(await excluded(world), []);
    assert.equal((await world.pods("storage")).length, 4);
  }),
);
item("A09.3", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "storage");
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    await untilSettled(world);
    assert.ok(!(await idsOf(world)).includes(id));
    assert.deepEqual(commandsOf(world, "excludeProcesses"), []);
  }),
);

const soon = (more: object = {}): Partial<ClusterSpec> => ({
  automationOptions: { replacements: { failureDetectionTimeSeconds: 120, ...more } },
});
/** A pod that nobody reaches any more is given up after a while. */
function partitioned(count: number): Promise<void> {
  return life(
    soon(),
    async (world) => {
      const lost = (await world.pods("stateless")).slice(0, count);
      const gone = lost.map(
        (pod) => pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "",
      );
      for (const pod of lost) cut(world, pod);
      await world.until(
        async () => {
          const ids = await idsOf(world);
          return gone.every((id) => !ids.includes(id)) && ids.length === 9;
        },
        "they are replaced",
        hourMs,
      );
      await untilSettled(world);
      const marks = world.activities.flatMap((activity) =>
        activity.type === "action" && activity.action.type === "removeProcessGroups"
          ? [activity.text]
          : [],
      );
      assert.ok(marks.length >= count, "one after the other");
    },
    { nodes: 12 },
  );
}
together(["A10.1", "F01.12"], () => partitioned(1));
item("F01.13", () => partitioned(2));
/** A process that complains about its disk is replaced although it answers. */
function badDisk(trouble: "io_error" | "io_timeout"): Promise<void> {
  return life(soon(), async (world) => {
    const id = await firstOf(world, "storage");
    const [{ ip = "" } = {}] = (await podOf(world, id)).status?.podIPs ?? [];
    world.world.fdb.faults.spoilDisk(ip, trouble);
    const conditions = async (): Promise<(string | undefined)[]> =>
      ((await groupOf(world, id))?.processGroupConditions ?? []).map(({ type }) => type);
    await world.until(
      async () => (await conditions()).includes("ProcessHasIOError"),
      "it is noticed",
      5 * minuteMs,
    );
    await world.until(
      async () => !(await idsOf(world)).includes(id),
      "it is replaced",
      30 * minuteMs,
    );
    await untilSettled(world);
    assert.equal((await world.pods("storage")).length, 3);
  });
}
item("F01.14", () => badDisk("io_error"));
item("F01.15", () => badDisk("io_timeout"));
async function several(world: TestWorld): Promise<void> {
  const gone = [
    await firstOf(world, "storage"),
    await firstOf(world, "log"),
    await firstOf(world, "stateless"),
  ];
  await world.changeSpec({ processGroupsToRemove: gone });
  await untilSettled(world);
  const ids = await idsOf(world);
  assert.deepEqual([ids.length, ids.filter((id) => gone.includes(id)).length], [9, 0]);
}
together(["A10.2", "F01.17"], () => life({}, several));
async function deletedPod(world: TestWorld): Promise<void> {
  const [pod] = await world.pods("storage");
  const name = pod?.metadata.name ?? "";
  await world.client.delete(pods, { namespace, name });
  await world.clock.advance(minuteMs);
  await world.untilReconciled();
  const again = await world.client.get(pods, { namespace, name });
  assert.notEqual(again.metadata.uid, pod?.metadata.uid);
  assert.equal(again.status?.phase, "Running");
}
together(["A10.3", "F01.11"], () => life({}, deletedPod));

/** Everything of these classes is new. */
async function allNew(
  world: TestWorld,
  change: object,
  classes: readonly string[] = ["storage", "log", "stateless"],
): Promise<void> {
  const before = await idsOf(world);
  await world.changeSpec(change);
  await untilSettled(world, 40 * minuteMs);
  const after = await idsOf(world);
  assert.equal(after.length, before.length);
  const kept = after.filter((id) => before.includes(id)).map((id) => id.split("-").at(-2) ?? "");
  assert.ok(
    kept.every((each) => !classes.includes(each)),
    kept.join(),
  );
}
const sized = (size: string, storageClassName?: string): object => ({
  processes: {
    general: {
      volumeClaimTemplate: {
        spec: {
          resources: { requests: { storage: size } },
          ...(storageClassName ? { storageClassName } : {}),
        },
      },
    },
  },
});
async function larger(world: TestWorld): Promise<void> {
  await allNew(world, sized("256Gi"), ["storage", "log"]);
  const { items } = await world.client.list(persistentVolumeClaims, { namespace });
  assert.deepEqual(
    [...new Set(items.map((each) => each.spec?.resources?.requests?.["storage"]))],
    ["256Gi"],
  );
}
// As the Go operator does it; otherwise volumes grow in place.
const bySize = { automationOptions: { volumeSizeChange: "Replace" } } as const;
together(["A21.1", "F08.3"], () => life(bySize, larger));
async function prefixed(world: TestWorld): Promise<void> {
  await allNew(world, { processGroupIDPrefix: "new" });
  for (const id of await idsOf(world)) assert.ok(id.startsWith("new-"), id);
}
together(["A21.2", "F01.16"], () => life({}, prefixed));
item("F08.5", () =>
  life({ automationOptions: { maxConcurrentReplacements: 2 } }, async (world) => {
    let most = 0;
    const before = await idsOf(world);
    await world.changeSpec({ processGroupIDPrefix: "new" });
    await world.until(
      async () => {
        const { status } = await world.cluster();
        const leaving = (status?.processGroups ?? []).filter(
          (group) => group.removalTimestamp !== undefined && group.exclusionTimestamp === undefined,
        );
        most = Math.max(most, leaving.length);
        const ids = await idsOf(world);
        return ids.length === 9 && ids.every((id) => !before.includes(id));
      },
      "everything is replaced",
      90 * minuteMs,
    );
    assert.ok(most <= 2 && most > 0, `${most} at once`);
  }),
);
item("F08.7", () =>
  life({}, async (world) => {
    await world.client.create(storageClasses, {
      ...standardStorageClass,
      metadata: { name: "fast" },
    });
    await allNew(world, sized("16Gi", "fast"), ["storage", "log"]);
    const { items } = await world.client.list(persistentVolumeClaims, { namespace });
    for (const each of items) assert.equal(each.spec?.storageClassName, "fast");
  }),
);
item("F08.1", () =>
  life(
    {},
    async (world) => {
      // Nodes hold ten pods in all, so that only few new ones fit beside the old ones.
      await allNew(world, { processGroupIDPrefix: "new" });
    },
    { nodes: 3, nodeCapacity: { cpu: "8", memory: "16Gi", pods: "5" } },
  ),
);
item("F01.5", () => life({}, (world) => allNew(world, { storageServersPerPod: 2 }, ["storage"])));
item("F01.20", () => life({}, (world) => allNew(world, { logServersPerPod: 2 }, ["log"])));
item("F01.21", () =>
  life({}, async (world) => {
    await world.changeSpec({ processCounts: { log: -1, transaction: 3 } });
    await untilSettled(world, 30 * minuteMs);
    assert.equal((await world.pods("transaction")).length, 3);
    assert.equal((await world.pods("log")).length, 0);
  }),
);
item("F01.6", () =>
  life({ processCounts: { storage: 3, log: 5, stateless: 3 } }, async (world) => {
    await world.changeSpec({ processCounts: { log: 3 } });
    await untilSettled(world);
    assert.equal((await world.pods("log")).length, 3);
  }),
);
item("F01.7", () =>
  life({}, async (world) => {
    const uids = uidsOf(await world.pods());
    await world.changeSpec({ processCounts: { log: 5 } });
    await untilSettled(world);
    assert.equal((await world.pods("log")).length, 5);
    const after = uidsOf(await world.pods());
    assert.ok(uids.every((uid) => after.includes(uid)));
  }),
);
for (const [name, useLocalitiesForExclusion] of [
  ["F01.3", false],
  ["F01.4", true],
] as const) {
  item(name, () =>
    life({ automationOptions: { useLocalitiesForExclusion } }, async (world) => {
      const id = await coordinatorId(world);
      await world.changeSpec({ processGroupsToRemove: [id] });
      await untilSettled(world);
      assert.ok(!(await coordinators(world)).some((text) => text.includes(id)));
      assert.equal(commandsOf(world, "excludeProcesses").length, 1);
      assert.deepEqual(await excluded(world), []);
    }),
  );
}
item("F01.29", () =>
  life(
    { automationOptions: { replacements: { failureDetectionTimeSeconds: 60 } } },
    async (world) => {
      const id = await firstOf(world, "stateless");

      await excludeByHand(world, [`locality_instance_id:${id}`]);
      await world.until(async () => !(await idsOf(world)).includes(id), "it is replaced", hourMs);
      await untilSettled(world);
    },
  ),
);
item("F01.40", () =>
  life({ processCounts: { storage: 5, log: 3, stateless: 3 } }, async (world) => {
    const id = await firstOf(world, "storage");

    await world.changeSpec({ processGroupsToRemove: [id] });
    const locality = `locality_instance_id:${id}`;
    await world.until(async () => (await excluded(world)).includes(locality), "it is excluded");
    await includeByHand(world, [locality]);
    await untilSettled(world, 30 * minuteMs);
    assert.equal(commandsOf(world, "excludeProcesses").length, 2);
    assert.equal(await groupOf(world, id), undefined);
  }),
);
