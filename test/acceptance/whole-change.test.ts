// Checklist: changes of a running cluster in whole worlds: images, addresses, knobs, TLS, coordinators, engines, services.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { configMaps, nodes, pods, services } from "../../src/kube/resource.ts";
import { registerClusterMetrics } from "../../src/operate/metrics-cluster.ts";
import { readSets } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, operatorKeys } from "../../src/fdb/keys.ts";
import { readDenyList } from "../../src/fdb/deny-list.ts";
import { person, untilSettled } from "../world/removal-harness.ts";
import { acts, knobs, recoveries, untilBlocked } from "../world/restart-harness.ts";
import { minuteMs, securedProcesses, small, tiny, TestWorld } from "../world/world-harness.ts";
import { long, shared } from "./checklist-case.ts";
import {
  coordinators,
  firstOf,
  idsOf,
  life,
  nameOf,
  namespace,
  podOf,
  quick,
  template,
  uidsOf,
} from "./life.ts";
import { Scene } from "./scene.ts";

const { item, together } = long;

type Spec = Partial<ClusterSpec>;
const dualStack = { kubelet: { isDualStack: true } };

async function imageTypes(world: TestWorld): Promise<string[]> {
  const found = (await world.pods()).map(
    (pod) => pod.metadata.annotations?.["foundationdb.org/image-type"] ?? "",
  );
  return [...new Set(found)];
}
async function commandLines(world: TestWorld): Promise<string[]> {
  const status = await person(world, (client) => client.status(10_000));
  return Object.values(status.cluster?.processes ?? {}).map(
    (process) => process.command_line ?? "",
  );
}

together(["A02.1", "F08.11"], () =>
  life({ imageType: "split" }, async (world) => {
    await world.changeSpec({ imageType: "unified" });
    await untilSettled(world, 40 * minuteMs);
    assert.deepEqual(await imageTypes(world), ["unified"]);
    assert.deepEqual((await world.cluster()).status?.imageTypes, ["unified"]);
  }),
);
together(["A02.2", "F08.12"], () =>
  life(
    { imageType: "split", routing: { useDNSInClusterFile: false } },
    async (world) => {
      await world.changeSpec({ imageType: "unified", routing: { podIPFamily: 6 } });
      await untilSettled(world, 60 * minuteMs);
      assert.deepEqual(await imageTypes(world), ["unified"]);
      for (const line of await commandLines(world))
        assert.match(line, /--public_address=\[[0-9a-f]*:/);
    },
    dualStack,
  ),
);
item("F08.13", () =>
  life({ imageType: "unified" }, async (world) => {
    await world.changeSpec({ imageType: "split" });
    await untilSettled(world, 40 * minuteMs);
    assert.deepEqual(await imageTypes(world), ["split"]);
  }),
);
item("A03.1", () =>
  life({}, async (world) => {
    await world.changeSpec({ routing: { useDNSInClusterFile: false } });
    await untilSettled(world, 15 * minuteMs);
    for (const text of await coordinators(world)) assert.match(text, /^10\.|^\d+\./);
    for (const line of await commandLines(world)) assert.ok(!line.includes("dns_name"), line);
    for (const pod of await world.pods()) assert.equal(pod.spec?.hostname, undefined);
  }),
);
item("F08.6", () =>
  life({ routing: { useDNSInClusterFile: false } }, async (world) => {
    await world.changeSpec({ routing: { useDNSInClusterFile: true } });
    await untilSettled(world, 40 * minuteMs);
    for (const text of await coordinators(world))
      assert.match(text, /^sample-.*\.svc\.cluster\.local:4501$/);
  }),
);
item("A04.1", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "storage");
    await world.changeSpec({ buggify: { crashLoop: [id] } });
    await world.until(async () => {
      const container = (await podOf(world, id)).spec?.containers[0];
      return container?.args?.[0] === "crash-loop";
    }, "the pod crashes");
    await world.changeSpec({ buggify: null });
    await world.untilReconciled(15 * minuteMs);
  }),
);
item("A04.2", () =>
  life({ imageType: "split" }, async (world) => {
    await world.changeSpec({ buggify: { emptyMonitorConf: true } });
    const isUp = (): boolean => world.world.fdb.truth.databases()[0]?.isAvailable === true;
    await world.until(() => Promise.resolve(!isUp()), "the processes end", 15 * minuteMs);
    const map = await world.client.get(configMaps, { namespace, name: "sample-config" });
    assert.ok(!map.data?.["fdbmonitor-conf-storage"]?.includes("[fdbserver.1]"));
    await world.changeSpec({ buggify: null });
    await world.untilReconciled(15 * minuteMs);
  }),
);

