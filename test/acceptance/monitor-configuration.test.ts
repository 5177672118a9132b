// Checklist: the configuration that pods run their servers with, for both image types, and the ConfigMap that carries it.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ClusterStatus } from "../../src/api/cluster.ts";
import { clusterWith } from "../fixtures/sample-cluster.ts";
import { expectedCommandLine } from "../../src/build/command-line.ts";
import type { Substitutions } from "../../src/build/command-line.ts";
import { configMap } from "../../src/build/config-map.ts";
import { monitorConfiguration, monitorJson } from "../../src/build/monitor-configuration.ts";
import { splitConfiguration } from "../../src/build/split-configuration.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import { item, table } from "./checklist-case.ts";

type Spec = Partial<ClusterSpec>;
type Status = Partial<ClusterStatus>;

const values: Substitutions = {
  BINARY_DIR: "/usr/bin",
  FDB_PUBLIC_IP: "10.0.0.7",
  FDB_POD_IP: "10.0.0.8",
  FDB_INSTANCE_ID: "storage-1",
  FDB_MACHINE_ID: "machine",
  FDB_ZONE_ID: "zone",
  FDB_DNS_NAME: "pod.svc",
  RACK: "rack-1",
};

const service = { routing: { publicIPSource: "service" } } as const;
const both = { requiredAddresses: { tls: true, nonTLS: true } };
const tls = { requiredAddresses: { tls: true } };
const parameters = (owner: string, ...customParameters: string[]): Spec => ({
  processes: { [owner]: { customParameters } },
});

function conf(spec: Spec, status: Status, processClass: string, serverCount: number): string {
  const cluster = clusterWith({ imageType: "split", ...spec }, status);
  return splitConfiguration(cluster, { processClass, serverCount });
}

/** Which lines the configuration of fdbmonitor must have, and which it must not. */
table(
  {
    "A27.1": [{}, {}, "test", 1, ["class = test", "datadir = /var/fdb/data"], ["[fdbserver.2]"]],
    "A27.2": [{}, {}, "storage", 1, ["class = storage", "loggroup = sample"], ["[fdbserver.2]"]],
    "A27.3": [
      {},
      {},
      "storage",
      2,
      ["[fdbserver.2]", "datadir = /var/fdb/data/2", "locality_process_id = $FDB_INSTANCE_ID-2"],
      ["[fdbserver.3]"],
    ],
    "A27.4": [
      {},
      {},
      "log",
      2,
      ["[fdbserver.2]", "class = log", "public_address = $FDB_PUBLIC_IP:4503"],
      ["[fdbserver.3]"],
    ],
    "A27.5": [{}, {}, "storage", 1, ["public_address = $FDB_PUBLIC_IP:4501"], ["tls"]],
    "A27.6": [
      service,
      {},
      "storage",
      1,
      ["public_address = $FDB_PUBLIC_IP:4501", "listen_address = $FDB_POD_IP:4501"],
      [],
    ],
    "A27.7": [
      service,
      { hasListenIPsForAllPods: false },
      "storage",
      1,
      ["public_address = $FDB_PUBLIC_IP:4501"],
      ["listen_address"],
    ],
    "A27.8": [{}, tls, "storage", 1, ["public_address = $FDB_PUBLIC_IP:4500:tls"], [":4501"]],
    "A27.9": [
      { mainContainer: { enableTls: true } },
      both,
      "storage",
      1,
      ["public_address = $FDB_PUBLIC_IP:4500:tls,$FDB_PUBLIC_IP:4501"],
      [],
    ],
    "A27.10": [
      { mainContainer: { enableTls: false } },
      both,
      "storage",
      1,
      ["public_address = $FDB_PUBLIC_IP:4500:tls,$FDB_PUBLIC_IP:4501"],
      [],
    ],
    "A27.11": [parameters("general", "knob_a=1"), {}, "storage", 1, ["knob_a = 1"], []],
    "A27.12": [
      {
        processes: {
          general: { customParameters: ["a=1"] },
          storage: { customParameters: ["b=2"] },
        },
      },
      {},
      "storage",
      1,
      ["b = 2"],
      ["a = 1"],
    ],
    "A27.13": [
      { faultDomain: { key: "rack", valueFrom: "$RACK" } },
      {},
      "storage",
      1,
      ["locality_zoneid = $RACK"],
      ["$FDB_ZONE_ID"],
    ],
    "A27.14": [{}, {}, "storage", 1, ["command = $BINARY_DIR/fdbserver"], []],
    "A27.15": [
      { mainContainer: { peerVerificationRules: "S.CN=db" } },
      {},
      "storage",
      1,
      ["tls_verify_peers = S.CN=db"],
      [],
    ],
    "A27.16": [{ logGroup: "mine" }, {}, "storage", 1, ["loggroup = mine"], ["loggroup = sample"]],
    "A27.17": [{ dataCenter: "dc1" }, {}, "storage", 1, ["locality_dcid = dc1"], []],
  } satisfies Record<string, [Spec, Status, string, number, string[], string[]]>,
  (
    spec: Spec,
    status: Status,
    processClass: string,
    count: number,
    has: string[],
    lacks: string[],
  ) => {
    const text = conf(spec, status, processClass, count);
    const lines = text.split("\n");
    for (const line of has) assert.ok(lines.includes(line), `${line} is not in\n${text}`);
    for (const part of lacks) assert.ok(!text.includes(part), `${part} is in\n${text}`);
    assert.equal(lines.filter((line) => line.startsWith("[fdbserver.")).length, count);
  },
);

