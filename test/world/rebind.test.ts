// Volumes that outlived their claims come back. Rules: spec/adoption.md [ADO9]-[ADO12].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { exampleCluster } from "./example.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { frugalProcesses, minuteMs, TestWorld } from "./world-harness.ts";

const namespace = "default";
const { adopt, ...before } = exampleCluster("adopt.yaml").spec;
const general = {
  ...frugalProcesses["general"],
  volumeClaimTemplate: { metadata: {}, spec: { storageClassName: "kept" } },
};
const keeping: Partial<ClusterSpec> = { ...before, processes: { general } };

const keptClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "kept" },
  provisioner: "disk.emulated.foundationdb.org",
  reclaimPolicy: "Retain",
  volumeBindingMode: "WaitForFirstConsumer",
};

async function volumesOf(world: TestWorld) {
  return (await world.client.list(persistentVolumes, {})).items;
}

/** The resource was deleted with all that it owned, claims included; its volumes are there. */
async function afterDeletion(
  body: (world: TestWorld, connectionString: string) => Promise<void>,
): Promise<void> {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.client.create(storageClasses, keptClass);
    await world.createCluster(keeping);
    await world.untilReconciled();
    const connectionString = (await world.cluster()).status?.connectionString ?? "";
    await world.client.delete(
      foundationDbClusters,
      { namespace, name: "sample" },
      { propagationPolicy: "Foreground" },
    );
    const isReleased = async (): Promise<boolean> =>
      (await volumesOf(world)).every(({ status }) => status?.phase === "Released") &&
      (await world.pods()).length === 0;
    await world.until(isReleased, "all volumes are released");
    await body(world, connectionString);
  });
}

const rebind = ["volumes", "rebind", "sample"];

test("[ADO9] [ADO10] [ADO12] the resource was deleted with its claims: the volumes are given back, and all data is there", async () => {
  await afterDeletion(async (world, seedConnectionString) => {
    const names = (await volumesOf(world)).map(({ metadata }) => metadata.name).sort();
    await world.createCluster({ ...keeping, adopt, seedConnectionString });
    await world.clock.advance(minuteMs);
    const dry = await runPlugin(world, [...rebind, "--dry-run"]);
    assert.equal(dry.code, 0, dry.notes);
    assert.match(dry.out, /6 volumes would be given to claims of default\/sample/);
    const claims = await world.client.list(persistentVolumeClaims, { namespace });
    assert.deepEqual(claims.items, [], "nothing was changed");
    const no = await runPlugin(world, rebind, { answers: ["n"] });
    assert.match(no.notes, /nothing was changed/);
    const given = await runPlugin(world, rebind, { answers: ["y"] });
    assert.equal(given.code, 0, given.notes);
    assert.match(
      given.notes,
      /becomes the volume of storage-\d+ again, by the claim sample-storage-/,
    );
    await world.untilReconciled(20 * minuteMs);
    assert.equal(world.world.fdb.truth.databases().length, 1, "one database, the old one");
    assert.deepEqual((await volumesOf(world)).map(({ metadata }) => metadata.name).sort(), names);
    await assertAllCopies(world);
    const again = await runPlugin(world, [...rebind, "--yes"]);
    assert.match(again.notes, /has been seen already; nothing was changed/);
  });
});

