// A cluster that is up is kept up: what is lost comes back, what is edited is put back, and a cluster at rest is left
// alone. Rules: spec/world.md [W30]-[W44].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import {
  configMaps,
  nodes,
  persistentVolumeClaims,
  pods,
  services,
} from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { hourMs, keyOfObject, minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const namespace = "default";

async function only<T>(list: Promise<T[]>): Promise<T> {
  const [first] = await list;
  assert.ok(first !== undefined);
  return first;
}

for (const imageType of ["unified", "split"] as const) {
  for (const processClass of ["storage", "log", "stateless"]) {
    test(`[W30] a deleted ${processClass} pod comes back on its volume (${imageType} image)`, async () => {
      await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
        const pod = await only(world.pods(processClass));
        const claims = await world.client.list(persistentVolumeClaims, { namespace });
        await world.client.delete(pods, keyOfObject(pod));
        await world.until(
          async () =>
            (await world.client.find(pods, keyOfObject(pod)))?.metadata.uid !== pod.metadata.uid,
          "the pod is gone",
        );
        await world.untilReconciled();
        const again = await world.client.get(pods, keyOfObject(pod));
        assert.equal(again.status?.phase, "Running");
        const after = await world.client.list(persistentVolumeClaims, { namespace });
        const identity = (claim: (typeof claims.items)[0]) => [
          claim.metadata.uid,
          claim.spec?.volumeName,
        ];
        assert.deepEqual(after.items.map(identity), claims.items.map(identity));
        await world.clock.advance(2 * minuteMs);
        world.assertDataSafe();
        for (const shard of world.world.fdb.truth.replicas()) {
          assert.ok(shard.replicas.every((replica) => replica.isLive && replica.isOnDisk));
        }
      });
    });
  }
}

test("[W31] all pods deleted at once come back with all data", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    assert.equal((await world.pods()).length, 9);
    world.assertDataSafe();
  });
});

const replaced: [string, Resource<KubeObject>][] = [
  ["service", services as Resource<KubeObject>],
  ["ConfigMap", configMaps as Resource<KubeObject>],
];
for (const [title, resource] of replaced) {
  test(`[W32] a deleted ${title} is made again as it was`, async () => {
    await TestWorld.runWithCluster({}, async (world) => {
      const object = await only(
        world.client.list(resource, { namespace }).then(({ items }) => items),
      );
      await world.client.delete(resource, keyOfObject(object));
      await world.clock.advance(2_000);
      await world.untilReconciled();
      const again = await world.client.get(resource, keyOfObject(object));
      assert.notEqual(again.metadata.uid, object.metadata.uid);
      assert.deepEqual(again.metadata.labels, object.metadata.labels);
      const contents = (found: KubeObject): unknown => {
        const { data, spec } = found as { data?: unknown; spec?: { selector?: unknown } };
        return [data, spec?.selector];
      };
      assert.deepEqual(contents(again), contents(object));
      world.assertDataSafe();
    });
  });
}

test("[W32] services with public addresses are made again under the same addresses", async () => {
  const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;
  await TestWorld.runWithCluster({ spec: { ...small, routing } }, async (world) => {
    const known = async (): Promise<string[]> => {
      const { items } = await world.client.list(services, { namespace });
      return items.map((service) => `${nameOf(service)} ${service.spec?.clusterIP}`);
    };
    const before = await known();
    for (const service of before) {
      const [name = ""] = service.split(" ");
      await world.client.delete(services, { namespace, name });
    }
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    assert.deepEqual(await known(), before);
    world.assertDataSafe();
  });
});

const edited: [string, Resource<KubeObject>][] = [
  ["pod", pods as Resource<KubeObject>],
  ["volume claim", persistentVolumeClaims as Resource<KubeObject>],
  ["ConfigMap", configMaps as Resource<KubeObject>],
];
for (const [title, resource] of edited) {
  test(`[W33] edited and removed labels and annotations of a ${title} are put back, foreign ones stay`, async () => {
    await TestWorld.runWithCluster({}, async (world) => {
      for (const object of (await world.client.list(resource, { namespace })).items) {
        const labels = Object.keys(object.metadata.labels ?? {});
        assert.ok(labels.length > 0);
        const annotations = Object.keys(object.metadata.annotations ?? {});
        const spoilt = Object.fromEntries(
          labels.map((key, index) => [key, index % 2 === 0 ? null : "spoilt"]),
        );
        const spoiltToo = Object.fromEntries(annotations.map((key) => [key, null]));
        const metadata = {
          labels: { ...spoilt, own: "label" },
          annotations: { ...(resource.plural === "configmaps" ? spoiltToo : {}), own: "note" },
        };
        await world.client.patch(resource, keyOfObject(object), { metadata }, { type: "merge" });
        await world.clock.advance(2_000);
        await world.untilReconciled();
        const after = (await world.client.get(resource, keyOfObject(object))).metadata;
        assert.deepEqual(after.labels, { ...object.metadata.labels, own: "label" });
        assert.deepEqual(after.annotations, { ...object.metadata.annotations, own: "note" });
        assert.equal(after.uid, object.metadata.uid);
      }
      assert.equal((await world.cluster()).status?.processGroups?.length, 3);
    });
  });
}

