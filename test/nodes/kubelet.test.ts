// The kubelet's part of a pod's life: start, status, restarts, volumes, probes, and the end.
import { conditionIn } from "../../src/kube/condition.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../src/kube/generated/types.ts";
import { configMaps, events, leases, nodes, pods } from "../../src/kube/resource.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";
import { createSample, podCase } from "./sample-pods.ts";

const running = (more: Partial<PodSpec["containers"][0]> = {}): PodSpec => ({
  containers: [{ name: "main", image: "example/app:1", ...more }],
});

function conditionsOf(pod: Pod | undefined): Record<string, string> {
  const conditions = pod?.status?.conditions ?? [];
  return Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
}

async function reasonsOf(cluster: Cluster, name: string): Promise<string[]> {
  const { items } = await cluster.client.list(events, { namespace: "default" });
  return items
    .filter((event) => event.involvedObject.name === name)
    .map((event) => `${event.reason}: ${event.message}`);
}

test("[KUBELET1] nodes are registered ready, with labels, addresses and capacity", async () => {
  const cluster = await startCluster({
    nodes: [{ name: "big", zone: "z1", labels: { disk: "ssd" }, capacity: { cpu: "64" } }],
  });
  const node = await cluster.client.get(nodes, { name: "big" });
  assert.deepEqual(node.metadata.labels, {
    "kubernetes.io/hostname": "big",
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "topology.kubernetes.io/zone": "z1",
    disk: "ssd",
  });
  assert.equal(node.status?.allocatable?.["cpu"], "64");
  assert.equal(node.status?.allocatable?.["pods"], "110");
  assert.equal(conditionIn(node.status, "Ready")?.status, "True");
  assert.equal(node.status?.addresses?.[0]?.address, "10.0.0.1");
  await cluster.kubelet.addNode({ name: "late" });
  assert.deepEqual(cluster.kubelet.nodeNames(), ["big", "late"]);
  cluster.stop();
});

test("[KUBELET2] leases are renewed only when heartbeats are wanted", async () => {
  const renewals = async (heartbeatSeconds?: number): Promise<number> => {
    const cluster = await startCluster({ nodeCount: 1, heartbeatSeconds });
    await cluster.advance(1);
    const before = cluster.server.requests.writes;
    await cluster.advance(60);
    const lease = await cluster.client.get(leases, { namespace: "kube-node-lease", name: "node1" });
    assert.equal(lease.spec?.holderIdentity, "node1");
    cluster.stop();
    return cluster.server.requests.writes - before;
  };
  assert.equal(await renewals(), 0);
  assert.equal(await renewals(10), 6);
});

test("[KUBELET3] only pods of the own nodes run, and a pod that is deleted before it started goes at once", async () => {
  const cluster = await startCluster({ hasScheduler: false });
  await cluster.createPod("foreign", { ...running(), nodeName: "elsewhere" });
  await cluster.createPod("ours", { ...running(), nodeName: "node2" });
  await cluster.createPod("unbound", running());
  await cluster.advance(20);
  assert.equal((await cluster.pod("foreign"))?.status?.phase, "Pending");
  assert.equal((await cluster.pod("unbound"))?.status?.phase, "Pending");
  assert.equal((await cluster.pod("ours"))?.status?.phase, "Running");
  await cluster.client.delete(pods, { namespace: "default", name: "ours" });
  await cluster.advance(2);
  assert.equal(await cluster.pod("ours"), undefined);
  cluster.stop();
});

test("[KUBELET4] init containers run one after another before the containers", async () => {
  const cluster = await startCluster({ nodeCount: 1, imagePullMs: { min: 0, max: 0 } });
  const sleeping = (name: string) => ({ name, image: "example/app:1", command: ["sleep", "5"] });
  await cluster.createPod("p", {
    ...running(),
    initContainers: [sleeping("first"), sleeping("second")],
  });
  const states = async (): Promise<string[]> => {
    const status = (await cluster.pod("p"))?.status;
    const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    return all.map(({ name, state }) => `${name} ${Object.keys(state ?? {}).join()}`);
  };
  await cluster.advance(3);
  assert.deepEqual(await states(), ["first running", "second waiting", "main waiting"]);
  assert.equal(conditionsOf(await cluster.pod("p"))["Initialized"], "False");
  const waiting = (await cluster.pod("p"))?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  assert.equal(waiting, "PodInitializing");
  await cluster.advance(5);
  assert.deepEqual(await states(), ["first terminated", "second running", "main waiting"]);
  await cluster.advance(10);
  assert.deepEqual(await states(), ["first terminated", "second terminated", "main running"]);
  cluster.stop();
});

