// Ways in which Kubernetes, the resource or the operator itself keeps things from happening, and the true cause of
// each. Rules: spec/explain.md [E40], [E41].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Pod } from "../../src/kube/generated/types.ts";
import { events, nodes, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "../../src/kube/transport.ts";
import { pageOf, stuckTest } from "./stuck-case.ts";
import {
  frugalProcesses,
  hourMs,
  keyOfObject,
  minuteMs,
  nameOf,
  small,
  TestWorld,
  tiny,
} from "./world-harness.ts";

type Answer = (request: KubeRequest) => KubeResponse | undefined;

/** Something between the operator and the API server that answers some requests itself. */
function between(answer: Answer): (transport: KubeTransport) => KubeTransport {
  return (transport) => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: async (request) => answer(request) ?? transport.request(request),
  });
}

function refusal(code: number, reason: string, message: string): KubeResponse {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message };
  return { status: code, body };
}

function creates(request: KubeRequest, plural: string): boolean {
  return request.method === "POST" && request.path.endsWith(`/${plural}`);
}

function processGroupId(pod: Stored<Pod>): string {
  return pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
}

/** Pods have to be made anew for another environment of their containers. */
async function changeEnvironment(world: TestWorld): Promise<void> {
  const env = [{ name: "EXTRA", value: "1" }];
  const { containers = [] } = frugalProcesses?.["general"]?.podTemplate?.spec ?? {};
  const spec = { containers: containers.map((container) => ({ ...container, env })) };
  await world.changeSpec({ processes: { general: { podTemplate: { spec } } } });
}

stuckTest({
  title: "a quota that is used up",
  world: {
    wrapTransport: between((request) =>
      creates(request, "pods")
        ? refusal(403, "Forbidden", "exceeded quota: compute, requested: pods=1, limited: pods=0")
        : undefined,
    ),
  },
  isNew: true,
  reason: "ActionFailed",
  message: /create pod sample-.*exceeded quota: compute/,
  page: /does not come up by itself.*exceeded quota: compute.*Do: Raise the ResourceQuota/,
});

stuckTest({
  title: "an admission webhook that refuses volume claims",
  world: {
    wrapTransport: between((request) =>
      creates(request, "persistentvolumeclaims")
        ? refusal(403, "Forbidden", 'admission webhook "storage.example.com" denied the request')
        : undefined,
    ),
  },
  isNew: true,
  reason: "ActionFailed",
  message: /create volume claim .*"storage\.example\.com" denied/,
  page: /"storage\.example\.com" denied.*Do: .*admission webhook/,
});

stuckTest({
  title: "services that get no address",
  spec: { ...tiny, routing: { publicIPSource: "service" } },
  world: {
    wrapTransport: (transport) => ({
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: (request) => {
        const body = request.body as { spec?: { clusterIP?: string } } | undefined;
        const isHeadless = body?.spec?.clusterIP === "None";
        if (!creates(request, "services") || isHeadless) return transport.request(request);
        const spec = { ...body?.spec, type: "ExternalName", externalName: "pool.example.com" };
        return transport.request({ ...request, body: { ...body, spec } });
      },
    }),
  },
  isNew: true,
  reason: "ServiceAddressMissing",
  message: /sample-/,
  page: /ServiceAddressMissing.*Do: /,
});

stuckTest({
  title: "a configuration that the monitor in the pod does not accept",
  spec: small,
  happens: async (world) => {
    await world.changeSpec({ localities: [{ key: "rack", envValue: "RACK_NAME" }] });
  },
  reason: "ConfigurationNotInPod",
  message: /sample-/,
  page: /ConfigurationNotInPod.*Do: .*log/,
});

stuckTest({
  title: "a sidecar that does not answer",
  spec: { ...small, imageType: "split" },
  happens: async (world) => {
    const [pod] = await world.pods("storage");
    world.world.network.cut(pod?.status?.podIP ?? "");
    const customParameters = ["knob_max_trace_lines=5"];
    await world.changeSpec({ processes: { general: { customParameters } } });
  },
  reason: "SidecarUnreachable",
  message: /sidecar of pod sample-storage-\d+ does not answer: no answer from 10\./,
  page: /does not answer: no answer from 10\..*Do: Look at the sidecar's log and at network policies/,
});

