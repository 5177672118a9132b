// Clusters of every shape are brought up in a whole world. Rules: spec/world.md [W1]-[W17].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { persistentVolumeClaims, services } from "../../src/kube/resource.ts";
import { secrets } from "../../src/kube/resource.ts";
import { minuteMs, securedProcesses, small, tiny, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";
import { withAdmin } from "./with-admin.ts";

/** Brings a cluster up and checks what every new cluster must show; then whatever is special about it. */
async function created(
  spec: Partial<ClusterSpec>,
  check: (world: TestWorld) => Promise<void> = async () => {},
  options: TestWorldOptions = {},
): Promise<void> {
  await TestWorld.run(options, async (world) => {
    await world.createCluster(spec);
    await world.untilReconciled(2 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.health?.available, true);
    assert.equal(status?.configured, true);
    assert.equal(status?.blockedBy, undefined);
    assert.equal(status?.reconciledProcessGroups, status?.desiredProcessGroups);
    assert.equal(status?.processGroups?.length, status?.desiredProcessGroups);
    assert.equal(world.world.operator.counters().actionsFailed, 0);
    world.assertDataSafe();
    await check(world);
  });
}

async function commandLines(world: TestWorld): Promise<string[]> {
  const { status } = await world.cluster();
  const admin = world.world.fdb.admin.open({
    name: "test",
    connectionString: status?.connectionString ?? "",
    version: status?.runningVersion ?? "",
  });
  const answer = await world.during(admin.status(20_000), minuteMs, "status");
  admin.close();
  return Object.values(answer.cluster?.processes ?? {}).map(
    (process) => process.command_line ?? "",
  );
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W1] the default cluster comes up with the ${imageType} image (long)`, async () => {
    await created({ imageType }, async (world) => {
      const { status } = await world.cluster();
      assert.deepEqual(status?.imageTypes, [imageType]);
      assert.equal(status?.processGroups?.length, 16);
      for (const pod of await world.pods()) {
        const repository =
          imageType === "split"
            ? "foundationdb/foundationdb"
            : "foundationdb/fdb-kubernetes-monitor";
        assert.equal(pod.spec?.containers[0]?.image, `${repository}:7.3.63`);
        assert.equal(pod.spec?.initContainers?.length ?? 0, imageType === "split" ? 1 : 0);
      }
    });
  });
}

for (const [mode, coordinators] of [
  ["single", 1],
  ["double", 3],
  ["triple", 5],
] as const) {
  test(`[W2] redundancy ${mode} has ${coordinators} coordinators and its number of copies`, async () => {
    await created({ databaseConfiguration: { redundancy_mode: mode } }, async (world) => {
      const { status } = await world.cluster();
      assert.equal(status?.connectionString?.split("@")[1]?.split(",").length, coordinators);
      await world.clock.advance(2 * minuteMs);
      const copies = { single: 1, double: 2, triple: 3 }[mode];
      for (const shard of world.world.fdb.truth.replicas()) {
        assert.equal(shard.replicas.filter((replica) => replica.isLive).length, copies);
        assert.equal(new Set(shard.replicas.map((replica) => replica.zone)).size, copies);
      }
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W3] several storage and log servers run in one pod of the ${imageType} image`, async () => {
    const spec = { ...small, imageType, storageServersPerPod: 2, logServersPerPod: 3 };
    await created(spec, async (world) => {
      const lines = await commandLines(world);
      assert.equal(lines.filter((line) => line.includes("--class=storage")).length, 6);
      assert.equal(lines.filter((line) => line.includes("--class=log")).length, 9);
      const { status } = await world.cluster();
      assert.deepEqual([status?.storageServersPerDisk, status?.logServersPerDisk], [[2], [3]]);
    });
  });
}

test("[P102] [OP76] the first thing that a new database is asked is to be configured", async () => {
  const asked: string[] = [];
  const wrapAdmin = withAdmin((client) => {
    const noted = <K extends "status" | "configure">(name: K): Pick<AdminClient, K> =>
      ({
        [name]: (...input: [never, never]) => {
          asked.push(name);
          return client[name](...input);
        },
      }) as Pick<AdminClient, K>;
    return { ...noted("status"), ...noted("configure") };
  });
  const check = async (): Promise<void> => {
    await Promise.resolve();
    assert.deepEqual(asked.slice(0, 2), ["configure", "status"]);
    assert.equal(asked.filter((name) => name === "configure").length, 1);
  };
  await created(small, check, { wrapAdmin });
});