test("[KUBELET4] a restartable init container starts in its turn and stays", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const helper = { name: "helper", image: "example/app:1", restartPolicy: "Always" };
  await cluster.createPod("p", { ...running(), initContainers: [helper] });
  await cluster.advance(20);
  const pod = await cluster.pod("p");
  assert.equal(pod?.status?.phase, "Running");
  assert.equal(conditionsOf(pod)["Ready"], "True");
  assert.ok(pod?.status?.initContainerStatuses?.[0]?.state?.running);
  await cluster.client.delete(pods, { namespace: "default", name: "p" });
  await cluster.advance(5);
  assert.equal(await cluster.pod("p"), undefined);
  cluster.stop();
});

test("[KUBELET5] the phase follows the containers and the restart policy", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const ending = (code: number, restartPolicy: string): PodSpec => ({
    ...running({ command: ["sh", "-c", `exit ${code}`] }),
    restartPolicy,
  });
  await cluster.createPod("good", ending(0, "Never"));
  await cluster.createPod("bad", ending(1, "Never"));
  await cluster.createPod("done", ending(0, "OnFailure"));
  await cluster.createPod("again", ending(1, "OnFailure"));
  await cluster.createPod("steady", running());
  await cluster.advance(10);
  const phases = new Map<string, string | undefined>();
  for (const name of ["good", "bad", "done", "again", "steady"]) {
    phases.set(name, (await cluster.pod(name))?.status?.phase);
  }
  assert.deepEqual(Object.fromEntries(phases), {
    good: "Succeeded",
    bad: "Failed",
    done: "Succeeded",
    again: "Running",
    steady: "Running",
  });
  cluster.stop();
});

test("[KUBELET6] conditions and addresses of a running pod", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("p", running());
  await cluster.advance(0.2);
  const early = await cluster.pod("p");
  assert.equal(early?.status?.containerStatuses?.[0]?.state?.waiting?.reason, "ContainerCreating");
  assert.equal(conditionsOf(early)["Ready"], "False");
  await cluster.advance(10);
  const pod = await cluster.pod("p");
  assert.deepEqual(conditionsOf(pod), {
    PodScheduled: "True",
    PodReadyToStartContainers: "True",
    Initialized: "True",
    Ready: "True",
    ContainersReady: "True",
  });
  assert.ok(pod?.status?.conditions?.every(({ reason }) => reason === undefined));
  assert.equal(pod?.status?.hostIP, "10.0.0.1");
  assert.deepEqual(pod?.status?.podIPs, [{ ip: "10.1.0.1" }]);
  cluster.stop();
});

test("[KUBELET6] a pod that asks for all its addresses gets one of each family", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const env = [{ name: "IPS", valueFrom: { fieldRef: { fieldPath: "status.podIPs" } } }];
  await cluster.createPod("p", running({ env }));
  await cluster.advance(10);
  assert.deepEqual((await cluster.pod("p"))?.status?.podIPs, [
    { ip: "10.1.0.1" },
    { ip: "fd00:10:1::1" },
  ]);
  cluster.stop();
});

test("[KUBELET7] a pod in good order causes no writes", async () => {
  const cluster = await startCluster();
  await cluster.createPod("p", running());
  await cluster.advance(30);
  const writes = cluster.server.requests.writes;
  await cluster.client.patch(
    pods,
    { namespace: "default", name: "p" },
    { metadata: { labels: { a: "b" } } },
    { type: "merge" },
  );
  await cluster.advance(3600);
  assert.equal(cluster.server.requests.writes, writes + 1);
  assert.ok((cluster.server.requests.counts.get("patch pods/status") ?? 0) <= 3);
  cluster.stop();
});

test("[KUBELET8] the first pull on a node takes time, later ones none", async () => {
  const cluster = await startCluster({
    nodeCount: 1,
    imagePullMs: { min: 5000, max: 5000 },
    containerStartMs: { min: 100, max: 100 },
  });
  const isRunningAfter = async (name: string, seconds: number): Promise<boolean> => {
    await cluster.createPod(name, running());
    await cluster.advance(seconds);
    return (await cluster.pod(name))?.status?.phase === "Running";
  };
  assert.equal(await isRunningAfter("first", 4), false);
  await cluster.advance(3);
  assert.equal((await cluster.pod("first"))?.status?.phase, "Running");
  assert.equal(await isRunningAfter("second", 1), true);
  cluster.stop();
});

