// Arguments of fdbserver, command lines and the configuration of split pods.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ClusterStatus } from "../api/cluster.ts";
import { imageTypeOf } from "../api/effective.ts";
import { expectedCommandLine } from "./command-line.ts";
import type { Substitutions } from "./command-line.ts";
import { needsNodeWatch } from "./locality-arguments.ts";
import { monitorConfiguration, monitorJson } from "./monitor-configuration.ts";
import { splitConfiguration } from "./split-configuration.ts";
import { clusterWith } from "../../test/fixtures/sample-cluster.ts";

const substitutions: Substitutions = {
  BINARY_DIR: "/usr/bin",
  FDB_PUBLIC_IP: "10.0.0.7",
  FDB_POD_IP: "10.0.0.8",
  FDB_INSTANCE_ID: "storage-1",
  FDB_MACHINE_ID: "node",
  FDB_ZONE_ID: "zone",
  FDB_DNS_NAME: "pod.svc",
};

function line(
  spec: Partial<ClusterSpec> = {},
  status: Partial<ClusterStatus> = {},
  more: { processNumber?: number; serverCount?: number; values?: Substitutions } = {},
): string {
  const cluster = clusterWith(spec, status);
  const target = {
    processClass: "storage",
    imageType: imageTypeOf(cluster.spec),
    serverCount: more.serverCount ?? 1,
  };
  return expectedCommandLine(
    cluster,
    target,
    more.processNumber ?? 1,
    more.values ?? substitutions,
  );
}

function json(spec: Partial<ClusterSpec> = {}, status: Partial<ClusterStatus> = {}): string {
  const target = { processClass: "storage", imageType: "unified", serverCount: 0 } as const;
  return monitorJson(monitorConfiguration(clusterWith(spec, status), target));
}

test("[B22] [B35] arguments have a fixed order", () => {
  assert.equal(
    line(),
    "/usr/bin/fdbserver --cluster_file=/var/fdb/data/fdb.cluster " +
      "--seed_cluster_file=/var/dynamic-conf/fdb.cluster --public_address=[10.0.0.7]:4501 --class=storage " +
      "--logdir=/var/log/fdb-trace-logs --loggroup=sample --datadir=/var/fdb/data/1 " +
      "--locality_process_id=storage-1-1 --locality_instance_id=storage-1 --locality_machineid=node " +
      "--locality_zoneid=zone --listen_address=[10.0.0.8]:4501 --locality_dns_name=pod.svc",
  );
});

test("[B23] [B24] every required listener has an address, TLS first, in brackets", () => {
  const requiredAddresses = { tls: true, nonTLS: true };
  const text = line({}, { requiredAddresses });
  assert.ok(text.includes("--public_address=[10.0.0.7]:4500:tls,[10.0.0.7]:4501 "), text);
  const split = line({ imageType: "split" }, { requiredAddresses });
  assert.ok(split.includes("--public_address=10.0.0.7:4500:tls,10.0.0.7:4501 "), split);
});

test("[B25] the unified image picks the address of the family", () => {
  const routing = { podIPFamily: 6 } as const;
  assert.ok(json({ routing }).includes('{"type":"IPList","source":"FDB_PUBLIC_IP","ipFamily":6}'));
  const values = { ...substitutions, FDB_PUBLIC_IP: "10.0.0.7,fd00::7" };
  const text = line({ routing }, {}, { values });
  assert.ok(text.includes("--public_address=[fd00::7]:4501 "), text);
  assert.ok(text.includes("--listen_address=[$FDB_POD_IP]:4501 "), text);
});

test("[B26] [B38] only a split pod with one server keeps its data at the root", () => {
  assert.ok(line({ imageType: "split" }).includes("--datadir=/var/fdb/data --listen"));
  const second = line({ imageType: "split" }, {}, { serverCount: 2, processNumber: 2 });
  for (const part of [
    "--datadir=/var/fdb/data/2 ",
    "--locality_process_id=storage-1-2 ",
    ":4503 ",
  ]) {
    assert.ok(second.includes(part), part);
  }
});

test("[B26] a pod keeps its data folder when the spec asks for the other image type", () => {
  for (const imageType of ["split", "unified"] as const) {
    const target = { processClass: "storage", imageType, serverCount: 1 };
    const [before, after] = (["split", "unified"] as const).map((wanted) =>
      expectedCommandLine(clusterWith({ imageType: wanted }), target, 1, substitutions),
    );
    const folder = /--datadir=\S+/;
    assert.equal(folder.exec(before ?? "")?.[0], folder.exec(after ?? "")?.[0]);
  }
});

test("[B27] a listen address needs pods that know their own", () => {
  assert.ok(!line({}, { hasListenIPsForAllPods: false }).includes("listen_address"));
  assert.ok(!line({ useExplicitListenAddress: false }).includes("listen_address"));
  const routing = { publicIPSource: "service" } as const;
  assert.ok(line({ useExplicitListenAddress: false, routing }).includes("listen_address"));
});

