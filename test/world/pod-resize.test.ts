// Pods that get other CPU and memory in place, and what becomes of those that cannot. Rules: spec/pod-resize.md [SIZE1]-[SIZE11].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import { nodes, pods as podKind } from "../../src/kube/resource.ts";
import { exampleCluster } from "./example.ts";
import { assertAllCopies, recoveries } from "./removal-harness.ts";
import {
  allRunWith,
  main,
  marks,
  podUids,
  restarts,
  runsWith,
  sized,
  waitOf,
  withPods,
} from "./resize-harness.ts";
import type { Shape } from "./resize-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";

async function untilWait(world: TestWorld, reason: string, limitMs = 5 * minuteMs) {
  await world.until(async () => (await waitOf(world, reason)) !== undefined, reason, limitMs);
  return waitOf(world, reason);
}

/** Fault domains in which pods were asked for other resources than they run with. */
async function zonesResizing(world: TestWorld): Promise<Set<string>> {
  const zones = (await world.pods()).flatMap((pod) => {
    const asked = pod.spec?.containers.find(({ name }) => name === main)?.resources?.limits;
    const isDone = `${asked?.["cpu"]} ${asked?.["memory"]}` === runsWith(pod);
    return isDone ? [] : [pod.spec?.nodeName ?? ""];
  });
  return new Set(zones);
}

function deletions(world: TestWorld): number {
  return world.activities.filter(
    (activity) => activity.type === "action" && activity.action.type === "deletePods",
  ).length;
}

async function assertUntouched(world: TestWorld, before: readonly string[]): Promise<void> {
  assert.deepEqual(await podUids(world), before, "every pod is the same one");
  assert.equal(await restarts(world), 0, "no container has started again");
  assert.deepEqual(await marks(world), [], "no mark is left");
}

for (const podUpdateStrategy of ["ReplaceTransactionSystem", "Replace", "Delete"] as const) {
  test(`[SIZE1] [SIZE3] [SIZE8] 16 pods are resized under their processes with ${podUpdateStrategy}, one fault domain at a time (long)`, async () => {
    const spec = { automationOptions: { podUpdateStrategy } };
    await withPods({ spec }, async (world) => {
      const [pods, before] = [await podUids(world), recoveries(world)];
      assert.equal(pods.length, 16);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      let most = 0;
      let isTold = false;
      const isDone = async (): Promise<boolean> => {
        most = Math.max(most, (await zonesResizing(world)).size);
        isTold ||= (await waitOf(world, "PodsResizing")) !== undefined;
        return (await allRunWith(world)).join() === "2 4Gi";
      };
      await world.until(isDone, "all pods have their resources", 20 * minuteMs);
      await world.untilReconciled();
      assert.equal(most, 1, "pods of one fault domain at a time");
      assert.ok(isTold);
      await assertUntouched(world, pods);
      assert.equal(recoveries(world), before, "no recovery");
      assert.deepEqual(await world.events("ReplacingProcesses"), []);
      assert.equal(deletions(world), 0);
      await assertAllCopies(world);
      const rested = world.requests.length;
      await world.clock.advance(10 * minuteMs);
      const idle = world.writesSince(rested).filter((write) => !write.includes(" leases "));
      assert.deepEqual(idle, []);
    });
  });
}

test("[SIZE1] the example: storage gets more memory and the other classes stay as they are", async () => {
  const { spec } = exampleCluster("pod-resources.yaml");
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.createCluster(spec);
    await world.untilReconciled();
    await world.clock.advance(2 * minuteMs);
    const pods = await podUids(world);
    const general = spec.processes?.["general"];
    const storage = sized("1", "6Gi")["general"];
    const containers = storage?.podTemplate?.spec?.containers?.slice(0, 1) ?? [];
    const podTemplate = { spec: { containers } };
    await world.changeSpec({
      processes: { ...(general && { general }), storage: { podTemplate } },
    });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["1 6Gi", "500m 2Gi"]);
    const resized = world.requests.filter(({ subresource }) => subresource === "resize");
    assert.equal(resized.length, 4);
    await assertUntouched(world, pods);
  });
});

