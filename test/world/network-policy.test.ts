// A policy over the pods of a database in a whole world: every connection is judged by what is stored at that moment.
// Rules: spec/network.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { networkTable } from "../../src/build/network-policy.ts";
import type { NetworkPolicy, NetworkPolicySpec } from "../../src/kube/generated/types.ts";
import { networkPolicies, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { exampleCluster } from "./example.ts";
import { runMultiExample } from "./multi-example.ts";
import { BackupWorld } from "./managed-backup.ts";
import { NetworkWitness } from "./network-witness.ts";
import { TestWorld, minuteMs, securedProcesses, small, tiny } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };
const on: Partial<ClusterSpec> = { networkPolicy: { enabled: true } };
const shop = { address: "10.77.0.9:4000", logGroup: "shop", versions: ["7.3.63"] };
const shopBlock = { ipBlock: { cidr: "10.77.0.0/24" } };

function policyOf(world: TestWorld): Promise<Stored<NetworkPolicy> | undefined> {
  return world.client.find(networkPolicies, key);
}

async function specOf(world: TestWorld): Promise<NetworkPolicySpec> {
  return (await policyOf(world))?.spec ?? {};
}

async function waitIn(world: TestWorld, name = "sample") {
  const { status } = await world.cluster({ name });
  return status?.blockedBy?.find(({ step }) => step === "updateNetworkPolicy");
}

async function connectShop(world: TestWorld): Promise<void> {
  const { connectionString = "" } = (await world.cluster()).status ?? {};
  world.world.fdb.addClient(connectionString, shop);
  // The next status shows it.
  await world.clock.advance(2 * minuteMs);
}

function assertClean(witness: NetworkWitness): void {
  assert.deepEqual([...witness.denied], []);
  assert.deepEqual([...witness.strange], []);
}

test("[NET1] [NET2] [NET5] [NET7] the policy is there before the first pod, and the database comes up under it", async () => {
  await TestWorld.run({}, async (world) => {
    const witness = new NetworkWitness([world.world]);
    await world.createCluster({ ...small, ...on });
    await world.untilReconciled();
    assertClean(witness);
    assert.ok(witness.judged > 100, String(witness.judged));
    const writes = world.writesSince(0);
    const place = (text: string): number => writes.findIndex((write) => write.startsWith(text));
    const made = place("create networkpolicies sample");
    assert.ok(made >= 0 && made < place("create configmaps") && made < place("create pods"));
    const policy = await policyOf(world);
    const [owner] = policy?.metadata.ownerReferences ?? [];
    assert.equal(owner?.uid, (await world.cluster()).metadata.uid);
    assert.deepEqual(policy?.spec?.policyTypes, ["Ingress"]);
    assert.equal(policy.spec.egress, undefined);
    // Nobody is named for metrics: there is no rule, which would let everybody in.
    assert.equal(policy.spec.ingress?.length, 2);
    for (const { from = [] } of policy.spec.ingress ?? []) assert.ok(from.length > 0);
  });
});

test("[NET1] [NET8] a wish that comes later is carried out, and one that is taken back leaves nothing", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const mark = world.requests.length;
    assert.equal(await policyOf(world), undefined);
    await world.changeSpec(on);
    await world.untilReconciled();
    assert.notEqual(await policyOf(world), undefined);
    await world.changeSpec({ networkPolicy: { enabled: false } });
    await world.untilReconciled();
    assert.equal(await policyOf(world), undefined);
    const changed = world
      .writesSince(mark)
      .filter((write) => !/events|\/status/.test(write) && !write.includes("networkpolicies"));
    assert.deepEqual(changed, [], "nothing else was written");
  });
});

test("[NET8] a policy that is deleted or changed by hand is put right, and goes with its resource", async () => {
  await TestWorld.runWithCluster({ spec: { ...tiny, ...on } }, async (world) => {
    const wanted = await specOf(world);
    await world.client.delete(networkPolicies, key);
    await world.clock.advance(minuteMs);
    assert.deepEqual(await specOf(world), wanted);
    // Nobody is let in any more, and nothing may leave.
    const shut = { ingress: null, egress: [], policyTypes: ["Ingress", "Egress"] };
    await world.client.patch(networkPolicies, key, { spec: shut }, { type: "merge" });
    await world.clock.advance(minuteMs);
    assert.deepEqual(await specOf(world), wanted);
    // Everybody is let in.
    await world.client.patch(networkPolicies, key, { spec: { ingress: [{}] } }, { type: "merge" });
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(await specOf(world), wanted);
    const mark = world.requests.length;
    await world.clock.advance(60 * minuteMs);
    assert.deepEqual(world.writesSince(mark), [], "a policy at rest is not written");
    await world.client.delete(foundationDbClusters, key);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await policyOf(world), undefined);
  });
});