const unified = (spec: Spec, status: Status = {}, processClass = "storage"): string => {
  const target = { processClass, imageType: "unified", serverCount: 1 } as const;
  return expectedCommandLine(clusterWith(spec, status), target, 1, values);
};

/** Which arguments the command line of a unified pod must have, and which it must not. */
table(
  {
    "C10.3": [{}, {}, ["--class=storage", "--datadir=/var/fdb/data/1"], []],
    "C10.7": [{}, {}, ["--public_address=[10.0.0.7]:4501", "--listen_address=[10.0.0.8]:4501"], []],
    "C10.8": [
      service,
      {},
      ["--public_address=[10.0.0.7]:4501", "--listen_address=[10.0.0.8]:4501"],
      [],
    ],
    "C10.9": [{}, tls, ["--public_address=[10.0.0.7]:4500:tls"], [":4501"]],
    "C10.10": [
      { mainContainer: { enableTls: true } },
      both,
      ["--public_address=[10.0.0.7]:4500:tls,[10.0.0.7]:4501"],
      [],
    ],
    "C10.11": [
      { mainContainer: { enableTls: false } },
      both,
      ["--public_address=[10.0.0.7]:4500:tls,[10.0.0.7]:4501"],
      [],
    ],
    "C10.12": [parameters("general", "knob_a=1"), {}, ["--knob_a=1"], []],
    "C10.13": [parameters("storage", "knob_b=2"), {}, ["--knob_b=2"], []],
    "C10.18": [
      { faultDomain: { key: "rack", valueFrom: "$RACK" } },
      {},
      ["--locality_zoneid=rack-1"],
      [],
    ],
    "C10.19": [
      { mainContainer: { peerVerificationRules: "S.CN=db" } },
      {},
      ["--tls_verify_peers=S.CN=db"],
      [],
    ],
    "C10.20": [{ logGroup: "mine" }, {}, ["--loggroup=mine"], ["--loggroup=sample"]],
    "C10.21": [{ dataCenter: "dc1" }, {}, ["--locality_dcid=dc1"], []],
    "C10.22": [{ dataHall: "h1" }, {}, ["--locality_data_hall=h1"], []],
    "C10.23": [
      { dataCenter: "dc1", ...parameters("general", "locality_dcid=own") },
      {},
      ["--locality_dcid=own"],
      ["--locality_dcid=dc1"],
    ],
    "C10.24": [
      { dataHall: "h1", ...parameters("general", "locality_data_hall=own") },
      {},
      ["--locality_data_hall=own"],
      ["--locality_data_hall=h1"],
    ],
    "C10.25": [
      { faultDomain: { key: "kubernetes.io/hostname" } },
      {},
      ["--locality_machineid=machine", "--locality_zoneid=zone"],
      [],
    ],
    "C10.26": [
      { faultDomain: { key: "foundationdb.org/kubernetes-cluster", value: "kc1" } },
      {},
      ["--locality_zoneid=zone", "--locality_machineid=machine"],
      [],
    ],
  } satisfies Record<string, [Spec, Status, string[], string[]]>,
  (spec: Spec, status: Status, has: string[], lacks: string[]) => {
    const words = unified(spec, status).split(" ");
    for (const word of has) assert.ok(words.includes(word), `${word} is not in ${words.join(" ")}`);
    for (const part of lacks) assert.ok(!words.join(" ").includes(part), part);
  },
);