test("[SIZE1] the same amounts in another form change nothing, and less of both is a resize like more (long)", async () => {
  await withPods({}, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("1000m", "2048Mi") });
    await world.untilReconciled();
    await assertUntouched(world, pods);
    await world.changeSpec({ processes: sized("0.5", "1536Mi") });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["500m 1536Mi"]);
    await assertUntouched(world, pods);
  });
});

test("[SIZE9] resources that are taken back or changed again half-way, and back again (long)", async () => {
  for (const [cpu, memory] of [
    ["1", "2Gi"],
    ["3", "3Gi"],
  ] as const) {
    await withPods({}, async (world) => {
      const pods = await podUids(world);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      const isHalfWay = async (): Promise<boolean> => (await allRunWith(world)).length === 2;
      await world.until(isHalfWay, "some have them", 5 * minuteMs);
      await world.changeSpec({ processes: sized(cpu, memory) });
      await world.untilReconciled(20 * minuteMs);
      assert.deepEqual(await allRunWith(world), [`${cpu} ${memory}`]);
      await assertUntouched(world, pods);
    });
  }
});

test("[SIZE9] another image half-way makes the pods again with all of it (long)", async () => {
  await withPods({ world: { nodes: 14 } }, async (world) => {
    await world.changeSpec({ processes: sized("2", "4Gi") });
    const isHalfWay = async (): Promise<boolean> => (await allRunWith(world)).length === 2;
    await world.until(isHalfWay, "some have them", 5 * minuteMs);
    const env = [{ name: "A", value: "1" }];
    await world.changeSpec({ processes: sized("2", "4Gi", { env }) });
    await world.untilReconciled(120 * minuteMs);
    const pods = await world.pods();
    for (const pod of pods) {
      const container = pod.spec?.containers.find(({ name }) => name === main);
      assert.ok(container?.env?.some(({ name }) => name === "A"));
      assert.equal(runsWith(pod), "2 4Gi");
    }
    assert.deepEqual(await marks(world), []);
    await assertAllCopies(world);
  });
});

/** Answers of the API server to resizes, in the words that it has for them. */
function refusing() {
  let refusal: { status: number; reason: string; message: string } | undefined;
  let count = 0;
  const wrapTransport: TestWorldOptions["wrapTransport"] = (transport) => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: async (request) => {
      if (refusal === undefined || !request.path.endsWith("/resize")) {
        return transport.request(request);
      }
      count += 1;
      const status = { kind: "Status", apiVersion: "v1", status: "Failure" };
      return { status: refusal.status, body: { ...status, ...refusal, code: refusal.status } };
    },
  });
  return {
    wrapTransport,
    refuse: (next: typeof refusal) => {
      refusal = next;
    },
    count: () => count,
  };
}

const refusals = [
  {
    title: "an API server that does not know the subresource",
    told: /cannot resize pods \(Kubernetes 1\.33 can\)/,
    status: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
  },
  {
    title: "a role without the right",
    told: /lacks the right to patch "pods\/resize"/,
    status: 403,
    reason: "Forbidden",
    message:
      'pods "a" is forbidden: User "o" cannot patch resource "pods/resize" in API group "" in the namespace "default"',
  },
  {
    title: "a node with an old kubelet",
    told: /Pod running on node without support for resize/,
    status: 422,
    reason: "Invalid",
    message: 'Pod "a" is invalid: spec: Forbidden: Pod running on node without support for resize',
  },
];