test("[P102] an operator that is replaced before the database is created leaves it to a status", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster(small);
    const hasString = async (): Promise<boolean> =>
      (await world.cluster()).status?.connectionString !== undefined;
    await world.until(hasString, "there is a connection string");
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    world.world.startOperator();
    await world.untilReconciled();
    world.assertDataSafe();
  });
});

test("[OP64] after the work a database is asked often until it is well", async () => {
  const askedMs: number[] = [];
  let wellMs = Infinity;
  let nowMs = (): number => 0;
  const wrapAdmin = withAdmin((client) => ({
    status: async (timeoutMs) => {
      askedMs.push(nowMs());
      const found = await client.status(timeoutMs);
      const told = found.client?.database_status;
      if (told !== undefined && nowMs() < wellMs) told.healthy = false;
      return found;
    },
  }));
  await TestWorld.runWithCluster({ spec: small, nodes: 6, wrapAdmin }, async (world) => {
    nowMs = () => world.clock.nowMs();
    askedMs.splice(0, Infinity, nowMs());
    wellMs = nowMs() + 20_000;
    await world.until(
      async () => (await world.cluster()).status?.health?.healthy === true,
      "it is well",
    );
    assert.ok(nowMs() - wellMs < 3_000, `noticed ${nowMs() - wellMs} ms later`);
    for (const [index, atMs] of askedMs.entries()) {
      const pauseMs = atMs - (askedMs[index - 1] ?? atMs);
      assert.ok(pauseMs < 3_000, `not asked for ${pauseMs} ms`);
    }
    const count = askedMs.length;
    await world.clock.advance(5 * minuteMs);
    assert.ok(askedMs.length - count < 12, "at rest it is asked seldom");
    wellMs = Infinity;
    await world.clock.advance(10 * minuteMs);
    assert.ok(askedMs.length - count < 36, "nor is one asked often that was well");
  });
});

test("[W4] a prefix is part of every process group id and of no pod name", async () => {
  await created({ ...tiny, processGroupIDPrefix: "west" }, async (world) => {
    const { status } = await world.cluster();
    for (const { processGroupID } of status?.processGroups ?? []) {
      assert.match(processGroupID ?? "", /^west-(storage|log|stateless)-\d+$/);
    }
    for (const pod of await world.pods()) {
      assert.match(pod.metadata.name ?? "", /^sample-(storage|log|stateless)-\d+$/);
    }
  });
});

