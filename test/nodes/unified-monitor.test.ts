// The unified image's monitor inside the emulated kubelet: what it accepts, what it tells, and
// what it restarts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods } from "../../src/kube/resource.ts";
import type { MonitorConfiguration } from "../../src/images/monitor-configuration.ts";
import { launcherAnnotations } from "../../src/images/unified-monitor.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";
import { createSample, editConfigMap, podCase } from "./sample-pods.ts";

const sample = podCase("unified/default-log");
const key = "fdbmonitor-conf-log-json";

const slow = { configMapDelayMs: { min: 10_000, max: 10_000 } };

async function annotate(
  cluster: Cluster,
  annotations: Record<string, string | null>,
): Promise<void> {
  const target = { namespace: "default", name: sample.podName };
  await cluster.client.patch(pods, target, { metadata: { annotations } }, { type: "merge" });
}

async function environmentOf(cluster: Cluster): Promise<Record<string, string>> {
  const pod = await cluster.pod(sample.podName);
  return JSON.parse(pod?.metadata.annotations?.[launcherAnnotations.environment] ?? "{}") as Record<
    string,
    string
  >;
}

function editJson(edit: (configuration: MonitorConfiguration) => object) {
  return (text: string): string =>
    JSON.stringify({ ...JSON.parse(text), ...edit(JSON.parse(text) as MonitorConfiguration) });
}

function mainContainer(pod: Pod | undefined) {
  return pod?.status?.containerStatuses?.find(({ name }) => name === "foundationdb");
}

test("[KUBELET36] the monitor tells its configuration and the variables it uses, under its own name", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await createSample(cluster, sample);
  await cluster.advance(20);
  const pod = await cluster.pod(sample.podName);
  const annotations = pod?.metadata.annotations ?? {};
  assert.equal(annotations[launcherAnnotations.currentConfiguration], sample.configMapData[key]);
  assert.deepEqual(await environmentOf(cluster), {
    BINARY_DIR: "/usr/bin",
    FDB_DNS_NAME: "sample-log-1.sample.ns.svc.cluster.local",
    FDB_INSTANCE_ID: "log-1",
    FDB_MACHINE_ID: "node1",
    FDB_POD_IP: "10.1.0.1",
    FDB_PUBLIC_IP: "10.1.0.1",
    FDB_ZONE_ID: "node1",
  });
  const owner = pod?.metadata.managedFields?.find(
    ({ manager }) => manager === "fdb-kubernetes-monitor",
  );
  assert.equal(owner?.operation, "Apply");
  assert.match(JSON.stringify(owner?.fieldsV1), /foundationdb.org\/image-type/);
  cluster.stop();
});

test("[KUBELET90] the monitor serves metrics on its port", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  await createSample(cluster, sample);
  await cluster.advance(20);
  const host = (await cluster.pod(sample.podName))?.status?.podIP ?? "";
  const ask = (path: string) =>
    cluster.network.request({
      ...{ host, port: 8081, useTls: false, method: "GET", path, timeoutMs: 1_000 },
    });
  const answers = Promise.all([ask("metrics"), ask("nothing")]);
  await cluster.advance(1);
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 404],
  );
});

test("[KUBELET19] a changed ConfigMap reaches the pod after a while, or soon after the pod was annotated", async () => {
  const cluster = await startCluster(slow);
  await createSample(cluster, sample);
  await cluster.advance(20);
  const current = async (): Promise<boolean> =>
    (await cluster.pod(sample.podName))?.metadata.annotations?.[
      launcherAnnotations.currentConfiguration
    ]?.includes("--loggroup=new") === true;
  await editConfigMap(cluster, key, (text) => text.replace("--loggroup=sample", "--loggroup=new"));
  await cluster.advance(9);
  assert.equal(await current(), false);
  await cluster.advance(2);
  assert.equal(await current(), true);
  await editConfigMap(cluster, key, (text) => text.replace("--loggroup=new", "--loggroup=old"));
  const seconds = String(Math.floor(cluster.clock.nowMs() / 1000));
  await annotate(cluster, { [launcherAnnotations.outdatedConfigMapSeen]: seconds });
  await cluster.advance(1);
  assert.equal(await current(), false);
  cluster.stop();
});