test("[KUBELET9] a container that ends is started again at once, with its count and last state", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("p", running({ command: ["sh", "-c", "sleep 30; exit 3"] }));
  await cluster.advance(40);
  const status = (await cluster.pod("p"))?.status?.containerStatuses?.[0];
  assert.equal(status?.restartCount, 1);
  const { exitCode, startedAt, finishedAt } = status?.lastState?.terminated ?? {};
  assert.equal(exitCode, 3);
  const [beganMs, endedMs] = [startedAt, finishedAt].map((time) => Date.parse(time ?? ""));
  assert.equal((endedMs ?? 0) - (beganMs ?? 0), 30_000);
  assert.ok(Date.parse(status?.state?.running?.startedAt ?? "") >= (endedMs ?? 0));
  cluster.stop();
});

test("[KUBELET10] a container that keeps failing is started with growing pauses", async () => {
  const cluster = await startCluster({ nodeCount: 1, containerStartMs: { min: 100, max: 100 } });
  await cluster.createPod("p", running({ command: ["false"] }));
  await cluster.advance(6);
  const status = (await cluster.pod("p"))?.status?.containerStatuses?.[0];
  assert.equal(status?.state?.waiting?.reason, "CrashLoopBackOff");
  assert.match(
    status?.state?.waiting?.message ?? "",
    /^back-off 10s restarting failed container=main pod=p_default\(/,
  );
  assert.equal(status?.restartCount, 1);
  const counts: number[] = [];
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    await cluster.advance(seconds + 1);
    counts.push((await cluster.pod("p"))?.status?.containerStatuses?.[0]?.restartCount ?? 0);
  }
  assert.deepEqual(counts, [2, 3, 4, 5, 6, 7, 8]);
  assert.equal((await cluster.pod("p"))?.status?.phase, "Running");
  cluster.stop();
});

test("[KUBELET11] a command that the image does not have fails to start", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const image = "foundationdb/fdb-kubernetes-monitor:7.3.63";
  await cluster.createPod("p", running({ image, command: ["crash-loop"], args: ["crash-loop"] }));
  await cluster.advance(10);
  const status = (await cluster.pod("p"))?.status?.containerStatuses?.[0];
  assert.equal(status?.lastState?.terminated?.reason, "StartError");
  assert.equal(status?.lastState?.terminated?.exitCode, 128);
  assert.equal(status?.state?.waiting?.reason, "CrashLoopBackOff");
  cluster.stop();
});

test("[KUBELET13] an unknown image is pulled again and again, a bad name never", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("old", running({ image: "foundationdb/fdb-kubernetes-monitor:6.3.1" }));
  await cluster.createPod("bad", running({ image: "Not An Image" }));
  const reason = async (name: string): Promise<string | undefined> =>
    (await cluster.pod(name))?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  await cluster.advance(0.5);
  assert.equal(await reason("old"), "ErrImagePull");
  assert.equal(await reason("bad"), "InvalidImageName");
  await cluster.advance(2);
  assert.equal(await reason("old"), "ImagePullBackOff");
  assert.equal((await cluster.pod("old"))?.status?.phase, "Pending");
  cluster.stop();
});

test("[KUBELET14] a volume that cannot be mounted keeps the pod from starting until it can", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const configMap = { name: "settings", items: [{ key: "a", path: "a.conf" }] };
  await cluster.createPod("p", { ...running(), volumes: [{ name: "conf", configMap }] });
  await cluster.advance(10);
  assert.equal((await cluster.pod("p"))?.status?.phase, "Pending");
  const failed = (what: string): string =>
    `FailedMount: MountVolume.SetUp failed for volume "conf" : ${what}`;
  assert.ok((await reasonsOf(cluster, "p")).includes(failed('configmap "settings" not found')));
  const metadata = { namespace: "default", name: "settings" };
  await cluster.client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata,
    data: {},
  });
  await cluster.advance(10);
  const wanted = failed("references non-existent config key: a");
  assert.ok((await reasonsOf(cluster, "p")).includes(wanted));
  await cluster.client.patch(configMaps, metadata, { data: { a: "1" } }, { type: "merge" });
  await cluster.advance(10);
  assert.equal((await cluster.pod("p"))?.status?.phase, "Running");
  cluster.stop();
});

