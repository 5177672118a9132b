// The split image inside the emulated kubelet: sidecar, its HTTP interface, and fdbmonitor.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Container, PodSpec } from "../../src/kube/generated/types.ts";
import { PodUnreachableError } from "../../src/pod/network.ts";
import type { PodResponse } from "../../src/pod/network.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";
import { createSample, editConfigMap, podCase } from "./sample-pods.ts";

const sample = podCase("split/default-log");
const key = "fdbmonitor-conf-log";

async function startSample(change?: (spec: PodSpec) => void): Promise<Cluster> {
  const cluster = await startCluster({
    nodeCount: 1,
    assignAddresses: () => ["10.0.0.7", "fd00::7"],
    configMapDelayMs: { min: 2000, max: 2000 },
  });
  await createSample(cluster, sample, { change });
  await cluster.advance(20);
  return cluster;
}

/** The answer of the sidecar, or undefined when it does not answer. */
async function call(
  cluster: Cluster,
  method: "GET" | "POST",
  path: string,
  more: { host?: string; useTls?: boolean } = {},
): Promise<PodResponse | undefined> {
  const request = {
    host: "10.0.0.7",
    port: 8080,
    useTls: false,
    method,
    path,
    timeoutMs: 5000,
    ...more,
  };
  const answer = cluster.network.request(request).catch((error: unknown) => {
    assert.ok(error instanceof PodUnreachableError);
    return undefined;
  });
  await cluster.advance(6);
  return answer;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const sidecarOf = (spec: PodSpec): Container[] =>
  [...spec.containers, ...(spec.initContainers ?? [])].filter(
    ({ name }) => name !== "foundationdb",
  );

test("[KUBELET43] the sidecar answers about files and variables, and copies on demand", async () => {
  const cluster = await startSample();
  const get = (path: string) => call(cluster, "GET", path);
  assert.deepEqual(await get("ready"), { status: 200, body: "OK\n" });
  const clusterFile = sample.configMapData["cluster-file"] ?? "";
  assert.deepEqual(await get("check_hash/fdb.cluster"), { status: 200, body: hash(clusterFile) });
  assert.equal((await get("check_hash/nothing"))?.status, 404);
  assert.equal((await get("is_present/fdbmonitor.conf"))?.status, 200);
  assert.equal((await get("is_present/bin/7.3.63/fdbserver"))?.status, 404);
  const { RACK: _rack, ...expected } = sample.substitutions ?? {};
  const variables = await get("substitutions");
  assert.deepEqual(JSON.parse(variables?.body ?? "{}"), expected);
  assert.equal((await get("riddle"))?.status, 404);
  await editConfigMap(cluster, "cluster-file", () => "sample:new@10.0.0.2:4501");
  await cluster.advance(5);
  assert.deepEqual(await get("check_hash/fdb.cluster"), { status: 200, body: hash(clusterFile) });
  assert.equal((await call(cluster, "POST", "copy_files"))?.status, 200);
  const changed = hash("sample:new@10.0.0.2:4501");
  assert.deepEqual(await get("check_hash/fdb.cluster"), { status: 200, body: changed });
  assert.equal((await call(cluster, "POST", "refresh_certs"))?.status, 400);
  cluster.stop();
});

test("[KUBELET48] a new configuration is used by a server at its next start, new sections at once", async () => {
  const cluster = await startSample();
  assert.equal(cluster.running().length, 1);
  const second = "\n[fdbserver.2]\ncommand = $BINARY_DIR/fdbserver\nclass = log";
  await editConfigMap(
    cluster,
    key,
    (text) => `${text.replace("loggroup = sample", "loggroup = new")}${second}`,
  );
  await cluster.advance(5);
  assert.equal(cluster.servers.length, 1);
  await call(cluster, "POST", "copy_monitor_conf");
  assert.deepEqual(
    cluster.running().map((line) => /--loggroup=\w+/.exec(line)?.[0]),
    ["--loggroup=sample", undefined],
  );
  cluster.servers[0]?.exit({ code: 0, message: "killed" });
  await cluster.advance(1);
  assert.match(cluster.running().at(-1) ?? "", /--loggroup=new/);
  await editConfigMap(cluster, key, () => sample.configMapData[key] ?? "");
  await cluster.advance(5);
  await call(cluster, "POST", "copy_monitor_conf");
  assert.equal(cluster.running().length, 1);
  cluster.stop();
});

test("[KUBELET47] the first restart is immediate, the next waits for the restart delay", async () => {
  const cluster = await startSample();
  cluster.servers[0]?.exit({ code: 1, message: "broken" });
  await cluster.advance(1);
  assert.equal(cluster.servers.length, 2);
  cluster.servers[1]?.exit({ code: 1, message: "broken" });
  await cluster.advance(50);
  assert.equal(cluster.servers.length, 2);
  await cluster.advance(20);
  assert.equal(cluster.servers.length, 3);
  cluster.stop();
});

test("[KUBELET40] wrong flags, files and variables end the sidecar, and the main container does not start", async () => {
  const exitCode = async (...args: string[]): Promise<number | undefined> => {
    const cluster = await startSample((spec) =>
      sidecarOf(spec).forEach((one) => one.args?.push(...args)),
    );
    const status = (await cluster.pod(sample.podName))?.status;
    assert.deepEqual(cluster.running(), []);
    assert.equal(status?.containerStatuses?.[0]?.state?.waiting?.reason, "PodInitializing");
    cluster.stop();
    return status?.initContainerStatuses?.[0]?.lastState?.terminated?.exitCode;
  };
  assert.equal(await exitCode("--riddle"), 2);
  assert.equal(await exitCode("--copy-file", "nothing"), 1);
  assert.equal(await exitCode("--substitute-variable", "NOTHING"), 1);
  assert.equal(await exitCode("--copy-binary", "nothing", "--main-container-version", "7.1.1"), 1);
});

test("[KUBELET44] the sidecar serves only its own address, and TLS only with certificates", async () => {
  const elsewhere = await startSample((spec) => {
    const sidecar = spec.containers.find(({ name }) => name.endsWith("sidecar"));
    sidecar?.args?.push("--bind-address", "10.9.9.9:8080");
  });
  assert.equal(await call(elsewhere, "GET", "ready"), undefined);
  elsewhere.stop();
  const ipv6 = await startSample((spec) => {
    const sidecar = spec.containers.find(({ name }) => name.endsWith("sidecar"));
    sidecar?.args?.push("--bind-address", "[::]:8080");
  });
  assert.equal((await call(ipv6, "GET", "ready", { host: "fd00::7" }))?.status, 200);
  assert.equal(await call(ipv6, "GET", "ready", { useTls: true }), undefined);
  ipv6.stop();
  const tls = await startSample((spec) => {
    const sidecar = spec.containers.find(({ name }) => name.endsWith("sidecar"));
    sidecar?.args?.push("--tls");
  });
  assert.equal(await call(tls, "GET", "ready", { useTls: true }), undefined);
  const said = tls.kubelet.logs("default", sample.podName, "foundationdb-kubernetes-sidecar", {
    previous: true,
  });
  assert.equal(said?.at(-1)?.text, "TLS needs --tls-certificate-file or FDB_TLS_CERTIFICATE_FILE");
  tls.stop();
});

test("[KUBELET35] a sidecar of another version provides its binaries to the main container", async () => {
  const cluster = await startSample((spec) => {
    for (const one of sidecarOf(spec))
      one.image = "foundationdb/foundationdb-kubernetes-sidecar:7.4.5-1";
  });
  assert.match(cluster.running()[0] ?? "", /^\/var\/dynamic-conf\/bin\/7\.4\.5\/fdbserver /);
  assert.equal(cluster.servers[0]?.spec.version, "7.4.5");
  assert.equal((await call(cluster, "GET", "is_present/bin/7.4.5/fdbserver"))?.status, 200);
  cluster.stop();
});

test("[KUBELET46] a shell line that names no fdbmonitor, or a log folder that is not there, fails", async () => {
  const exitCode = async (line: string): Promise<number | undefined> => {
    const cluster = await startSample((spec) => {
      if (spec.containers[0] !== undefined) spec.containers[0].args = [line];
    });
    const status = (await cluster.pod(sample.podName))?.status?.containerStatuses;
    cluster.stop();
    return status?.find(({ name }) => name === "foundationdb")?.lastState?.terminated?.exitCode;
  };
  assert.equal(await exitCode("crash-loop"), 127);
  assert.equal(
    await exitCode(
      "fdbmonitor --conffile /var/dynamic-conf/other.conf --lockfile /var/dynamic-conf/l",
    ),
    1,
  );
  assert.equal(
    await exitCode("fdbmonitor --conffile /var/dynamic-conf/fdbmonitor.conf --lockfile /nowhere/l"),
    1,
  );
  assert.equal(
    await exitCode("fdbmonitor --conffile /var/dynamic-conf/fdbmonitor.conf >> /nowhere/log"),
    2,
  );
  assert.equal(await exitCode("fdbmonitor 'open"), 2);
});