for (const { title, told, ...refusal } of refusals) {
  test(`[SIZE4] ${title}: the pods are made again as before, and it is told why (long)`, async () => {
    const { wrapTransport, refuse } = refusing();
    const spec = { automationOptions: { podUpdateStrategy: "Delete" } } as const;
    await withPods({ spec, world: { wrapTransport } }, async (world) => {
      const names = (await world.pods()).map(({ metadata }) => metadata.name).sort();
      const before = await podUids(world);
      refuse(refusal);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      const wait = await untilWait(world, "PodResizeImpossible");
      assert.match(wait?.message ?? "", told);
      assert.equal(await waitOf(world, "ActionFailed"), undefined, "no failure beside it");
      await world.untilReconciled(120 * minuteMs);
      const pods = await world.pods();
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), names);
      assert.ok(pods.every(({ metadata }) => !before.includes(metadata.uid ?? "")));
      assert.deepEqual(await allRunWith(world), ["2 4Gi"]);
      assert.deepEqual(await marks(world), []);
      await assertAllCopies(world);
    });
  });
}

test("[SIZE4] [SIZE9] a wish that could not be done in place and is taken back leaves the pods as they are (long)", async () => {
  const { wrapTransport, refuse } = refusing();
  const automationOptions = { deletionMode: "None", podUpdateStrategy: "Delete" } as const;
  await withPods({ spec: { automationOptions }, world: { wrapTransport } }, async (world) => {
    const pods = await podUids(world);
    const [refusal] = refusals;
    refuse(refusal);
    await world.changeSpec({ processes: sized("2", "4Gi") });
    await untilWait(world, "PodResizeImpossible");
    await world.clock.advance(20 * minuteMs);
    assert.ok(await waitOf(world, "PodChangePending"), "people delete pods themselves");
    await world.changeSpec({ processes: sized("1", "2Gi") });
    await world.untilReconciled();
    await world.clock.advance(20 * minuteMs);
    await assertUntouched(world, pods);
  });
});

test("[SIZE4] another quality of service class makes the pods again (long)", async () => {
  await withPods(
    { spec: { automationOptions: { podUpdateStrategy: "Delete" } } },
    async (world) => {
      const before = await podUids(world);
      const resources = {
        requests: { cpu: "1", memory: "1Gi" },
        limits: { cpu: "1", memory: "2Gi" },
      };
      await world.changeSpec({ processes: sized("1", "2Gi", { resources }) });
      const wait = await untilWait(world, "PodResizeImpossible");
      assert.match(wait?.message ?? "", /QOS Class may not change/);
      await world.untilReconciled(120 * minuteMs);
      assert.ok((await podUids(world)).every((uid) => !before.includes(uid)));
    },
  );
});

test("[SIZE6] a quota makes no pod again: it is told, and done when there is room (long)", async () => {
  const { wrapTransport, refuse, count } = refusing();
  await withPods({ world: { wrapTransport } }, async (world) => {
    const pods = await podUids(world);
    const message = 'pods "a" is forbidden: exceeded quota: compute';
    refuse({ status: 403, reason: "Forbidden", message });
    await world.changeSpec({ processes: sized("2", "4Gi") });
    const told = await untilWait(world, "ActionFailed");
    assert.match(told?.message ?? "", /Could not resize pod .* in place.*exceeded quota/);
    assert.match(told?.remedy ?? "", /ResourceQuota/);
    await world.clock.advance(30 * minuteMs);
    assert.ok(count() < 100, `${count()} attempts in half an hour`);
    assert.deepEqual(await podUids(world), pods);
    refuse(undefined);
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["2 4Gi"]);
    await assertUntouched(world, pods);
  });
});