test("[KUBELET14] a ConfigMap that comes during the pause before the next try starts the pod once", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const configMap = { name: "settings" };
  await cluster.createPod("p", { ...running(), volumes: [{ name: "conf", configMap }] });
  await cluster.advance(70);
  const metadata = { namespace: "default", name: "settings" };
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} } as const;
  await cluster.client.create(configMaps, settings);
  await cluster.advance(5);
  const first = (await cluster.pod("p"))?.status;
  assert.equal(first?.phase, "Running");
  await cluster.advance(120);
  assert.deepEqual((await cluster.pod("p"))?.status, first);
  cluster.stop();
});

test("[KUBELET23] a pod that is evicted before its volumes were mounted never starts", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const configMap = { name: "settings" };
  await cluster.createPod("p", { ...running(), volumes: [{ name: "conf", configMap }] });
  await cluster.advance(10);
  cluster.kubelet.evictPod("default", "p", "The node was low on resource");
  const metadata = { namespace: "default", name: "settings" };
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} } as const;
  await cluster.client.create(configMaps, settings);
  await cluster.advance(120);
  const { phase, podIP } = (await cluster.pod("p"))?.status ?? {};
  assert.deepEqual([phase, podIP], ["Failed", undefined]);
  cluster.stop();
});

test("[KUBELET18] a missing key of an environment variable is a configuration error", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const valueFrom = { configMapKeyRef: { name: "settings", key: "a" } };
  await cluster.createPod("p", running({ env: [{ name: "A", valueFrom }] }));
  await cluster.advance(5);
  const waiting = (await cluster.pod("p"))?.status?.containerStatuses?.[0]?.state?.waiting;
  assert.equal(waiting?.reason, "CreateContainerConfigError");
  assert.equal(waiting?.message, 'configmap "settings" not found');
  const metadata = { namespace: "default", name: "settings" };
  await cluster.client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata,
    data: { a: "1" },
  });
  await cluster.advance(15);
  assert.equal((await cluster.pod("p"))?.status?.phase, "Running");
  cluster.stop();
});

test("[KUBELET20] a deleted pod gets its grace period, then it is killed and gone", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("quick", running());
  const image = "foundationdb/fdb-kubernetes-monitor:7.3.63";
  const env = [
    { name: "FDB_POD_NAME", value: "slow" },
    { name: "FDB_POD_NAMESPACE", value: "default" },
  ];
  const annotations = { "foundationdb.org/delay-shutdown": "2m" };
  await cluster.createPod("slow", running({ image, env }), { annotations });
  await cluster.advance(10);
  for (const name of ["quick", "slow"]) {
    await cluster.client.delete(pods, { namespace: "default", name });
  }
  await cluster.advance(2);
  assert.equal(await cluster.pod("quick"), undefined);
  assert.notEqual((await cluster.pod("slow"))?.metadata.deletionTimestamp, undefined);
  await cluster.advance(27);
  assert.notEqual(await cluster.pod("slow"), undefined);
  await cluster.advance(3);
  assert.equal(await cluster.pod("slow"), undefined);
  cluster.stop();
});

test("[KUBELET20] a pod that is deleted by force stops at once", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("p", running());
  await cluster.advance(10);
  await cluster.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
  await cluster.advance(1);
  assert.equal(await cluster.pod("p"), undefined);
  assert.equal(cluster.kubelet.logs("default", "p", "main"), undefined);
  cluster.stop();
});

test("[KUBELET21] a pod is ready only when its readiness probe succeeds", async () => {
  const cluster = await startCluster({ nodeCount: 1, assignAddresses: () => ["10.1.1.1"] });
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 5, failureThreshold: 1 };
  await cluster.createPod("p", running({ readinessProbe }));
  await cluster.advance(10);
  assert.equal(conditionsOf(await cluster.pod("p"))["Ready"], "False");
  const close = cluster.network.listen("10.1.1.1", 8080, false, () => ({ status: 200, body: "" }));
  await cluster.advance(1);
  assert.equal(conditionsOf(await cluster.pod("p"))["Ready"], "True");
  cluster.network.cut("10.1.1.1");
  await cluster.advance(1);
  assert.equal(conditionsOf(await cluster.pod("p"))["Ready"], "False");
  cluster.network.heal("10.1.1.1");
  await cluster.advance(1);
  assert.equal(conditionsOf(await cluster.pod("p"))["Ready"], "True");
  close?.();
  await cluster.advance(1);
  assert.equal(conditionsOf(await cluster.pod("p"))["Ready"], "False");
  cluster.stop();
});