const knob = shared(async () => {
  const found = { kills: 0, groups: 0, map: "", recoveries: 0, lines: [] as string[] };
  await life({}, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=12345", "locality_own=$FDB_INSTANCE_ID"));
    await world.untilReconciled(15 * minuteMs);
    found.kills = acts(world, "killProcesses").length;
    found.groups = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds).length;
    const map = await world.client.get(configMaps, { namespace, name: "sample-config" });
    found.map = map.data?.["fdbmonitor-conf-storage-json"] ?? "";
    found.recoveries = recoveries(world) - before;
    found.lines = await commandLines(world);
  });
  return found;
});
item("A11.1", async () => {
  const found = await knob();
  assert.deepEqual([found.kills, found.groups, found.recoveries], [2, 9, 1]);
  assert.ok(found.map.includes("knob_max_trace_lines"));
});
item("A11.2", async () => {
  for (const line of (await knob()).lines) {
    const id = /--locality_instance_id=(\S+)/.exec(line)?.[1];
    assert.ok(line.includes(`--locality_own=${id}`), line);
  }
});
item("F01.39", async () => {
  for (const line of (await knob()).lines)
    assert.ok(line.includes("--knob_max_trace_lines=12345"), line);
});
item("A11.3", () =>
  life({ automationOptions: { killProcesses: false } }, async (world) => {
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await untilBlocked(world, "ProcessNeedsRestart");
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(acts(world, "killProcesses"), []);
    const map = await world.client.get(configMaps, { namespace, name: "sample-config" });
    assert.ok(map.data?.["fdbmonitor-conf-storage-json"]?.includes("knob_max_trace_lines"));
  }),
);
const dense = shared(async () => {
  let ports: string[] = [];
  await life({ storageServersPerPod: 2, logServersPerPod: 2 }, async (world) => {
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await world.untilReconciled(15 * minuteMs);
    const addresses = acts(world, "killProcesses").flatMap((kill) => kill.addresses);
    ports = addresses.map((text) => text.split(":")[1] ?? "").sort();
  });
  return ports;
});
item("A11.4", async () => assert.equal((await dense()).length, 15));
item("A11.5", async () =>
  assert.equal((await dense()).filter((port) => port === "4503").length, 6),
);

/** The public addresses come from somewhere else: everything is replaced. */
async function moved(world: TestWorld, source: "pod" | "service"): Promise<void> {
  const before = await idsOf(world);
  await world.changeSpec({ routing: { publicIPSource: source } });
  await untilSettled(world, 60 * minuteMs);
  const after = await idsOf(world);
  assert.equal(after.length, 9);
  assert.deepEqual(
    after.filter((id) => before.includes(id)),
    [],
  );
  for (const pod of await world.pods()) {
    assert.equal(pod.metadata.annotations?.["foundationdb.org/public-ip-source"], source);
  }
  const { items } = await world.client.list(services, { namespace });
  const own = items.filter((each) => each.spec?.clusterIP !== "None");
  assert.equal(own.length, source === "service" ? 9 : 0);
}
const named: Spec = { routing: { useDNSInClusterFile: false } };
const served: Spec = { routing: { useDNSInClusterFile: false, publicIPSource: "service" } };
together(["A14.1", "F08.2"], () => life(named, (world) => moved(world, "service")));
item("A14.2", () => life(served, (world) => moved(world, "pod")));
item("A14.3", () =>
  life({ ...named, storageServersPerPod: 2 }, (world) => moved(world, "service")),
);
item("A14.4", () =>
  life(
    { useExplicitListenAddress: false, automationOptions: { podUpdateStrategy: "Delete" } },
    async (world) => {
      const has = async (): Promise<boolean> =>
        (await world.pods()).every((pod) =>
          pod.spec?.containers[0]?.env?.some((variable) => variable.name === "FDB_POD_IP"),
        );
      assert.ok(!(await has()));
      await world.changeSpec({ useExplicitListenAddress: true });
      await world.untilReconciled(40 * minuteMs);
      assert.ok(await has());
      for (const line of await commandLines(world))
        assert.ok(line.includes("--listen_address="), line);
    },
  ),
);