test("[W34] edited data of the ConfigMap is put back and no process is disturbed", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const generation = world.world.fdb.truth.databases()[0]?.generation;
    const object = await only(
      world.client.list(configMaps, { namespace }).then(({ items }) => items),
    );
    const data = { "cluster-file": "spoilt:spoilt@10.9.9.9:4501", extra: "x" };
    await world.client.patch(configMaps, keyOfObject(object), { data }, { type: "merge" });
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    const after = await world.client.get(configMaps, keyOfObject(object));
    assert.deepEqual(after.data, object.data);
    world.assertDataSafe();
    assert.equal(world.world.fdb.truth.databases()[0]?.generation, generation);
  });
});

test("[W35] an evicted pod is replaced after half a minute of age, and at once when it is older", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const pod = await only(world.pods("storage"));
    world.world.kubelet.evictPod(namespace, nameOf(pod), "The node was low on resource: memory.");
    await world.clock.advance(2_000);
    await world.untilReconciled();
    const again = await world.client.get(pods, keyOfObject(pod));
    assert.notEqual(again.metadata.uid, pod.metadata.uid);
    world.assertDataSafe();
    // The successor is young: it is left for others to look at first.
    world.world.kubelet.evictPod(namespace, nameOf(pod), "The node was low on resource: memory.");
    await world.clock.advance(5_000);
    const failed = await world.client.get(pods, keyOfObject(pod));
    assert.deepEqual([failed.metadata.uid, failed.status?.phase], [again.metadata.uid, "Failed"]);
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    assert.notEqual(
      (await world.client.get(pods, keyOfObject(pod))).metadata.uid,
      again.metadata.uid,
    );
    world.assertDataSafe();
  });
});

test("[W36] crashed processes are restarted in their pods", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const uids = (await world.pods()).map(({ metadata }) => metadata.uid);
    for (const pod of await world.pods()) {
      world.world.fdb.faults.crashProcess(`${pod.status?.podIP}:4501`);
    }
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    assert.deepEqual(
      (await world.pods()).map(({ metadata }) => metadata.uid),
      uids,
    );
    world.assertDataSafe();
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W37] a node that stops for ten minutes and comes back leaves no trace (${imageType} image)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      const pod = await only(world.pods("storage"));
      const nodeName = pod.spec?.nodeName ?? "";
      await world.world.kubelet.stopNode(nodeName);
      await world.until(
        async () => conditionIn((await world.cluster()).status, "Degraded")?.status === "True",
        "the cluster says that it is degraded",
      );
      assert.equal((await world.cluster()).status?.health?.available, true);
      await world.clock.advance(10 * minuteMs);
      await world.world.kubelet.startNode(nodeName);
      await world.clock.advance(minuteMs);
      await world.untilReconciled(10 * minuteMs);
      assert.equal((await world.pods()).length, 9);
      world.assertDataSafe();
    });
  });
}

test("[W38] pods of a node that is gone run on another one of their zone, on their volumes", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 8, zones: 4 }, async (world) => {
    const pod = await only(world.pods("storage"));
    const claims = (await world.client.list(persistentVolumeClaims, { namespace })).items;
    await world.world.kubelet.removeNode(pod.spec?.nodeName ?? "");
    await world.clock.advance(10 * minuteMs);
    await world.untilReconciled(10 * minuteMs);
    const again = await world.client.get(pods, keyOfObject(pod));
    assert.notEqual(again.spec?.nodeName, pod.spec?.nodeName);
    const zoneOf = (name?: string) => world.client.get(nodes, { name: name ?? "" });
    const zone = (await zoneOf(again.spec?.nodeName)).metadata.labels?.[
      "topology.kubernetes.io/zone"
    ];
    assert.ok(zone !== undefined);
    const after = (await world.client.list(persistentVolumeClaims, { namespace })).items;
    assert.deepEqual(
      after.map(({ metadata }) => metadata.uid),
      claims.map(({ metadata }) => metadata.uid),
    );
    world.assertDataSafe();
  });
});