test("[KUBELET22] a container whose liveness probe keeps failing is restarted", async () => {
  const cluster = await startCluster({ nodeCount: 1, assignAddresses: () => ["10.1.1.1"] });
  const livenessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 10, failureThreshold: 3 };
  await cluster.createPod("p", running({ livenessProbe }));
  await cluster.advance(15);
  assert.equal((await cluster.pod("p"))?.status?.containerStatuses?.[0]?.restartCount, 0);
  await cluster.advance(15);
  assert.equal((await cluster.pod("p"))?.status?.containerStatuses?.[0]?.restartCount, 1);
  const said = await reasonsOf(cluster, "p");
  assert.ok(
    said.some((text) =>
      text.startsWith("Unhealthy: Liveness probe failed: dial tcp 10.1.1.1:8080"),
    ),
  );
  cluster.stop();
});

test("[KUBELET67] a container whose image changes restarts with it, and the others go on", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const containers = ["main", "side"].map((name) => ({ name, image: "busybox:1" }));
  await cluster.createPod("p", { containers });
  await cluster.advance(10);
  const change = async (image: string): Promise<string[]> => {
    const body = { spec: { containers: [{ name: "side", image }] } };
    const key = { namespace: "default", name: "p" };
    await cluster.client.patch(pods, key, body, { type: "strategic" });
    await cluster.advance(10);
    const statuses = (await cluster.pod("p"))?.status?.containerStatuses ?? [];
    return statuses.map(({ name, image: one, restartCount, ready }) =>
      [name, one, restartCount, ready].join(" "),
    );
  };
  assert.deepEqual(await change("busybox:2"), ["main busybox:1 0 true", "side busybox:2 1 true"]);
  const [, missing] = await change("foundationdb/foundationdb:nowhere");
  assert.match(missing ?? "", /nowhere \d false/);
  const [main, side] = await change("busybox:3");
  assert.equal(main, "main busybox:1 0 true");
  assert.match(side ?? "", /^side busybox:3 \d true$/);
  cluster.stop();
});

test("[KUBELET23] an evicted pod fails and stays", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("p", running());
  await cluster.advance(10);
  cluster.kubelet.evictPod("default", "p", "The node was low on resource: memory.");
  await cluster.advance(5);
  const pod = await cluster.pod("p");
  assert.equal(pod?.status?.phase, "Failed");
  assert.equal(pod?.status?.reason, "Evicted");
  assert.equal(conditionsOf(pod)["Ready"], "False");
  cluster.stop();
});

test("[KUBELET15] data on a claim outlives the pod, an emptyDir does not", async () => {
  const cluster = await startCluster();
  const sample = podCase("unified/default-log");
  await createSample(cluster, sample);
  await cluster.advance(20);
  const first = cluster.servers[0]?.spec.files;
  assert.equal(first?.write("/var/fdb/data/1/log", "precious"), true);
  assert.equal(first?.write("/var/log/fdb-trace-logs/trace", "lost"), true);
  const volume = first?.locate("/var/fdb/data/1/log");
  assert.match(volume?.volumeId ?? "", /^volume:/);
  await cluster.client.delete(pods, { namespace: "default", name: sample.podName });
  await cluster.advance(20);
  const spec = JSON.parse(sample.podSpecJSONThatIsHashed) as PodSpec;
  await cluster.createPod(sample.podName, spec);
  await cluster.advance(20);
  const second = cluster.servers[1]?.spec.files;
  assert.equal(second?.read("/var/fdb/data/1/log"), "precious");
  assert.deepEqual(second?.locate("/var/fdb/data/1/log"), volume);
  assert.equal(second?.read("/var/log/fdb-trace-logs/trace"), undefined);
  cluster.stop();
});

test("[KUBELET16] the root of the image and mounted ConfigMaps cannot be written", async () => {
  const cluster = await startCluster();
  await createSample(cluster, podCase("unified/default-log"));
  await cluster.advance(20);
  const files = cluster.servers[0]?.spec.files;
  assert.equal(files?.write("/usr/bin/fdbserver", "mine"), false);
  assert.equal(files?.write("/var/dynamic-conf/fdb.cluster", "mine"), false);
  assert.equal(files?.locate("/usr/bin/fdbserver"), undefined);
  assert.equal(files?.read("/var/dynamic-conf/fdb.cluster"), "sample:abc@10.0.0.1:4501");
  assert.equal(files?.read("/var/fdb/version"), "7.3.63\n");
  cluster.stop();
});