async function secured(world: TestWorld, change: object): Promise<void> {
  await world.changeSpec({ mainContainer: { enableTls: true }, ...change });
  await world.untilReconciled(40 * minuteMs);
  for (const text of await coordinators(world)) assert.ok(text.endsWith(":tls"), text);
  assert.ok(acts(world, "killProcesses").length >= 1);
  assert.deepEqual((await world.cluster()).status?.requiredAddresses, { tls: true });
}
const certified = { hasCertificates: true };
together(["A15.1", "F08.8"], () =>
  life({ processes: securedProcesses }, (world) => secured(world, {}), certified),
);
const env = [{ name: "OWN", value: "1" }];
item("F08.9", () =>
  life(
    { automationOptions: { podUpdateStrategy: "Delete" }, processes: securedProcesses },
    (world) => secured(world, { processes: template({ env, base: securedProcesses }) }),
    certified,
  ),
);
/** From the family that a pod happens to have, or from IPv4, to IPv6. */
function toSix(podIPFamily: 0 | 4): Promise<void> {
  return life(
    { routing: { podIPFamily, useDNSInClusterFile: false } },
    async (world) => {
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      await untilSettled(world, 20 * minuteMs);
      for (const line of await commandLines(world))
        assert.match(line, /--listen_address=\[[0-9a-f]*:/);
      for (const text of await coordinators(world)) assert.ok(text.startsWith("["), text);
    },
    dualStack,
  );
}
item("A15.2", () => toSix(0));
item("F08.4", () => toSix(4));
/** Names lead to one family, so the coordinators have addresses meanwhile. */
item("B04.9", () =>
  life(
    {},
    async (world) => {
      const service = () => world.client.get(services, { namespace, name: "sample" });
      const before = await service();
      assert.deepEqual(before.spec?.ipFamilies, ["IPv4"]);
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      await untilSettled(world, 60 * minuteMs);
      const after = await service();
      assert.deepEqual(after.spec?.ipFamilies, ["IPv6"]);
      assert.notEqual(after.metadata.uid, before.metadata.uid);
      for (const line of await commandLines(world)) {
        assert.match(line, /--listen_address=\[[0-9a-f]*:/);
      }
      for (const text of await coordinators(world)) assert.match(text, /^sample-.*\.svc\./);
    },
    dualStack,
  ),
);
item("A15.3", () =>
  life(
    { routing: { podIPFamily: 6 } },
    async (world) => {
      for (const line of await commandLines(world))
        assert.match(line, /--listen_address=\[[0-9a-f]*:/);
    },
    dualStack,
  ),
);
const chosen = shared(async () => {
  const found: string[][] = [];
  await life({}, async (world) => {
    for (const processClass of ["storage", "log"]) {
      await world.changeSpec({ coordinatorSelection: [{ processClass, priority: 1 }] });
      await world.untilReconciled(15 * minuteMs);
      found.push(
        (await coordinators(world)).map((text) => /^sample-([a-z]+)-/.exec(text)?.[1] ?? text),
      );
    }
  });
  return found;
});
item("A16.1", async () => assert.deepEqual((await chosen())[0], ["storage", "storage", "storage"]));
item("A16.2", async () => assert.deepEqual((await chosen())[1], ["log", "log", "log"]));
item("F01.19", async () => {
  for (const [index, processClass] of ["storage", "log"].entries()) {
    assert.ok((await chosen())[index]?.every((each) => each === processClass));
  }
});

const headless = shared(async () => {
  const found: string[][] = [];
  await life({ ...named, automationOptions: { podUpdateStrategy: "Delete" } }, async (world) => {
    const names = async () => (await world.client.list(services, { namespace })).items.map(nameOf);
    await world.changeSpec({ routing: { headlessService: true } });
    await untilSettled(world, 40 * minuteMs);
    found.push(await names());
    await world.changeSpec({ routing: { headlessService: false } });
    await untilSettled(world, 40 * minuteMs);
    await world.clock.advance(minuteMs);
    found.push(await names());
  });
  return found;
});
item("A22.1", async () => assert.deepEqual((await headless())[0], ["sample"]));
item("A22.2", async () => assert.deepEqual((await headless())[1], []));
const locking = shared(async () => {
  const found = { denied: [] as string[], status: [] as readonly string[], entries: -1 };
  await life(
    { lockOptions: { disableLocks: false, denyList: [{ id: "gone" }] } },
    async (world) => {
      const keys = operatorKeys();
      found.denied = await person(world, (admin) => readDenyList({ admin, keys }));
      found.status = (await world.cluster()).status?.locks?.lockDenyList ?? [];
      await world.changeSpec({ processGroupsToRemove: [await firstOf(world, "stateless")] });
      await untilSettled(world);
      const sets = await person(world, (admin) => readSets({ admin, keys }, coordinationSets));
      found.entries = Object.values(sets).flatMap((set) => set.entries).length;
    },
  );
  return found;
});
item("A22.3", async () => {
  const { denied, status } = await locking();
  assert.deepEqual([denied, status], [["gone"], ["gone"]]);
});
item("C03.1", async () => assert.equal((await locking()).entries, 0));
item("A22.4", async () => {
  assert.equal(typeof registerClusterMetrics, "function");
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const text = world.world.operator.metricsText();
    assert.match(text, /fdb_operator_cluster_status\{[^}]*status_type="available"[^}]*\} 1/);
    assert.match(text, /name="sample"/);
  });
});