test("[NET3] [NET4] every connection of a world is in the table, and every row is used (long)", async () => {
  const seen = new Set<string>();
  const note = (witness: NetworkWitness): void => {
    assertClean(witness);
    for (const row of witness.rows) seen.add(row);
  };
  const unified: Partial<ClusterSpec> = {
    ...small,
    processes: securedProcesses,
    storageServersPerPod: 2,
    mainContainer: { enableTls: true },
    networkPolicy: {
      enabled: true,
      clients: [shopBlock],
      metrics: [{ ipBlock: { cidr: "10.88.0.1/32" } }],
    },
  };
  await BackupWorld.run({ spec: unified, hasCertificates: true }, async (scene) => {
    const { world } = scene;
    const others = { "10.77.0.9": "clients", "10.88.0.1": "metrics" } as const;
    const witness = new NetworkWitness([world.world], others);
    // All processes start again under the policy, seen from their first connection.
    for (const { metadata } of await world.pods()) {
      await world.client.delete(pods, { namespace: "default", name: metadata.name ?? "" });
    }
    await world.clock.advance(3 * minuteMs);
    await connectShop(world);
    await scene.create();
    await scene.untilRestorable();
    const [first] = await world.pods();
    const scraped = await world.during(
      world.world.network.request(
        {
          ...{ host: first?.status?.podIP ?? "", port: 8081, useTls: false },
          ...{ method: "GET", path: "metrics", timeoutMs: 1_000 },
        },
        "10.88.0.1",
      ),
      minuteMs,
      "an answer of the monitor",
    );
    assert.equal(scraped.status, 200);
    await world.client.delete(foundationDbBackups, { namespace: "default", name: "nightly" });
    await world.clock.advance(5 * minuteMs);
    note(witness);
  });
  await TestWorld.run({}, async (world) => {
    const witness = new NetworkWitness([world.world]);
    await world.createCluster({ ...tiny, ...on, imageType: "split" });
    await world.untilReconciled();
    // The sidecars are asked to copy what has changed.
    await world.changeSpec({
      processes: { general: { customParameters: ["knob_disable_posix_kernel_aio=1"] } },
    });
    await world.untilReconciled(30 * minuteMs);
    note(witness);
  });
  await TestWorld.run({}, async (world) => {
    const witness = new NetworkWitness([world.world]);
    await createShared(world, ["two", "one"]);
    note(witness);
  });
  const rows = networkTable.map(({ from, to }) => `${from} to ${to}`);
  assert.deepEqual([...seen].sort(), [...new Set(rows)].sort());
});

/** Two resources of one database; `named`: whom each of them lets in. */
async function createShared(world: TestWorld, named: readonly [string, string]): Promise<void> {
  const spec = (peer: string): Partial<ClusterSpec> => ({
    ...small,
    networkPolicy: {
      enabled: true,
      peers: [{ podSelector: { matchLabels: { "foundationdb.org/fdb-cluster-name": peer } } }],
    },
  });
  await world.createCluster({ ...spec(named[0]), processGroupIDPrefix: "one" }, { name: "one" });
  await world.untilReconciled(5 * minuteMs, { name: "one" });
  const { connectionString: seedConnectionString = "" } =
    (await world.cluster({ name: "one" })).status ?? {};
  const joining = { ...spec(named[1]), processGroupIDPrefix: "two", seedConnectionString };
  await world.createCluster(joining, { name: "two" });
  await world.clock.advance(10 * minuteMs);
}

test("[NET1] [NET9] a policy of another name that goes with the resource is somebody else's", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const { uid = "" } = (await world.cluster()).metadata;
    const owner = { apiVersion, kind: "FoundationDBCluster", name: "sample", uid };
    const podSelector = { matchLabels: { app: "shop" } };
    const metadata = { namespace: "default", name: "shop", ownerReferences: [owner] };
    const made = await world.client.create(networkPolicies, {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata,
      spec: { podSelector, policyTypes: ["Ingress"] },
    });
    const assertLeftAlone = async (): Promise<void> => {
      const found = await world.client.find(networkPolicies, { ...key, name: "shop" });
      assert.deepEqual(found?.spec, made.spec);
    };
    await world.changeSpec(on);
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    assert.notEqual(await policyOf(world), undefined);
    await assertLeftAlone();
    await world.changeSpec({ networkPolicy: { enabled: false } });
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    assert.equal(await policyOf(world), undefined);
    await assertLeftAlone();
  });
});