test("[KUBELET37] running servers keep their arguments until they are restarted", async () => {
  const cluster = await startCluster();
  await createSample(cluster, sample);
  await cluster.advance(20);
  await editConfigMap(cluster, key, (text) => text.replace("--loggroup=sample", "--loggroup=new"));
  await cluster.advance(60);
  assert.equal(cluster.servers.length, 1);
  assert.match(cluster.running()[0] ?? "", /--loggroup=sample/);
  cluster.servers[0]?.exit({ code: 0, message: "killed by the database" });
  await cluster.advance(1);
  assert.match(cluster.running()[0] ?? "", /--loggroup=new/);
  const container = mainContainer(await cluster.pod(sample.podName));
  assert.equal(container?.restartCount, 0);
  cluster.stop();
});

test("[KUBELET37] a server that fails is restarted after growing pauses", async () => {
  const cluster = await startCluster();
  await createSample(cluster, sample);
  await cluster.advance(20);
  const starts: number[] = [];
  for (let failure = 1; failure <= 10; failure += 1) {
    const atMs = cluster.clock.nowMs();
    cluster.servers.at(-1)?.exit({ code: 1, message: "broken" });
    const count = cluster.servers.length;
    await cluster.clock.run({ until: () => cluster.servers.length > count });
    starts.push((cluster.clock.nowMs() - atMs) / 1000);
  }
  assert.deepEqual(starts, [1, 4, 9, 16, 25, 36, 49, 60, 60, 60]);
  cluster.stop();
});

test("[KUBELET34] a configuration that cannot work is not accepted and the old one stays", async () => {
  const cluster = await startCluster();
  await createSample(cluster, sample);
  await cluster.advance(20);
  const before = (await cluster.pod(sample.podName))?.metadata.annotations;
  for (const edit of [
    () => "no json",
    () => JSON.stringify({ arguments: [] }),
    editJson(() => ({ arguments: [{ type: "Environment", source: "MISSING" }] })),
    editJson(() => ({ arguments: [{ type: "IPList", source: "FDB_POD_IP", ipFamily: 6 }] })),
    editJson(() => ({ arguments: [{ type: "Riddle" }] })),
    editJson(() => ({ version: "7.4.5" })),
  ]) {
    await editConfigMap(cluster, key, edit);
    await cluster.advance(60);
    assert.deepEqual((await cluster.pod(sample.podName))?.metadata.annotations, before);
    await editConfigMap(cluster, key, () => sample.configMapData[key] ?? "");
    await cluster.advance(60);
  }
  const said = cluster.kubelet.logs("default", sample.podName, "foundationdb") ?? [];
  const reasons = said.flatMap(({ text }) => /is not used: (.*)$/.exec(text)?.[1] ?? []);
  assert.equal(reasons.length, 6);
  assert.equal(reasons[2], "missing environment variable MISSING");
  assert.equal(reasons[5], "there is no executable /var/fdb/shared-binaries/bin/7.4.5/fdbserver");
  assert.equal(cluster.servers.length, 1);
  cluster.stop();
});

test("[KUBELET35] another version runs only after the sidecar has copied its binaries", async () => {
  const cluster = await startCluster();
  const upgraded = "foundationdb/fdb-kubernetes-monitor:7.4.5";
  await createSample(cluster, sample, {
    change: (spec) => {
      const sidecar = spec.containers.find(({ name }) => name.endsWith("sidecar"));
      if (sidecar !== undefined) sidecar.image = upgraded;
    },
  });
  await cluster.advance(20);
  assert.match(cluster.running()[0] ?? "", /^\/usr\/bin\/fdbserver /);
  assert.equal(cluster.servers[0]?.spec.version, "7.3.63");
  await editConfigMap(
    cluster,
    key,
    editJson(() => ({ version: "7.4.5" })),
  );
  await cluster.advance(60);
  assert.equal((await environmentOf(cluster))["BINARY_DIR"], "/var/fdb/shared-binaries/bin/7.4.5");
  cluster.servers[0]?.exit({ code: 0, message: "killed" });
  await cluster.advance(1);
  assert.match(
    cluster.running()[0] ?? "",
    /^\/var\/fdb\/shared-binaries\/bin\/7\.4\.5\/fdbserver /,
  );
  assert.equal(cluster.servers[1]?.spec.version, "7.4.5");
  cluster.stop();
});