/** A pod that ended for good is made again. */
async function ended(world: TestWorld, reason: string): Promise<void> {
  const [pod] = await world.pods("storage");
  const name = pod?.metadata.name ?? "";
  if (reason === "Evicted")
    world.world.kubelet.evictPod(namespace, name, "the node is low on memory");
  else {
    const status = { phase: "Failed", reason, message: "Pod was rejected" };
    await world.client.patch(
      pods,
      { namespace, name },
      { status },
      { type: "merge", subresource: "status" },
    );
  }
  await world.until(
    async () =>
      (await world.client.find(pods, { namespace, name }))?.metadata.uid !== pod?.metadata.uid,
    "the pod is another one",
  );
  await world.clock.advance(minuteMs);
  await world.untilReconciled();
  assert.equal((await world.client.get(pods, { namespace, name })).status?.phase, "Running");
}
item("A23.1", () => life({}, (world) => ended(world, "NodeAffinity")));
item("A23.2", () => life({}, (world) => ended(world, "Evicted")));

const engine = (storage_engine: string, version = "7.3.63"): Spec =>
  ({
    ...tiny,
    version,
    databaseConfiguration: { redundancy_mode: "single", storage_engine },
  }) as Spec;
async function reaches(name: string, storage_engine: string): Promise<void> {
  await TestWorld.runWithCluster({ spec: quick(engine(storage_engine)) }, async (world) => {
    const { status } = await world.cluster();
    assert.equal(status?.databaseConfiguration?.storage_engine, storage_engine, name);
  });
}
item("A24.1", () => reaches("A24.1", "ssd-rocksdb-v1"));
item("A24.2", () => {
  // No version that the simulated database knows has this name, so only the comparison is looked at.
  const storage_engine = "ssd-rocksdb-experimental";
  const databaseConfiguration = {
    redundancy_mode: "double",
    storage_engine,
  } as ClusterSpec["databaseConfiguration"];
  const scene = new Scene().spec({ databaseConfiguration });
  assert.ok(!scene.plan().isReconciled);
  scene.database.configuration = { ...scene.database.configuration, storage_engine };
  assert.ok(scene.plan().isReconciled);
});
item("A24.3", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster(engine("ssd-sharded-rocksdb", "7.1.57"));
    await world.clock.advance(minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.blockedBy?.[0]?.reason, "InvalidSpec");
  });
  await reaches("A24.3", "ssd-sharded-rocksdb");
});
item("A24.4", () => reaches("A24.4", "ssd-redwood-1"));