const target = { processClass: "storage", imageType: "unified", serverCount: 0 } as const;
const json = (spec: Spec, status: Status = {}): string =>
  monitorJson(monitorConfiguration(clusterWith(spec, status), target));

item("C10.1", () => {
  assert.equal(JSON.parse(json({}, { connectionString: "" })).runServers, false);
  assert.equal(JSON.parse(json({})).runServers, undefined);
});

item("C10.2", () => {
  const resource = clusterWith({ version: "seven" });
  const problems = validateCluster(resource);
  assert.ok(problems.some((problem) => problem.field === "spec.version"));
});

item("C10.4", () => {
  assert.ok(unified({}, {}, "log").includes(" --class=log "));
});

item("C10.5", () => {
  const data = configMap(clusterWith({}, { imageTypes: ["split", "unified"] })).data ?? {};
  assert.ok(data["fdbmonitor-conf-storage"]?.startsWith("[general]"));
  assert.ok(data["fdbmonitor-conf-storage-json"]?.startsWith("{"));
});

item("C10.6", () => {
  const cluster = clusterWith({ storageServersPerPod: 2 });
  const many = { ...target, serverCount: 2 };
  const lines = [1, 2].map((number) => expectedCommandLine(cluster, many, number, values));
  const parts = lines.map((line) => /public_address=\S+:(\d+) .*process_id=(\S+)/.exec(line));
  assert.deepEqual(
    parts.map((part) => part?.slice(1)),
    [
      ["4501", "storage-1-1"],
      ["4503", "storage-1-2"],
    ],
  );
});

const families = { ...values, FDB_PUBLIC_IP: "10.0.0.7,fd00::7", FDB_POD_IP: "10.0.0.8,fd00::8" };
const inFamily = (podIPFamily: number, spec: Spec = {}): string => {
  const cluster = clusterWith({ ...spec, routing: { podIPFamily } as ClusterSpec["routing"] });
  return expectedCommandLine(cluster, target, 1, families);
};
const withIp = parameters("general", "locality_own=$FDB_PUBLIC_IP");

item("C10.14", () => assert.ok(inFamily(4, withIp).includes("--locality_own=10.0.0.7 ")));
item("C10.15", () => assert.ok(inFamily(6, withIp).includes("--locality_own=fd00::7 ")));
item("C10.16", () => {
  const line = inFamily(4);
  assert.ok(line.includes("--public_address=[10.0.0.7]:4501 "), line);
  assert.ok(line.includes("--listen_address=[10.0.0.8]:4501 "), line);
});
item("C10.17", () => {
  const line = inFamily(6);
  assert.ok(line.includes("--public_address=[fd00::7]:4501 "), line);
  assert.ok(line.includes("--listen_address=[fd00::8]:4501 "), line);
});