stuckTest({
  title: "a spec that cannot be right",
  spec: small,
  happens: async (world) => {
    await world.changeSpec({ processes: { general: { customParameters: ["datadir=/x"] } } });
  },
  reason: "InvalidSpec",
  message: /datadir is set by the operator/,
  page: /The spec is invalid: nothing is changed.*The database serves.*customParameters.*Do: remove it/,
});

stuckTest({
  title: "a version for which there is no client",
  world: { database: { supportedVersions: ["7.3.63"] } },
  spec: tiny,
  happens: async (world) => {
    await world.changeSpec({ version: "7.3.77" });
  },
  reason: "InvalidSpec",
  message: /no client for version 7\.3\.77/,
  page: /no client for version 7\.3\.77 beside this operator.*Field: spec\.version/,
});

stuckTest({
  title: "a downgrade that FoundationDB does not allow",
  spec: tiny,
  happens: async (world) => {
    await world.changeSpec({ version: "7.1.67" });
  },
  reason: "VersionChangeRefused",
  message: /7\.1\.67/,
  page: /VersionChangeRefused.*7\.1\.67/,
});

stuckTest({
  title: "a pod that is kept for inspection and shall go",
  world: { nodes: 9 },
  spec: { ...small, processCounts: { storage: 5, log: 3, stateless: 3 } },
  happens: async (world) => {
    const [pod] = await world.pods("storage");
    assert.ok(pod !== undefined);
    const annotations = { "foundationdb.org/isolate-process-group": "true" };
    await world.client.patch(
      pods,
      keyOfObject(pod),
      { metadata: { annotations } },
      { type: "merge" },
    );
    await world.changeSpec({ processGroupsToRemove: [processGroupId(pod)] });
  },
  limitMs: hourMs,
  reason: "RemovalBlocked",
  message: /isolate-process-group/,
  page: /isolate-process-group.*Do: Take away what holds it/,
});

stuckTest({
  title: "replacements that find no node, so that nothing can be excluded",
  world: { nodes: 3 },
  spec: small,
  happens: async (world) => {
    const ids = (await world.pods("storage")).map(processGroupId);
    for (const name of world.world.kubelet.nodeNames()) {
      const patch = { spec: { unschedulable: true } };
      await world.client.patch(nodes, { name }, patch, { type: "merge" });
    }
    await world.changeSpec({ processGroupsToRemove: ids });
  },
  reason: "ExclusionPostponed",
  isSecond: true,
  message: /\d report, 3 are wanted/,
  page: /node\(s\) were unschedulable.*ExclusionPostponed.*\d report, 3 are wanted/,
});

stuckTest({
  title: "more is down than the database can lose",
  world: { nodes: 3 },
  spec: { ...small, automationOptions: { deletionMode: "Zone" } },
  happens: async (world) => {
    const [node] = world.world.kubelet.nodeNames();
    await world.world.kubelet.stopNode(node ?? "");
    await changeEnvironment(world);
  },
  reason: "PodUpdateHeld",
  isSecond: true,
  message: /older specification/,
  page: /NodeNotReady.*node node-1 is not ready.*PodUpdateHeld/,
});

test("[E41] a cluster that is skipped is told as that, and what is known of it as old", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await world.changeSpec({ skip: true });
    await world.clock.advance(minuteMs);
    const page = await pageOf(world);
    assert.match(page, /leaves this cluster alone \(spec\.skip is true\)/);
    assert.match(page, /Serves not known/);
  });
});

test("[E41] a cluster that no operator has looked at is told as that", async () => {
  await TestWorld.run({}, async (world) => {
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await world.createCluster(tiny);
    await world.clock.advance(hourMs);
    assert.match(await pageOf(world), /No operator has looked at this cluster/);
    world.world.startOperator();
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    assert.match(await pageOf(world), /Healthy for \d+s: /);
  });
});

test("[E41] without an operator nothing that it once said counts", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await world.changeSpec({ processCounts: { storage: 5 } });
    assert.match(await pageOf(world), /serves reads and writes/);
    await world.clock.advance(10 * minuteMs);
    const page = await pageOf(world);
    assert.match(page, /NOBODY KNOWS whether the database serves/);
    assert.match(page, /changed 1[01]m ago \(generation 2\) and no operator has read it/);
    assert.match(page, /Serves not known: it was last told that the database serves/);
  });
});