test("[W39] a pod cut off from the network is degraded, kept, and back when the network is", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const pod = await only(world.pods("log"));
    const address = pod.status?.podIP ?? "";
    world.world.network.cut(address);
    world.world.fdb.faults.cutAddress(address);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.client.get(pods, keyOfObject(pod))).metadata.uid, pod.metadata.uid);
    const { status } = await world.cluster();
    assert.equal(conditionIn(status, "Degraded")?.status, "True");
    assert.equal(conditionIn(status, "Reconciled")?.status, "False");
    world.world.network.heal(address);
    world.world.fdb.faults.restoreAddress(address);
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    world.assertDataSafe();
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W40] a cluster at rest causes no request but renewed watches over an hour (${imageType} image)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      const mark = world.requests.length;
      await world.clock.advance(hourMs);
      const others = world.requests.slice(mark).filter(({ verb }) => verb !== "watch");
      assert.deepEqual(
        others.map(({ verb, resource }) => `${verb} ${resource.plural}`),
        [],
      );
      assert.ok(world.requests.length > mark, "watches are renewed");
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W41] an operator that starts again writes nothing (${imageType} image)`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
      const mark = world.requests.length;
      world.world.startOperator();
      await world.clock.advance(10 * minuteMs);
      assert.ok(world.world.operator.counters().passes > 0);
      assert.deepEqual(world.writesSince(mark), []);
    });
  });
}

test("[W42] what happens while no operator runs is set right by the next one", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const pod = await only(world.pods("storage"));
    await world.client.delete(pods, keyOfObject(pod));
    await world.changeSpec({ processCounts: { stateless: 5 } });
    await world.clock.advance(10 * minuteMs);
    world.world.startOperator();
    await world.untilReconciled();
    assert.equal((await world.pods()).length, 11);
    world.assertDataSafe();
  });
});

test("[W43] a status that somebody wiped out is found again from the objects", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = await world.cluster();
    await world.client.updateStatus(foundationDbClusters, { ...before, status: {} });
    await world.clock.advance(minuteMs);
    await world.untilReconciled();
    const { status } = await world.cluster();
    const ids = (groups: typeof before.status) =>
      groups?.processGroups?.map((group) => group.processGroupID);
    assert.deepEqual(ids(status), ids(before.status));
    assert.equal(status?.connectionString, before.status?.connectionString);
    assert.equal((await world.pods()).length, 9);
    world.assertDataSafe();
  });
});

test("[P101] process groups that the status lists twice are made one, and as many run as are asked for", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const before = await world.cluster();
    const listed = before.status?.processGroups ?? [];
    const twice = listed.filter(({ processClass }) => processClass === "storage").slice(0, 2);
    const status = { ...before.status, processGroups: [...listed, ...twice] };
    await world.client.updateStatus(foundationDbClusters, { ...before, status });
    await world.changeSpec({ processCounts: { storage: 5 } });
    await world.untilReconciled();
    const { status: after } = await world.cluster();
    const ids = (after?.processGroups ?? []).map((group) => group.processGroupID);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal((await world.pods("storage")).length, 5);
    assert.equal((await world.events("RepairingStatus")).length, 1);
    for (const { processGroupID } of twice) assert.ok(ids.includes(processGroupID));
    world.assertDataSafe();
  });
});

test("[W44] an available database stays available while one pod after the other is deleted", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    for (const pod of await world.pods()) {
      await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(2 * minuteMs);
      await world.untilReconciled();
      world.assertDataSafe();
    }
  });
});

test("[W41] what was told about an invalid spec, a backup or a restore is not told again by the next operator", async () => {
  await TestWorld.run({}, async (world) => {
    const customParameters = ["knob_a_b=1", "knob_a_b=2"];
    await world.createCluster({ processes: { general: { customParameters } } });
    await world.client.create(foundationDbBackups, {
      ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
      metadata: { namespace, name: "daily" },
      spec: {
        ...{ version: "7.3.63", clusterName: "sample" },
        blobStoreConfiguration: { accountName: "account@host" },
      },
    });
    await world.client.create(foundationDbRestores, {
      ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBRestore" },
      metadata: { namespace, name: "back" },
      spec: {
        destinationClusterName: "sample",
        blobStoreConfiguration: { accountName: "account@host" },
      },
    });
    await world.clock.advance(minuteMs);
    assert.equal((await world.events("ClusterSpec not valid")).length, 1);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const mark = world.requests.length;
    world.world.startOperator();
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(world.writesSince(mark), []);
  });
});