test("[SIZE5] what the kubelet calls infeasible is told for a minute, and then made again through the guard", async () => {
  await withPods(
    { spec: { automationOptions: { podUpdateStrategy: "Delete" } } },
    async (world) => {
      const [first] = await world.pods("storage");
      const name = first?.spec?.nodeName ?? "";
      const labels = { "emulated.foundationdb.org/cpu-manager-policy": "static" };
      await world.client.patch(nodes, { name }, { metadata: { labels } }, { type: "merge" });
      const there = (await world.pods()).filter(({ spec }) => spec?.nodeName === name);
      const before = new Map(
        (await world.pods()).map(({ metadata }) => [metadata.name, metadata.uid]),
      );
      await world.changeSpec({ processes: sized("2", "2Gi") });
      const isSaid = async (): Promise<boolean> =>
        /Infeasible: .*CPU Manager/.test((await waitOf(world, "PodsResizing"))?.message ?? "");
      await world.until(isSaid, "the kubelet's words", 20 * minuteMs);
      assert.equal(deletions(world), 0);
      await world.untilReconciled(60 * minuteMs);
      const again = new Set(there.map(({ metadata }) => metadata.name));
      for (const { metadata } of await world.pods()) {
        const isSame = before.get(metadata.name) === metadata.uid;
        assert.equal(isSame, !again.has(metadata.name), metadata.name);
      }
      assert.deepEqual(await allRunWith(world), ["2 2Gi"]);
      assert.ok(deletions(world) >= 1);
      assert.ok((await world.events("PodResizeImpossible")).length > 0);
      await assertAllCopies(world);
    },
  );
});

/** A pod of somebody else that leaves little room on a node. */
async function crowd(world: TestWorld, nodeName: string): Promise<() => Promise<void>> {
  const key = { namespace, name: "crowd" };
  const resources = { requests: { cpu: "14" } };
  await world.client.create(podKind, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: key,
    spec: { nodeName, containers: [{ name: "a", image: "example/app:1", resources }] },
  });
  await world.clock.advance(minuteMs);
  return async () => void (await world.client.delete(podKind, key, { gracePeriodSeconds: 0 }));
}

const wide: Shape = { spec: { automationOptions: { podUpdateStrategy: "Delete" } } };

test("[SIZE5] a resize waits for room on its node, and is done when there is some", async () => {
  await withPods(wide, async (world) => {
    const pods = await podUids(world);
    const [first] = await world.pods("storage");
    const leave = await crowd(world, first?.spec?.nodeName ?? "");
    await world.changeSpec({ processes: sized("4", "4Gi") });
    const isSaid = async (): Promise<boolean> =>
      /Deferred: .*enough resource/.test((await waitOf(world, "PodsResizing"))?.message ?? "");
    await world.until(isSaid, "the kubelet's words", 20 * minuteMs);
    await world.clock.advance(5 * minuteMs);
    await leave();
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["4 4Gi"]);
    await assertUntouched(world, pods);
  });
});

test("[SIZE5] without room for ten minutes the pod is made again, where there is some", async () => {
  await withPods(wide, async (world) => {
    const [first] = await world.pods("storage");
    await crowd(world, first?.spec?.nodeName ?? "");
    await world.changeSpec({ processes: sized("4", "4Gi") });
    const wait = await untilWait(world, "PodResizeImpossible", 30 * minuteMs);
    assert.match(wait?.message ?? "", /its kubelet says Deferred/);
    await world.untilReconciled(120 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["4 4Gi"]);
    assert.ok(deletions(world) >= 1);
    await assertAllCopies(world);
  });
});

test("[SIZE5] more than any node has is told for a minute, in which it can be taken back", async () => {
  await withPods({}, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("20", "2Gi") });
    const isSaid = async (): Promise<boolean> =>
      /enough allocatable/.test((await waitOf(world, "PodsResizing"))?.message ?? "");
    await world.until(isSaid, "the server's words", minuteMs);
    await world.clock.advance(20_000);
    assert.equal(await waitOf(world, "ActionFailed"), undefined);
    await world.changeSpec({ processes: sized("1", "2Gi") });
    await world.untilReconciled(20 * minuteMs);
    await world.clock.advance(10 * minuteMs);
    await assertUntouched(world, pods);
  });
});