test("[E41] a wait that nobody looks at any more, and a pod that nobody notices, are told", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const [first, second] = await world.pods("storage");
    const patch = { metadata: { finalizers: ["example.com/audit"] } };
    assert.ok(first !== undefined && second !== undefined);
    await world.client.patch(pods, keyOfObject(first), patch, { type: "merge" });
    await world.client.delete(pods, keyOfObject(first));
    await world.clock.advance(minuteMs);
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await world.client.patch(pods, keyOfObject(second), patch, { type: "merge" });
    await world.client.delete(pods, keyOfObject(second));
    await world.clock.advance(hourMs);
    const page = await pageOf(world);
    assert.match(page, /should have looked again 1h ago and has not: it may not be running/);
    assert.match(page, new RegExp(`does not know that ${nameOf(second)} cannot be used`));
  });
});

test("[E20] a wait that lasts is one Warning event, however many passes see it", async () => {
  const nodeCapacity = { cpu: "250m", memory: "1Gi", pods: "20" };
  await TestWorld.run({ nodes: 3, nodeCapacity }, async (world) => {
    await world.createCluster({ ...small, databaseConfiguration: { redundancy_mode: "single" } });
    await world.clock.advance(20 * minuteMs);
    const told = (await world.client.list(events, { namespace: "default" })).items.filter(
      ({ involvedObject, type }) =>
        involvedObject.kind === "FoundationDBCluster" && type === "Warning",
    );
    assert.deepEqual(told.map(({ reason, count }) => `${reason} ${count}`).toSorted(), [
      "CoordinatorsNotRunning 1",
      "PodUnschedulable 1",
    ]);
  });
});

test("[E19] the database of a resource with a refused spec is still watched", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const conditions = async (): Promise<Record<string, string>> => {
      const { status } = await world.cluster();
      return Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, one.status]));
    };
    await world.changeSpec({ processes: { general: { customParameters: ["datadir=/x"] } } });
    await world.clock.advance(minuteMs);
    const told = { Available: "True", Degraded: "Unknown", Reconciled: "False" };
    assert.deepEqual(await conditions(), { ...told, Progressing: "False" });
    const ips = (await world.pods("log")).map((pod) => pod.status?.podIP ?? "");
    for (const ip of ips) world.world.fdb.faults.cutAddress(ip);
    await world.clock.advance(2 * minuteMs);
    assert.equal((await conditions())["Available"], "False");
    assert.match(await pageOf(world), /THE DATABASE IS DOWN.*coordinators cannot be reached/);
    assert.equal((await world.events("DatabaseUnavailable")).length, 1);
    for (const ip of ips) world.world.fdb.faults.restoreAddress(ip);
    await world.until(async () => (await conditions())["Available"] === "True", "it is back");
    assert.equal((await world.events("DatabaseAvailable")).length, 1);
  });
});

test("[E34] a running operator tells its numbers in Prometheus' text form", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const text = world.world.operator.metricsText();
    for (const line of text.trimEnd().split("\n")) {
      assert.match(line, /^# (HELP|TYPE) \w+ .+$|^\w+(\{(\w+="[^"]*",?)*\})? -?[\d.e+]+$/);
    }
    const whose = 'namespace="default",name="sample"';
    assert.match(text, /fdb_operator_actions_total\{type="createPod",outcome="done"\} 9\n/);
    assert.ok(text.includes(`fdb_operator_cluster_reconciled_status{${whose}} 1\n`));
    const recoveries = (): number => {
      const lines = world.world.operator.metricsText().split("\n");
      const line = lines.find((one) => one.startsWith(`fdb_operator_recoveries_total{${whose}}`));
      return Number(line?.split(" ").at(-1));
    };
    const before = recoveries();
    const [pod] = await world.pods("log");
    world.world.fdb.faults.crashProcess(`${pod?.status?.podIP}:4501`);
    await world.clock.advance(minuteMs);
    assert.equal(recoveries(), before + 1);
  });
});