test("[B28] TLS peer rules become an argument", () => {
  const text = line({ mainContainer: { peerVerificationRules: "S.CN=a" } });
  assert.ok(text.includes(" --tls_verify_peers=S.CN=a "), text);
});

function withParameters(...customParameters: string[]): Partial<ClusterSpec> {
  return { processes: { general: { customParameters } } };
}

test("[B29] custom parameters are split once, trimmed, and may be variables", () => {
  const values = { ...substitutions, RACK: "r1" };
  const text = line(
    withParameters("knob_a = b=c", "locality_rack=$RACK", "flag", "e="),
    {},
    { values },
  );
  assert.ok(text.includes("--knob_a=b=c --locality_rack=r1 --flag --e= --locality_dns"), text);
  const family = json({
    ...withParameters("locality_ip=$FDB_POD_IP"),
    routing: { podIPFamily: 4 },
  });
  assert.ok(
    family.includes('"--locality_ip="},{"type":"IPList","source":"FDB_POD_IP","ipFamily":4}'),
  );
});

test("[B30] the JSON names the wanted version and waits for a connection string", () => {
  assert.ok(json({ version: "7.4.1" }).startsWith('{"version":"7.4.1","arguments":[{"value":'));
  const waiting = json({}, { connectionString: "" });
  assert.ok(waiting.startsWith('{"version":"7.3.63","runServers":false,"arguments":'), waiting);
  assert.deepEqual(JSON.parse(waiting).arguments.length, 13);
});

test("[B31] the DNS locality follows the routing", () => {
  assert.ok(line().endsWith("--locality_dns_name=pod.svc"));
  assert.ok(!line({ routing: { useDNSInClusterFile: false } }).includes("dns_name"));
});

test("[B32] datacenter and hall become localities unless a parameter sets them", () => {
  const place = { dataCenter: "dc1", dataHall: "h1" };
  assert.ok(line(place).includes("--locality_dcid=dc1 --locality_data_hall=h1 --locality_dns"));
  const text = line({ ...place, ...withParameters("locality_dcid=own") });
  assert.ok(
    text.includes("--locality_dcid=own --locality_data_hall=h1") && !text.includes("dc1"),
    text,
  );
});

test("[B33] entries of localities become arguments", () => {
  const localities = [
    { key: "rack", envValue: "RACK" },
    { key: "data_hall", topologyKey: "topology.kubernetes.io/zone" },
    { key: "datacenter", value: "dc9" },
    { key: "zone", envValue: "ROW" },
  ];
  const text = line({ localities });
  assert.ok(text.includes("--locality_zoneid=$ROW "), text);
  assert.ok(
    text.includes(
      "--locality_dcid=dc9 --locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE " +
        "--locality_rack=$RACK --locality_dns",
    ),
    text,
  );
});

test("[B34] a label of the node needs the node watch, its host name does not", () => {
  const watch = (key: string, topologyKey: string): boolean =>
    needsNodeWatch(clusterWith({ localities: [{ key, topologyKey }] }).spec);
  assert.ok(watch("data_hall", "topology.kubernetes.io/zone"));
  assert.ok(watch("zone", "rack"));
  assert.ok(!watch("zone", "kubernetes.io/hostname"));
  assert.ok(!needsNodeWatch(clusterWith().spec));
});

test("[B36] fdbmonitor sorts its arguments", () => {
  const [, ...words] = line({ imageType: "split" }).split(" ");
  assert.deepEqual(words, words.toSorted());
});

test("[B37] a missing variable stays visible", () => {
  assert.ok(line({}, {}, { values: {} }).includes("--locality_machineid=$FDB_MACHINE_ID "));
});

test("[B39] the split configuration has a section per server", () => {
  const cluster = clusterWith({ imageType: "split" });
  const lines = splitConfiguration(cluster, { processClass: "log", serverCount: 2 }).split("\n");
  assert.deepEqual(lines.slice(0, 5), [
    "[general]",
    "kill_on_configuration_change = false",
    "restart_delay = 60",
    "[fdbserver.1]",
    "command = $BINARY_DIR/fdbserver",
  ]);
  assert.ok(
    lines.includes("[fdbserver.2]") && lines.includes("public_address = $FDB_PUBLIC_IP:4503"),
  );
  const filled = splitConfiguration(
    cluster,
    { processClass: "log", serverCount: 1 },
    substitutions,
  );
  assert.ok(filled.includes("command = /usr/bin/fdbserver\n") && !filled.includes("$"));
  const waiting = clusterWith({ imageType: "split" }, { connectionString: "" });
  assert.equal(splitConfiguration(waiting, { processClass: "log", serverCount: 1 }), "");
});

test("[B40] an empty monitor configuration has no servers", () => {
  const cluster = clusterWith({ imageType: "split", buggify: { emptyMonitorConf: true } });
  const text = splitConfiguration(cluster, { processClass: "log", serverCount: 1 });
  assert.equal(text, "[general]\nkill_on_configuration_change = false\nrestart_delay = 60");
});