test("[SIZE2] the note waits for the kubelet: a node that is cut off has neither resources nor note", async () => {
  await withPods({}, async (world) => {
    const [first] = await world.pods("storage");
    const note = first?.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    const nodeName = first?.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.cutNode(nodeName), minuteMs, "a node is cut off");
    await world.changeSpec({ processes: sized("2", "4Gi") });
    await world.clock.advance(20_000);
    for (const pod of await world.pods()) {
      const isNoted = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec] !== note;
      if (pod.metadata.name === first?.metadata.name) assert.ok(!isNoted);
      assert.ok(pod.spec?.nodeName !== nodeName || runsWith(pod) === "1 2Gi");
    }
    await world.during(world.world.kubelet.startNode(nodeName), minuteMs, "it is back");
    await world.untilReconciled(60 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["2 4Gi"]);
    assert.deepEqual(await marks(world), []);
  });
});

const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
const env = [
  {
    name: "LIMIT",
    valueFrom: { resourceFieldRef: { containerName: main, resource: "limits.memory" } },
  },
];

for (const [title, more, told] of [
  ["a container that starts again for it", { resizePolicy }, /starts again for other memory/],
  ["a container that takes it into its environment", { env }, /limits\.memory .* variable LIMIT/],
] as const) {
  test(`[SIZE7] ${title}: its pod is made again through the guard; other CPU comes in place (long)`, async () => {
    const { spec } = wide;
    await withPods({ spec, processes: sized("1", "2Gi", more) }, async (world) => {
      const pods = await podUids(world);
      await world.changeSpec({ processes: sized("2", "2Gi", more) });
      await world.untilReconciled(20 * minuteMs);
      assert.deepEqual(await allRunWith(world), ["2 2Gi"]);
      await assertUntouched(world, pods);
      await world.changeSpec({ processes: sized("2", "4Gi", more) });
      const wait = await untilWait(world, "PodResizeImpossible");
      assert.match(wait?.message ?? "", told);
      await world.untilReconciled(120 * minuteMs);
      assert.deepEqual(await allRunWith(world), ["2 4Gi"]);
      assert.ok((await podUids(world)).every((uid) => !pods.includes(uid)));
      assert.equal(await restarts(world), 0, "made again, not started again");
    });
  });
}

test("[SIZE10] a pod that somebody has resized by hand is left as it is", async () => {
  await withPods({}, async (world) => {
    const pods = await podUids(world);
    const [first] = await world.pods("log");
    const amounts = { cpu: "3", memory: "3Gi" };
    const containers = [{ name: main, resources: { requests: amounts, limits: amounts } }];
    const key = { namespace, name: first?.metadata.name ?? "" };
    const options = { type: "strategic", subresource: "resize" } as const;
    await world.client.patch(podKind, key, { spec: { containers } }, options);
    await world.clock.advance(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["1 2Gi", "3 3Gi"]);
    await assertUntouched(world, pods);
  });
});

test("[SIZE11] podResourcesChange: Recreate, and replaceInstancesWhenResourcesChange, make pods again (long)", async () => {
  const recreate = { podResourcesChange: "Recreate", podUpdateStrategy: "Delete" } as const;
  for (const spec of [
    { automationOptions: recreate },
    { replaceInstancesWhenResourcesChange: true },
  ]) {
    await withPods({ spec, world: { nodes: 14 } }, async (world) => {
      const before = await podUids(world);
      await world.changeSpec({ processes: sized("2", "4Gi") });
      await world.untilReconciled(240 * minuteMs);
      assert.ok((await podUids(world)).every((uid) => !before.includes(uid)));
      const resizes = world.requests.filter(({ subresource }) => subresource === "resize");
      assert.deepEqual(resizes, []);
      await assertAllCopies(world);
    });
  }
});

test("[SIZE11] a resize in place waits for no maintenance window, and is done with deletionMode None", async () => {
  const maintenanceWindows = [{ cron: "0 3 31 12 *", duration: "1h" }];
  const automationOptions = { maintenanceWindows, deletionMode: "None" } as const;
  await withPods({ spec: { automationOptions } }, async (world) => {
    const pods = await podUids(world);
    await world.changeSpec({ processes: sized("2", "4Gi") });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(await allRunWith(world), ["2 4Gi"]);
    await assertUntouched(world, pods);
  });
});