test("[W5] without DNS names the coordinators are addresses and there is no headless service", async () => {
  await created({ ...small, routing: { useDNSInClusterFile: false } }, async (world) => {
    const { status } = await world.cluster();
    assert.match(status?.connectionString ?? "", /@(10\.\d+\.\d+\.\d+:4501,?){3}$/);
    const { items } = await world.client.list(services, { namespace: "default" });
    assert.deepEqual(items, []);
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W6] public addresses are those of services (${imageType} image)`, async () => {
    const routing = { publicIPSource: "service", useDNSInClusterFile: false } as const;
    await created({ ...small, imageType, routing }, async (world) => {
      const { items } = await world.client.list(services, { namespace: "default" });
      const addresses = new Set(items.map((service) => service.spec?.clusterIP));
      assert.equal(items.length, 9);
      const { status } = await world.cluster();
      for (const coordinator of status?.connectionString?.split("@")[1]?.split(",") ?? []) {
        assert.ok(addresses.has(coordinator.split(":")[0]), coordinator);
      }
      for (const group of status?.processGroups ?? []) {
        assert.ok(addresses.has(group.addresses?.[0]), JSON.stringify(group.addresses));
      }
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W6] host names lead to processes behind services (${imageType} image)`, async () => {
    const routing = { publicIPSource: "service" } as const;
    await created({ ...small, imageType, routing }, async (world) => {
      const { status } = await world.cluster();
      assert.match(status?.connectionString ?? "", /@sample-log-\d+\.sample\.default\./);
      const { items } = await world.client.list(services, { namespace: "default" });
      const addresses = new Set(items.map((service) => service.spec?.clusterIP));
      for (const group of status?.processGroups ?? []) {
        assert.ok(addresses.has(group.addresses?.[0]), JSON.stringify(group.addresses));
      }
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W7] with podIPFamily 6 DNS names lead to IPv6 addresses (${imageType} image)`, async () => {
    await created({ ...small, imageType, routing: { podIPFamily: 6 } }, async (world) => {
      const { status } = await world.cluster();
      assert.match(status?.connectionString ?? "", /@sample-log-\d+\.sample\.default\./);
      for (const line of await commandLines(world)) assert.match(line, /--public_address=\[fd00:/);
    });
  });

  test(`[W7] [KUBELET41] with podIPFamily 4 processes speak IPv4 (${imageType} image)`, async () => {
    await created({ ...small, imageType, routing: { podIPFamily: 4 } }, async (world) => {
      for (const line of await commandLines(world)) {
        assert.match(line, /--public_address=\[?10\.\d+\.\d+\.\d+\]?:/);
      }
    });
  });

  test(`[W7] with podIPFamily 6 processes speak IPv6 (${imageType} image)`, async () => {
    const routing = { podIPFamily: 6, useDNSInClusterFile: false };
    await created({ ...small, imageType, routing }, async (world) => {
      const { status } = await world.cluster();
      assert.match(status?.connectionString ?? "", /@\[fd00:/);
      for (const line of await commandLines(world)) assert.match(line, /--public_address=\[fd00:/);
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[W8] with TLS every address says so (${imageType} image)`, async () => {
    const tls = { mainContainer: { enableTls: true }, processes: securedProcesses };
    const check = async (world: TestWorld): Promise<void> => {
      const { status } = await world.cluster();
      assert.deepEqual(status?.requiredAddresses, { tls: true });
      for (const address of status?.connectionString?.split("@")[1]?.split(",") ?? []) {
        assert.match(address, /:4500:tls$/);
      }
      for (const line of await commandLines(world)) {
        assert.match(line, /--public_address=[^ ]*:4500:tls/);
      }
    };
    await created({ ...small, imageType, ...tls }, check, { hasCertificates: true });
  });
}

test("[W8] a sidecar with TLS takes its certificates from a Secret", async () => {
  const files = ["cert", "ca", "key"];
  const env = [
    ["FDB_TLS_CERTIFICATE_FILE", "cert"],
    ["FDB_TLS_CA_FILE", "ca"],
    ["FDB_TLS_KEY_FILE", "key"],
  ].map(([name = "", file]) => ({ name, value: `/certificates/${file}` }));
  const volumeMounts = [{ name: "certificates", mountPath: "/certificates" }];
  const container = { env, volumeMounts, resources: { requests: { cpu: "50m" } } };
  const names = ["foundationdb", "foundationdb-kubernetes-sidecar"];
  const podTemplate = {
    spec: {
      containers: names.map((name) => ({ ...container, name })),
      initContainers: [{ ...container, name: "foundationdb-kubernetes-init" }],
      volumes: [{ name: "certificates", secret: { secretName: "certificates" } }],
    },
  };
  await TestWorld.run({}, async (world) => {
    await world.client.create(secrets, {
      ...{ apiVersion: "v1", kind: "Secret" },
      metadata: { name: "certificates", namespace: "default" },
      stringData: Object.fromEntries(files.map((file) => [file, `the ${file}`])),
    });
    await world.createCluster({
      ...{ ...tiny, imageType: "split", processes: { general: { podTemplate } } },
      ...{ mainContainer: { enableTls: true }, sidecarContainer: { enableTls: true } },
    });
    await world.untilReconciled();
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[W9] custom parameters reach the processes, variables resolved (${imageType} image)`, async () => {
    const general = {
      customParameters: ["knob_disable_posix_kernel_aio=1", "locality_disk_id=$FDB_INSTANCE_ID"],
    };
    await created({ ...tiny, imageType, processes: { general } }, async (world) => {
      for (const line of await commandLines(world)) {
        assert.match(line, /--knob_disable_posix_kernel_aio=1/);
        const id = /--locality_instance_id=([^ ]+)/.exec(line)?.[1];
        assert.ok(line.includes(`--locality_disk_id=${id}`), line);
      }
    });
  });
}

test("[W10] parts of the connection string can be chosen", async () => {
  const partialConnectionString = { databaseName: "books", generationID: "first" };
  await created({ ...tiny, partialConnectionString }, async (world) => {
    const { status } = await world.cluster();
    assert.match(status?.connectionString ?? "", /^books:first@/);
  });
});

test("[W11] a second resource with a seed joins the database of the first and creates none", async () => {
  await created({ ...small, processGroupIDPrefix: "one" }, async (world) => {
    const { status } = await world.cluster();
    await world.createCluster(
      {
        ...small,
        processGroupIDPrefix: "two",
        seedConnectionString: status?.connectionString ?? "",
        processCounts: { storage: 2, log: -1, stateless: -1 },
      },
      { name: "second" },
    );
    await world.untilReconciled(3 * minuteMs, { name: "second" });
    const second = await world.cluster({ name: "second" });
    assert.equal(second.status?.connectionString, status?.connectionString);
    assert.equal(second.status?.processGroups?.length, 2);
    world.assertDataSafe(1);
    assert.equal((await commandLines(world)).length, 11);
    const creations = world.activities.filter(
      (activity) => activity.type === "action" && activity.action.type === "configureDatabase",
    );
    assert.equal(creations.length, 1);
    await world.untilReconciled();
  });
});

for (const [key, zone] of [
  ["foundationdb.org/none", /--locality_zoneid=sample-/],
  ["foundationdb.org/kubernetes-cluster", /--locality_zoneid=kc2 /],
] as const) {
  test(`[W12] fault domain key ${key}`, async () => {
    const faultDomain = { key, value: "kc2", zoneIndex: 1, zoneCount: 3 };
    const databaseConfiguration = { redundancy_mode: "single" } as const;
    await created({ ...tiny, databaseConfiguration, faultDomain }, async (world) => {
      for (const line of await commandLines(world)) assert.match(`${line} `, zone);
    });
  });
}

test("[W13] explicit process counts are kept to the letter", async () => {
  const processCounts = { storage: 4, log: 3, stateless: -1, cluster_controller: 1, proxy: 2 };
  await created({ ...small, processCounts: { ...processCounts, grv_proxy: 0 } }, async (world) => {
    const { status } = await world.cluster();
    const counts: Record<string, number> = {};
    for (const { processClass = "" } of status?.processGroups ?? []) {
      counts[processClass] = (counts[processClass] ?? 0) + 1;
    }
    assert.deepEqual(counts, { cluster_controller: 1, log: 3, proxy: 2, storage: 4 });
  });
});

test("[W14] two clusters in one namespace do not see each other", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster(small, { name: "first" });
    await world.createCluster(small, { name: "second" });
    for (const name of ["first", "second"]) await world.untilReconciled(2 * minuteMs, { name });
    world.assertDataSafe(2);
    for (const name of ["first", "second"]) {
      const { status } = await world.cluster({ name });
      assert.equal(status?.processGroups?.length, 9);
      assert.ok(status?.connectionString?.startsWith(`${name}:`));
    }
  });
});

test("[W15] two clusters of one name in two namespaces do not see each other", async () => {
  await TestWorld.run({}, async (world) => {
    for (const namespace of ["east", "west"]) {
      await world.createNamespace(namespace);
      await world.createCluster(small, { namespace });
    }
    for (const namespace of ["east", "west"]) {
      await world.untilReconciled(2 * minuteMs, { namespace });
      assert.equal((await world.pods(undefined, namespace)).length, 9);
    }
    world.assertDataSafe(2);
  });
});

test("[W16] an operator of one namespace touches no other", async () => {
  await TestWorld.run({ operator: { namespace: "mine" } }, async (world) => {
    await world.createNamespace("mine");
    await world.createCluster(tiny, { namespace: "mine" });
    await world.createCluster(tiny, { name: "foreign" });
    await world.untilReconciled(2 * minuteMs, { namespace: "mine" });
    const foreign = await world.cluster({ name: "foreign" });
    assert.equal(foreign.status, undefined);
    assert.deepEqual(await world.pods(), []);
    for (const { namespace } of world.requests) assert.equal(namespace, "mine");
  });
});

test("[W17] every stateful process group has its volume, and no other has one", async () => {
  await created(small, async (world) => {
    const { items } = await world.client.list(persistentVolumeClaims, { namespace: "default" });
    assert.equal(items.length, 6);
    for (const claim of items) assert.equal(claim.status?.phase, "Bound", claim.metadata.name);
    const { status } = await world.cluster();
    for (const { processClass, processGroupID } of status?.processGroups ?? []) {
      const isKept = items.some(
        ({ metadata }) =>
          metadata.labels?.["foundationdb.org/fdb-process-group-id"] === processGroupID,
      );
      assert.equal(isKept, processClass !== "stateless", processGroupID);
    }
  });
});