test("[KUBELET38] nothing runs while the configuration or the isolation annotation forbids it", async () => {
  const cluster = await startCluster();
  const configMapData = {
    ...sample.configMapData,
    [key]: editJson(() => ({ runServers: false }))(sample.configMapData[key] ?? ""),
  };
  await createSample(cluster, { ...sample, configMapData });
  await cluster.advance(20);
  assert.deepEqual(cluster.running(), []);
  assert.equal(mainContainer(await cluster.pod(sample.podName))?.ready, true);
  await editConfigMap(cluster, key, () => sample.configMapData[key] ?? "");
  await cluster.advance(60);
  assert.equal(cluster.running().length, 1);
  await annotate(cluster, { [launcherAnnotations.isolate]: "true" });
  await cluster.advance(2);
  assert.deepEqual(cluster.running(), []);
  await annotate(cluster, { [launcherAnnotations.isolate]: null });
  await cluster.advance(2);
  assert.equal(cluster.running().length, 1);
  cluster.stop();
});

test("[KUBELET39] a flag that the monitor does not know, or a pod it cannot find, ends the container", async () => {
  const ended = async (
    change: (container: { args?: string[]; env?: { name: string }[] }) => void,
  ) => {
    const cluster = await startCluster();
    await createSample(cluster, sample, {
      change: (spec) =>
        spec.containers.filter(({ name }) => name === "foundationdb").forEach(change),
    });
    await cluster.advance(20);
    const container = mainContainer(await cluster.pod(sample.podName));
    cluster.stop();
    assert.deepEqual(cluster.running(), []);
    return container?.lastState?.terminated?.exitCode;
  };
  assert.equal(await ended((container) => container.args?.push("--process-counts", "2")), 2);
  assert.equal(await ended((container) => container.args?.push("--process-count", "two")), 2);
  const withoutName = await ended((container) => {
    container.env = container.env?.filter(({ name }) => name !== "FDB_POD_NAME");
  });
  assert.equal(withoutName, 1);
});

test("[KUBELET36] a change of the cluster file on disk is told, and node labels become variables", async () => {
  const cluster = await startCluster({ nodeCount: 1 });
  const configMapData = {
    ...sample.configMapData,
    [key]: (sample.configMapData[key] ?? "").replace(
      "FDB_ZONE_ID",
      "NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE",
    ),
  };
  await createSample(
    cluster,
    { ...sample, configMapData },
    {
      change: (spec) => spec.containers[0]?.env?.push({ name: "ENABLE_NODE_WATCH", value: "true" }),
    },
  );
  await cluster.advance(20);
  assert.match(cluster.running()[0] ?? "", /--locality_zoneid=zone1 /);
  const annotation = async (): Promise<string | undefined> =>
    (await cluster.pod(sample.podName))?.metadata.annotations?.[
      launcherAnnotations.clusterFileChange
    ];
  cluster.servers[0]?.spec.files.write("/var/fdb/data/fdb.cluster", "sample:abc@10.0.0.1:4501");
  await cluster.advance(1);
  assert.equal(await annotation(), undefined);
  cluster.servers[0]?.spec.files.write("/var/fdb/data/fdb.cluster", "sample:def@10.0.0.2:4501");
  await cluster.advance(1);
  assert.match((await annotation()) ?? "", /^\d{10}$/);
  cluster.stop();
});