test("[NET9] somebody else's policy of the name is left alone, and all else goes on", async () => {
  await TestWorld.run({}, async (world) => {
    const spec = { podSelector: { matchLabels: { app: "other" } }, policyTypes: ["Ingress"] };
    const foreign = {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: key,
      spec,
    };
    await world.client.create(networkPolicies, foreign);
    await world.createCluster({ ...tiny, ...on });
    await world.clock.advance(5 * minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyForeign");
    assert.deepEqual(await specOf(world), spec);
    assert.equal((await world.cluster()).status?.health?.available, true);
    await world.client.delete(networkPolicies, key);
    await world.untilReconciled();
    assert.equal((await specOf(world)).ingress?.length, 2);
  });
});

test("[NET9] an operator without rights to look at policies says so and does all else", async () => {
  await TestWorld.run({ operator: { watchesPolicies: false } }, async (world) => {
    await world.createCluster({ ...tiny, ...on });
    await world.clock.advance(5 * minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyForbidden");
    const { status, metadata } = await world.cluster();
    assert.equal(status?.health?.available, true);
    assert.notEqual(status.generations?.reconciled, metadata.generation);
  });
});

test("[NET6] an operator outside of Kubernetes needs to be named", async () => {
  const plan = { operatorNamespace: undefined } as object;
  await TestWorld.runWithCluster({ operator: { plan } }, async (world) => {
    await world.changeSpec(on);
    await world.clock.advance(2 * minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyHeld");
    assert.equal(await policyOf(world), undefined);
    const witness = new NetworkWitness([world.world]);
    await world.changeSpec({
      networkPolicy: { operator: [{ ipBlock: { cidr: "10.255.0.1/32" } }] },
    });
    await world.untilReconciled();
    await world.clock.advance(5 * minuteMs);
    assertClean(witness);
  });
});

test("[NET13] a client that is connected and that nobody means is not cut off, until somebody accepts it", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await connectShop(world);
    await world.changeSpec(on);
    await world.clock.advance(2 * minuteMs);
    const wait = await waitIn(world);
    assert.equal(wait?.reason, "NetworkPolicyHeld");
    assert.match(wait?.message ?? "", /10\.77\.0\.9/);
    assert.equal(await policyOf(world), undefined);
    await world.changeSpec({ networkPolicy: { despite: ["ConnectedClients"] } });
    await world.untilReconciled();
    assert.notEqual(await policyOf(world), undefined);
  });
});