const wrong = (count: number): string[] => {
  const scene = new Scene();
  const ids = scene.ids("storage").slice(0, count);
  for (const id of ids) for (const process of scene.processes(id)) process.command_line += " --old";
  const found = scene.groups
    .map((group) => group.processGroupID)
    .filter((id) => scene.conditions(id).includes("IncorrectCommandLine"));
  assert.deepEqual(found, ids);
  return found;
};
item("A25.1", () => assert.equal(wrong(1).length, 1));
item("A25.2", () => assert.equal(wrong(2).length, 2));

/** Passes that a taint of a node brings about; the operator may look after one namespace only. */
async function passesAfterTaint(watched: string | undefined, isOwnNode: boolean): Promise<number> {
  let found = -1;
  const replacements = { taintReplacementOptions: [{ key: "*", durationInSeconds: 600 }] };
  const operator = { ...(watched === undefined ? {} : { namespace: watched }), watchesNodes: true };
  await TestWorld.run({ nodes: 12, operator }, async (world) => {
    await world.createNamespace("other");
    await world.createCluster(
      { ...small, automationOptions: { replacements } },
      { namespace: "other" },
    );
    if (watched === undefined || watched === "other") {
      await world.untilReconciled(5 * minuteMs, { namespace: "other" });
      await world.clock.advance(2 * minuteMs);
    } else await world.clock.advance(minuteMs);
    const used = new Set(
      (await world.pods(undefined, "other")).map((pod) => pod.spec?.nodeName ?? ""),
    );
    const { items } = await world.client.list(nodes, {});
    const node =
      items.map(nameOf).find((name) => used.has(name) === isOwnNode) ?? items.map(nameOf)[0] ?? "";
    const before = world.world.operator.counters().passes;
    const taints = [{ key: "example.org/bad", effect: "NoSchedule" }];
    await world.client.patch(nodes, { name: node }, { spec: { taints } }, { type: "merge" });
    await world.clock.advance(1_000);
    found = world.world.operator.counters().passes - before;
  });
  return found;
}
item("A26.1", async () => assert.ok((await passesAfterTaint(undefined, true)) > 0));
item("A26.2", async () => assert.ok((await passesAfterTaint("other", true)) > 0));
item("A26.3", async () => assert.equal(await passesAfterTaint("default", false), 0));
item("A26.4", async () => assert.equal(await passesAfterTaint(undefined, false), 0));

item("F01.31", () =>
  life({ databaseConfiguration: { redundancy_mode: "double", proxies: 3 } }, async (world) => {
    const databaseConfiguration = { proxies: null, grv_proxies: 1, commit_proxies: 2 };
    await world.changeSpec({ databaseConfiguration });
    await world.untilReconciled(15 * minuteMs);
    const status = await person(world, (client) => client.status(10_000));
    const { grv_proxies, commit_proxies } = status.cluster?.configuration ?? {};
    assert.deepEqual([grv_proxies, commit_proxies], [1, 2]);
  }),
);
item("F08.10", () =>
  life({}, async (world) => {
    const databaseConfiguration = {
      storage_engine: "ssd-rocksdb-v1",
      storage_migration_type: "aggressive",
    };
    await world.changeSpec({ databaseConfiguration });
    await world.untilReconciled(30 * minuteMs);
    const { status } = await world.cluster();
    assert.equal(status?.databaseConfiguration?.storage_engine, "ssd-rocksdb-v1");
  }),
);
const tested = shared(async () => {
  const found: number[] = [];
  await life({}, async (world) => {
    const uids = uidsOf(await world.pods());
    await world.changeSpec({ processCounts: { test: 1 } });
    await untilSettled(world);
    found.push((await world.pods("test")).length);
    await world.changeSpec({ processCounts: { test: -1 } });
    await untilSettled(world);
    found.push((await world.pods("test")).length);
    assert.deepEqual(uidsOf(await world.pods()), uids);
  });
  return found;
});
item("F01.32", async () => assert.equal((await tested())[0], 1));
item("F01.33", async () => assert.equal((await tested())[1], 0));