const dataOf = (spec: Spec, status: Status = {}): Record<string, string> =>
  configMap(clusterWith(spec, status)).data ?? {};
const keysOf = (spec: Spec, status: Status = {}): string[] =>
  Object.keys(dataOf(spec, status)).sort();
const given = (metadata: object, data?: Record<string, string>): Spec => ({
  configMap: { metadata, ...(data === undefined ? {} : { data }) } as ClusterSpec["configMap"],
});

item("C02.1", () => {
  const { metadata } = configMap(clusterWith());
  assert.deepEqual(
    [metadata.name, metadata.namespace, metadata.labels, metadata.annotations],
    ["sample-config", "ns", { "foundationdb.org/fdb-cluster-name": "sample" }, undefined],
  );
});
item("C02.2", () => {
  const data = dataOf({});
  assert.equal(data["cluster-file"], "sample:abc@10.0.0.1:4501");
  assert.equal(data["running-version"], "7.3.63");
  assert.equal(JSON.parse(data["fdbmonitor-conf-storage-json"] ?? "").version, "7.3.63");
});
item("C02.3", () => {
  const keys = keysOf({}, { imageTypes: ["unified"] }).filter((key) => key.includes("conf-"));
  assert.deepEqual(keys, [
    "fdbmonitor-conf-log-json",
    "fdbmonitor-conf-stateless-json",
    "fdbmonitor-conf-storage-json",
  ]);
});
item("C02.4", () => {
  const keys = keysOf({ imageType: "split" }).filter((key) => key.includes("conf-"));
  assert.deepEqual(keys, [
    "fdbmonitor-conf-log",
    "fdbmonitor-conf-stateless",
    "fdbmonitor-conf-storage",
  ]);
});
item("C02.5", () => {
  const keys = keysOf({}, { imageTypes: ["split", "unified"] }).filter((key) =>
    key.includes("-log"),
  );
  assert.deepEqual(keys, ["fdbmonitor-conf-log", "fdbmonitor-conf-log-json"]);
});
item("C02.6", () => {
  const keys = keysOf({ imageType: "split" }, { storageServersPerDisk: [1, 2] });
  assert.deepEqual(
    keys.filter((key) => key.includes("storage")),
    ["fdbmonitor-conf-storage", "fdbmonitor-conf-storage-density-2"],
  );
});
item("C02.7", () => {
  const keys = keysOf({ imageType: "split" }, { logServersPerDisk: [1, 3] });
  assert.deepEqual(
    keys.filter((key) => key.includes("-log")),
    ["fdbmonitor-conf-log", "fdbmonitor-conf-log-density-3"],
  );
});
item("C02.8", () => {
  const labels = { resourceLabels: { team: "x" }, matchLabels: { app: "db" } };
  assert.deepEqual(configMap(clusterWith({ labels })).metadata.labels, { app: "db", team: "x" });
});
item("C02.9", () => assert.equal(dataOf({ trustedCAs: ["A", "B"] })["ca-file"], "A\nB"));
item("C02.10", () => {
  const data = dataOf({ imageType: "split" }, { connectionString: "" });
  assert.deepEqual([data["cluster-file"], data["fdbmonitor-conf-storage"]], ["", ""]);
});
item("C02.11", () => {
  const { metadata } = configMap(clusterWith(given({ labels: { own: "1" } })));
  assert.equal(metadata.labels?.["own"], "1");
});
item("C02.12", () => {
  const { metadata } = configMap(clusterWith(given({ annotations: { own: "1" } })));
  assert.equal(metadata.annotations?.["own"], "1");
});
item("C02.13", () => {
  const { metadata } = configMap(clusterWith(given({ name: "other" })));
  assert.equal(metadata.name, "sample-config");
});
item("C02.14", () => {
  const data = dataOf(given({}, { "sidecar-conf": "x", "cluster-file": "mine" }));
  assert.deepEqual([data["sidecar-conf"], data["cluster-file"]], ["x", "mine"]);
});