test("[NET11] of an edit that names one client and leaves out another, the first half is done at once", async () => {
  const networkPolicy = { enabled: true, clients: [shopBlock] };
  await TestWorld.runWithCluster({ spec: { ...tiny, networkPolicy } }, async (world) => {
    await connectShop(world);
    const witness = new NetworkWitness([world.world], { "10.77.0.9": "clients" });
    const bakery = { ipBlock: { cidr: "10.78.0.0/24" } };
    await world.changeSpec({ networkPolicy: { clients: [bakery] } });
    await world.clock.advance(2 * minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyHeld");
    const both = JSON.stringify(await specOf(world));
    assert.ok(both.includes("10.77.0.0") && both.includes("10.78.0.0"), both);
    const { connectionString = "" } = (await world.cluster()).status ?? {};
    world.world.fdb.removeClient(connectionString, shop.address);
    await world.untilReconciled();
    const narrowed = JSON.stringify(await specOf(world));
    assert.ok(!narrowed.includes("10.77.0.0") && narrowed.includes("10.78.0.0"), narrowed);
    assertClean(witness);
  });
});

test("[NET11] [NET13] a policy that somebody has taken from the pods comes back when nobody is cut off by it", async () => {
  await TestWorld.runWithCluster({ spec: { ...tiny, ...on } }, async (world) => {
    const wanted = await specOf(world);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const podSelector = { matchLabels: { "no-such": "pod" } };
    await world.client.patch(networkPolicies, key, { spec: { podSelector } }, { type: "merge" });
    await connectShop(world);
    world.world.startOperator();
    await world.clock.advance(2 * minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyHeld");
    assert.deepEqual((await specOf(world)).podSelector?.matchLabels?.["no-such"], "pod");
    const { connectionString = "" } = (await world.cluster()).status ?? {};
    world.world.fdb.removeClient(connectionString, shop.address);
    await world.untilReconciled();
    assert.deepEqual(await specOf(world), wanted);
  });
});

test("[NET12] a resource does not cut off the rest of its database, also when that is named wrongly", async () => {
  await TestWorld.run({}, async (world) => {
    const witness = new NetworkWitness([world.world]);
    await world.createCluster({ ...small, processGroupIDPrefix: "one" }, { name: "one" });
    await world.untilReconciled(5 * minuteMs, { name: "one" });
    const { connectionString: seedConnectionString = "" } =
      (await world.cluster({ name: "one" })).status ?? {};
    await world.createCluster(
      { ...small, processGroupIDPrefix: "two", seedConnectionString },
      { name: "two" },
    );
    await world.clock.advance(10 * minuteMs);
    const peer = (name: string) => ({
      podSelector: { matchLabels: { "foundationdb.org/fdb-cluster-name": name } },
    });
    await world.changeSpec(
      { networkPolicy: { enabled: true, peers: [peer("three")] } },
      { name: "one" },
    );
    await world.clock.advance(2 * minuteMs);
    const wait = await waitIn(world, "one");
    assert.equal(wait?.reason, "NetworkPolicyHeld");
    assert.match(wait?.message ?? "", /Parts of the database are elsewhere/);
    assert.equal(await world.client.find(networkPolicies, { ...key, name: "one" }), undefined);
    await world.changeSpec({ networkPolicy: { peers: [peer("two")] } }, { name: "one" });
    await world.clock.advance(2 * minuteMs);
    assert.notEqual(await world.client.find(networkPolicies, { ...key, name: "one" }), undefined);
    assertClean(witness);
    world.assertDataSafe();
  });
});

test("[NET14] while the database is down nobody is shut out, and who is named is let in", async () => {
  await TestWorld.runWithCluster({ spec: { ...tiny, ...on } }, async (world) => {
    for (const { status } of await world.pods())
      world.world.fdb.faults.cutAddress(status?.podIP ?? "");
    await world.clock.advance(5 * minuteMs);
    await world.changeSpec({ networkPolicy: { clients: [shopBlock] } });
    await world.clock.advance(minuteMs);
    assert.ok(JSON.stringify(await specOf(world)).includes("10.77.0.0"));
    await world.changeSpec({ networkPolicy: { clients: null } });
    await world.clock.advance(minuteMs);
    assert.equal((await waitIn(world))?.reason, "NetworkPolicyHeld");
    assert.ok(JSON.stringify(await specOf(world)).includes("10.77.0.0"));
    for (const { status } of await world.pods())
      world.world.fdb.faults.restoreAddress(status?.podIP ?? "");
    await world.untilReconciled();
    assert.ok(!JSON.stringify(await specOf(world)).includes("10.77.0.0"));
  });
});

test("[NET12] [NET23] three Kubernetes clusters of one database let each other in by address, and none is cut off (long)", async () => {
  await runMultiExample("three-kubernetes-clusters", {}, async (world, names) => {
    const witness = new NetworkWitness(world.worlds.map((site) => site.world));
    const blocks = world.worlds.map(({ world: site }) => `10.${16 * site.addressBlock}.0.0/12`);
    const policies = async () =>
      Promise.all(
        names.map((name) => world.at(name).client.list(networkPolicies, { namespace: "default" })),
      );
    const change = (cidrs: readonly string[]) => {
      const peers = cidrs.map((cidr) => ({ ipBlock: { cidr } }));
      return world.changeAll({ networkPolicy: { enabled: true, peers } });
    };
    // One is forgotten: whoever would cut it off makes no policy.
    await change(blocks.slice(0, 2));
    await world.clock.advance(3 * minuteMs);
    assert.deepEqual(
      (await policies()).map(({ items }) => items.length),
      [0, 0, 1],
    );
    await change(blocks);
    await world.untilAllReconciled();
    assert.deepEqual(
      (await policies()).map(({ items }) => items.length),
      [1, 1, 1],
    );
    // A whole cluster starts anew, so that everybody connects again.
    const [first = ""] = names;
    for (const { metadata } of await world.at(first).pods("stateless")) {
      await world
        .at(first)
        .client.delete(pods, { namespace: "default", name: metadata.name ?? "" });
    }
    await world.clock.advance(5 * minuteMs);
    assertClean(witness);
    assert.ok(witness.rows.has("peers to processes"));
    world.assertDataSafe();
  });
});

const changes: Readonly<Record<string, object>> = {
  "TLS is switched on": { mainContainer: { enableTls: true } },
  "pods get more processes": { storageServersPerPod: 3 },
  "labels change": { labels: { matchLabels: { "example.com/database": "one" } } },
  "addresses of services are used": { routing: { publicIPSource: "service" } },
};

for (const [title, change] of Object.entries(changes)) {
  test(`[NET15] [NET23] no connection of the database meets a closed port when ${title} (long)`, async () => {
    const spec = {
      ...{ ...small, ...on, processes: securedProcesses, minimumUptimeSecondsForBounce: 30 },
      automationOptions: { waitBetweenRemovalsSeconds: 0 },
    };
    await TestWorld.run({ hasCertificates: true }, async (world) => {
      const witness = new NetworkWitness([world.world]);
      await world.createCluster(spec);
      await world.untilReconciled();
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec(change);
      await world.untilReconciled(60 * minuteMs);
      await world.clock.advance(5 * minuteMs);
      assertClean(witness);
      assert.ok(witness.judged > 0);
      world.assertDataSafe();
      const { from = [] } = (await specOf(world)).ingress?.[0] ?? {};
      assert.notDeepEqual(
        from[0],
        { podSelector: {} },
        "the namespace as a whole is not let in any more",
      );
    });
  });
}

test("[NET1] the example is applied as it stands", async () => {
  await TestWorld.run({}, async (world) => {
    await world.client.create(foundationDbClusters, exampleCluster("network-policy.yaml"));
    await world.untilReconciled(10 * minuteMs, { name: "guarded" });
    const policy = await world.client.get(networkPolicies, { ...key, name: "guarded" });
    assert.equal(policy.spec?.ingress?.length, 3);
  });
});

test("[NET16] a policy whose labels another cluster has, too, is not made, and none is changed to such labels", async () => {
  const labels = { matchLabels: { app: "fdb" }, filterOnOwnerReference: true };
  await TestWorld.runWithCluster({ spec: { ...tiny, labels } }, async (world) => {
    const metadata = { namespace: "default", name: "other" };
    const { kind, spec } = await world.cluster();
    await world.client.create(foundationDbClusters, { apiVersion, kind, metadata, spec });
    await world.untilReconciled(10 * minuteMs, { name: "other" });
    await world.changeSpec(on);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await policyOf(world), undefined);
    const wait = await waitIn(world);
    assert.equal(wait?.reason, "NetworkPolicyHeld");
    assert.match(wait.message, /not made. Pods of other clusters have the same labels: other-/);
    // Labels of its own are the way out.
    const own = { matchLabels: { app: "fdb", database: "sample" }, filterOnOwnerReference: true };
    await world.changeSpec({ labels: own });
    await world.untilReconciled(20 * minuteMs);
    const made = await specOf(world);
    assert.equal(made.podSelector?.matchLabels?.["database"], "sample");
    // And back: the policy stays as it is.
    await world.changeSpec({ labels: { matchLabels: { database: null } } });
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual((await specOf(world)).podSelector, made.podSelector);
    assert.match((await waitIn(world))?.message ?? "", /not changed. Pods of other clusters/);
  });
});

test("[NET17] an operator that is named as pods of another namespace does not shut itself out", async () => {
  const operator = { plan: { operatorNamespace: "fdb-operator" } };
  await TestWorld.runWithCluster({ spec: tiny, operator }, async (world) => {
    const labels = { "app.kubernetes.io/name": "fdb-operator" };
    const podSelector = { matchLabels: labels };
    const named = { networkPolicy: { enabled: true, operator: [{ podSelector }] } };
    await world.changeSpec(named);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await policyOf(world), undefined);
    const wait = await waitIn(world);
    assert.equal(wait?.reason, "NetworkPolicyHeld");
    assert.match(wait.message, /spec.networkPolicy.operator .* namespace fdb-operator/);
    const there = { matchLabels: { "kubernetes.io/metadata.name": "fdb-operator" } };
    const right = [{ podSelector, namespaceSelector: there }];
    await world.changeSpec({ networkPolicy: { enabled: true, operator: right } });
    await world.untilReconciled();
    assert.notEqual(await policyOf(world), undefined);
  });
});