test("[ADO10] a command that is interrupted starts nothing, and goes on when it is run again", async () => {
  await afterDeletion(async (world, seedConnectionString) => {
    await world.createCluster({ ...keeping, adopt, seedConnectionString });
    const [first] = await volumesOf(world);
    const one = await runPlugin(world, [...rebind, first?.metadata.name ?? "", "--yes"]);
    assert.equal(one.code, 0, one.notes);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await world.pods(), []);
    const rest = await runPlugin(world, [...rebind, "--yes"]);
    assert.match(rest.out, /5 volumes are given/);
    await world.untilReconciled(20 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[ADO11] what makes no sense is refused, each with what is wrong", async () => {
  await afterDeletion(async (world) => {
    const [volume] = await volumesOf(world);
    const refusal = async (text: RegExp, names: readonly string[] = []): Promise<void> => {
      const { code, notes } = await runPlugin(world, [...rebind, ...names, "--yes"]);
      assert.equal(code, 1);
      assert.match(notes, text);
      assert.match(notes, /nothing was changed/);
    };
    await world.createCluster({ ...keeping, adopt });
    await refusal(/pvc-0 is no volume of sample that outlived its claim/, ["pvc-0"]);
    const csi = { driver: "disk.emulated.foundationdb.org", volumeHandle: "twin" };
    await world.client.create(persistentVolumes, {
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "twin" } },
      spec: { ...volume?.spec, csi },
    });
    await world.clock.advance(minuteMs);
    await refusal(/2 volumes had the claim .* nobody can tell which holds the data: .*twin/);
    await world.client.delete(persistentVolumes, { name: "twin" });
    await world.clock.advance(minuteMs);
    const wishing = (spec: object) => ({
      processes: { general: { volumeClaimTemplate: { spec } } },
    });
    await world.changeSpec(wishing({ resources: { requests: { storage: "300G" } } }));
    await refusal(/it has 128G, and the resource asks for 300G/);
    await world.changeSpec(wishing({ resources: null, storageClassName: "fast" }));
    await refusal(/its storage class is "kept", and the resource asks for "fast"/);
    await world.changeSpec(wishing({ storageClassName: "kept" }));
    const label = "foundationdb.org/fdb-cluster-name";
    await world.changeSpec({ adopt: { volumes: { matchLabels: { [label]: "other" } } } });
    await refusal(/wants the label foundationdb\.org\/fdb-cluster-name=other/);
    await world.client.delete(foundationDbClusters, { namespace, name: "sample" });
    await world.createCluster({ ...keeping, skip: true });
    await refusal(/sample has no spec\.adopt/);
    for (const { status } of await volumesOf(world)) assert.equal(status?.phase, "Released");
  });
});

test("[ADO11] a database that came back while the question was open gets no claims", async () => {
  await afterDeletion(async (world) => {
    await world.createCluster({ ...keeping, adopt });
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const through = (transport: KubeTransport): KubeTransport => ({
      ...transport,
      request: async (request) => {
        const answer = await transport.request(request);
        if (!request.path.endsWith("/persistentvolumeclaims")) return answer;
        // What is read last before the question.
        const key = { namespace, name: "sample" };
        const options = { type: "merge", subresource: "status" } as const;
        await world.client.patch(foundationDbClusters, key, { status: seen }, options);
        return answer;
      },
    });
    const seen = { configured: true };
    const { code, notes } = await runPlugin(world, rebind, { answers: ["y"], through });
    assert.equal(code, 1);
    assert.match(notes, /has been seen already; nothing was changed/);
    assert.deepEqual((await world.client.list(persistentVolumeClaims, { namespace })).items, []);
  });
});

test("[ADO5] [ADO15] a wish that is taken back when the connection string was read creates no database on claims of today", async () => {
  await afterDeletion(async (world, connectionString) => {
    await world.createCluster({ ...keeping, adopt });
    await world.clock.advance(minuteMs);
    assert.equal((await runPlugin(world, [...rebind, "--yes"])).code, 0);
    const isRead = async (): Promise<boolean> =>
      (await world.cluster()).status?.connectionString === connectionString;
    await world.until(isRead, "the string is read");
    const since = world.activities.length;
    await world.changeSpec({ adopt: null });
    await world.until(
      async () => (await world.cluster()).status?.configured === true,
      "the database is seen",
      20 * minuteMs,
    );
    const isCreation = world.activities
      .slice(since)
      .some(
        (each) =>
          each.type === "action" && each.action.type === "configureDatabase" && each.action.isNew,
      );
    assert.ok(!isCreation, "somebody tried to create a database");
    await world.untilReconciled(20 * minuteMs);
    await assertAllCopies(world);
  });
});
