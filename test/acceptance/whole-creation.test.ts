// Checklist: a cluster as it comes up, its size and its metadata, in whole worlds.
import { strict as assert } from "node:assert";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import type {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../src/kube/generated/types.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { automationOf } from "../../src/api/effective.ts";
import { normalCluster } from "../../src/build/normalise.ts";
import { untilSettled } from "../world/removal-harness.ts";
import { acts, blockedBy } from "../world/restart-harness.ts";
import { minuteMs, TestWorld } from "../world/world-harness.ts";
import { item, shared } from "./checklist-case.ts";
import { idsOf, life, nameOf, namespace, quick, template, uidsOf } from "./life.ts";

interface Born {
  cluster: Stored<FoundationDBCluster>;
  pods: Stored<Pod>[];
  services: Stored<Service>[];
  map: Stored<ConfigMap>;
  isConfigured: boolean;
}
const born = shared(async (): Promise<Born> => {
  let found: Born | undefined;
  await TestWorld.runWithCluster({ spec: quick() }, async (world) => {
    found = {
      cluster: await world.cluster(),
      pods: await world.pods(),
      services: (await world.client.list(services, { namespace })).items,
      map: await world.client.get(configMaps, { namespace, name: "sample-config" }),
      isConfigured: world.world.fdb.truth.databases()[0]?.isConfigured === true,
    };
    world.assertDataSafe();
  });
  assert.ok(found);
  return found;
});
item("A01.1", async () => assert.equal((await born()).pods.length, 9));
item("A01.2", async () => {
  const found = (await born()).services;
  assert.deepEqual(
    found.map((each) => [nameOf(each), each.spec?.clusterIP]),
    [["sample", "None"]],
  );
});
item("A01.3", async () => {
  const { map, cluster } = await born();
  assert.equal(map.data?.["cluster-file"], cluster.status?.connectionString);
});
item("A01.4", async () => {
  const { isConfigured, cluster } = await born();
  assert.ok(isConfigured && cluster.status?.configured === true);
  assert.equal(cluster.status?.databaseConfiguration?.redundancy_mode, "double");
});
item("A01.5", async () => {
  const { cluster } = await born();
  const normal = normalCluster(cluster);
  assert.ok(normal.spec.mainContainer?.imageConfigs);
  assert.equal(automationOf(normal.spec).deletionMode, "Zone");
});
item("A01.6", async () => {
  const { cluster } = await born();
  assert.equal(cluster.status?.generations?.reconciled, cluster.metadata.generation);
  assert.equal(cluster.status?.reconciledProcessGroups, 9);
});

const counts = (storage: number, stateless = 3, log = 3): Partial<ClusterSpec> => ({
  processCounts: { storage, log, stateless },
});
item("A05.1", () =>
  life(counts(5), async (world) => {
    await world.changeSpec(counts(3));
    await untilSettled(world);
    assert.equal((await world.pods("storage")).length, 3);
    const { items } = await world.client.list(persistentVolumeClaims, { namespace });
    assert.equal(items.length, 6);
  }),
);
const grown = shared(async () => {
  const found = { storage: 0, stateless: 0, version: "", before: "" };
  await life(counts(3), async (world) => {
    const map = () => world.client.get(configMaps, { namespace, name: "sample-config" });
    found.before = (await map()).metadata.resourceVersion ?? "";
    await world.changeSpec({
      processCounts: { storage: 5, log: 3, stateless: 4, cluster_controller: 1 },
    });
    await untilSettled(world);
    found.storage = (await world.pods("storage")).length;
    found.stateless = (await world.pods("stateless")).length;
    const data = (await map()).data ?? {};
    found.version = Object.keys(data)
      .filter((key) => key.includes("cluster_controller"))
      .join();
    assert.equal((await world.pods("cluster_controller")).length, 1);
  });
  return found;
});
item("A05.2", async () => assert.equal((await grown()).storage, 5));
item("A05.3", async () => assert.equal((await grown()).stateless, 4));
item("A06.1", async () => {
  assert.equal((await grown()).version, "fdbmonitor-conf-cluster_controller-json");
});
const without = shared(async () => {
  const found = { pods: -1, groups: -1 };
  await life(
    { processCounts: { storage: 3, log: 5, stateless: 3, cluster_controller: 1 } },
    async (world) => {
      await world.changeSpec({ processCounts: { stateless: -1 } });
      await untilSettled(world);
      found.pods = (await world.pods("stateless")).length;
      found.groups = (await idsOf(world, "stateless")).length;
    },
  );
  return found;
});
item("A06.2", async () => assert.equal((await without()).pods, 0));
item("A06.3", async () => assert.equal((await without()).groups, 0));

/** Labels and annotations of the three kinds of objects before and after a change of the spec. */
type Kinds = Record<"pod" | "pvc" | "map", boolean>;
async function changedKinds(change: (world: TestWorld) => Promise<unknown>): Promise<Kinds> {
  const found: Kinds = { pod: false, pvc: false, map: false };
  await life({}, async (world) => {
    const uids = uidsOf(await world.pods());
    const foreign = { metadata: { labels: { foreign: "1" }, annotations: { foreign: "1" } } };
    const list = async () => ({
      pod: (await world.client.list(pods, { namespace })).items as Stored<Pod>[],
      pvc: (await world.client.list(persistentVolumeClaims, { namespace }))
        .items as Stored<PersistentVolumeClaim>[],
      map: [await world.client.get(configMaps, { namespace, name: "sample-config" })],
    });
    const [first] = (await list()).pod;
    await world.client.patch(
      pods,
      { namespace, name: nameOf(first ?? { metadata: {} }) },
      foreign,
      { type: "merge" },
    );
    await change(world);
    await world.untilReconciled();
    for (const [kind, objects] of Object.entries(await list())) {
      const isOwn = (each: { metadata: Stored<Pod>["metadata"] }): boolean =>
        each.metadata.labels?.["own"] === "1" && each.metadata.annotations?.["own"] === "2";
      found[kind as keyof Kinds] = objects.every(isOwn);
    }
    const again = await world.client.get(pods, {
      namespace,
      name: nameOf(first ?? { metadata: {} }),
    });
    assert.deepEqual(
      [again.metadata.labels?.["foreign"], again.metadata.annotations?.["foreign"]],
      ["1", "1"],
    );
    assert.deepEqual(uidsOf(await world.pods()), uids);
  });
  return found;
}
const metadata = { labels: { own: "1" }, annotations: { own: "2" } };
const podsChanged = shared(() =>
  changedKinds((world) => world.changeSpec({ processes: template({ metadata }) })),
);
item("A12.1", async () =>
  assert.deepEqual(await podsChanged(), { pod: true, pvc: false, map: false }),
);
item("A12.2", async () => {
  const found = await changedKinds((world) =>
    world.changeSpec({ processes: { general: { volumeClaimTemplate: { metadata } } } }),
  );
  assert.deepEqual(found, { pod: false, pvc: true, map: false });
});
item("A12.3", async () => {
  const found = await changedKinds((world) => world.changeSpec({ configMap: { metadata } }));
  assert.deepEqual(found, { pod: false, pvc: false, map: true });
});
item("A12.4", async () => {
  // The labels that somebody put on a pod are looked for after each of these changes.
  assert.ok((await podsChanged()).pod);
});

const env = (value: string) => ({ processes: template({ env: [{ name: "OWN", value }] }) });
item("A13.1", () =>
  life({ automationOptions: { podUpdateStrategy: "Delete" } }, async (world) => {
    const names = (await world.pods()).map(nameOf).sort();
    const uids = uidsOf(await world.pods());
    await world.changeSpec(env("1"));
    await world.untilReconciled(20 * minuteMs);
    const after = await world.pods();
    assert.deepEqual(after.map(nameOf).sort(), names);
    assert.deepEqual(
      uidsOf(after).filter((uid) => uids.includes(uid)),
      [],
    );
  }),
);
item("A13.2", () =>
  life(
    { automationOptions: { podUpdateStrategy: "Delete", deletionMode: "None" } },
    async (world) => {
      const uids = uidsOf(await world.pods());
      await world.changeSpec(env("1"));
      await world.clock.advance(10 * minuteMs);
      assert.deepEqual(uidsOf(await world.pods()), uids);
      assert.deepEqual(acts(world, "deletePods"), []);
    },
  ),
);
item("A13.3", () =>
  life(
    { automationOptions: { podUpdateStrategy: "Delete", deletionMode: "None" } },
    async (world) => {
      await world.changeSpec(env("1"));
      await world.clock.advance(2 * minuteMs);
      assert.equal((await blockedBy(world, "updatePods"))?.reason, "PodChangePending");
      const { status } = await world.cluster();
      assert.equal(status?.generations?.needsPodDeletion, 2);
    },
  ),
);
