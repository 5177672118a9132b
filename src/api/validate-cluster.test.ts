// What the operator refuses of a cluster, as tables: a spec and the fields that it names.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterSpec } from "./cluster-spec.ts";
import { clusterWarnings, validateCluster } from "./validate-cluster.ts";
import { hasTag, noPodTemplateLimits, type PodTemplateLimits } from "./validate-pod-template.ts";

type Row = readonly [Partial<ClusterSpec>, ...string[]];

function cluster(fields: Partial<ClusterSpec>, name = "sample") {
  return { metadata: { name }, spec: { version: "7.3.69", ...fields } };
}

function fieldsOf(fields: Partial<ClusterSpec>, limits?: PodTemplateLimits): readonly string[] {
  const options = limits === undefined ? {} : { podTemplateLimits: limits };
  return validateCluster(cluster(fields), options).map(({ field }) => field);
}

function check(rows: readonly Row[]): void {
  for (const [fields, ...expected] of rows) {
    assert.deepEqual(fieldsOf(fields), expected, JSON.stringify(fields));
  }
}

test("[API20] a version must be readable and at least 7.1.0", () => {
  check([
    [{ version: "7.1.0" }],
    [{ version: "7.1.0-rc1" }, "spec.version"],
    [{ version: "7.0.9" }, "spec.version"],
    [{ version: "seven" }, "spec.version"],
    [{ version: "7.3" }, "spec.version"],
  ]);
  const [problem] = validateCluster(cluster({ version: "6.3.24" }));
  assert.deepEqual(problem, {
    field: "spec.version",
    value: "6.3.24",
    message: "FoundationDB 6.3.24 is not supported",
    remedy: "use 7.1.0 or newer",
  });
});

test("[API21] an engine must exist in the version", () => {
  const engine = "spec.databaseConfiguration.storage_engine";
  const wiggle = "spec.databaseConfiguration.perpetual_storage_wiggle_engine";
  const redwood = { storage_engine: "ssd-redwood-1" } as const;
  check([
    [{ version: "7.1.61", databaseConfiguration: redwood }, engine],
    [{ databaseConfiguration: redwood }],
    [
      {
        version: "7.1.61",
        databaseConfiguration: { perpetual_storage_wiggle_engine: "ssd-sharded-rocksdb" },
      },
      wiggle,
    ],
    [{ version: "7.2.0", databaseConfiguration: { storage_engine: "ssd-sharded-rocksdb" } }],
  ]);
});

test("[MIG6] an engine without a name cannot be asked for", () => {
  for (const name of ["storage_engine", "perpetual_storage_wiggle_engine"] as const) {
    check([
      [{ databaseConfiguration: { [name]: "custom" } }, `spec.databaseConfiguration.${name}`],
    ]);
  }
});

test("[MIG6] a migration of the storage engine that nobody will see the end of is warned of", () => {
  const type = (version: string, storage_migration_type: "disabled" | "gradual" | "aggressive") =>
    clusterWarnings(cluster({ version, databaseConfiguration: { storage_migration_type } }));
  const [warning, ...others] = type("7.1.61", "gradual");
  assert.deepEqual(others, []);
  assert.equal(warning?.field, "spec.databaseConfiguration.storage_migration_type");
  assert.match(warning?.message ?? "", /7.1.61 does not tell which engine a storage server runs/);
  assert.equal(type("7.1.61", "aggressive").length, 1);
  assert.deepEqual([...type("7.1.61", "disabled"), ...type("7.3.0", "gradual")], []);
});

test("[API22] custom parameters have a name and a value, once, and are not the operator's", () => {
  const parameters = (...customParameters: string[]): Partial<ClusterSpec> => ({
    processes: { storage: { customParameters } },
  });
  const at = (index: number) => `spec.processes.storage.customParameters[${index}]`;
  check([
    [parameters("knob_a=1", "knob_b=x=y")],
    [parameters("knob_a"), at(0)],
    [parameters("=1", "--knob_a=1", "knob a=1"), at(0), at(1), at(2)],
    [parameters("knob_a=1", "knob-a=2"), at(1)],
    [parameters("datadir=/tmp"), at(0)],
    [parameters("restart-delay=1", "restart_backoff=1", "user=x"), at(0), at(1), at(2)],
    [parameters("locality_instance_id=x", "locality_rack=x"), at(0)],
  ]);
});

test("[API23] images of the operator's containers carry no tag; a registry port is none", () => {
  const images = ["fdb", "host:5000/fdb", "host:5000/a/fdb", "host:5000/fdb:7.3", "fdb@sha256:00"];
  assert.deepEqual(images.map(hasTag), [false, false, false, true, true]);
  const podTemplate = {
    spec: {
      containers: [
        { name: "foundationdb", image: "host:5000/fdb:7.3" },
        { name: "logger", image: "logger:1" },
      ],
      initContainers: [{ name: "foundationdb-kubernetes-init", image: "sidecar:1" }],
    },
  };
  const path = "spec.processes.general.podTemplate.spec";
  check([
    [
      { processes: { general: { podTemplate } } },
      `${path}.containers[0].image`,
      `${path}.initContainers[0].image`,
    ],
  ]);
});

test("[API24] an administrator can narrow what pod templates may hold", () => {
  const podTemplate = {
    spec: {
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      serviceAccountName: "mine",
      containers: [{ name: "foundationdb", volumeMounts: [{ name: "data", mountPath: "/d" }] }],
      volumes: [{ name: "data", hostPath: { path: "/" } }],
    },
  };
  const fields = { processes: { log: { podTemplate } } };
  assert.deepEqual(fieldsOf(fields), []);
  const limits: PodTemplateLimits = {
    allowsAutomountServiceAccountToken: false,
    allowsHostNetwork: false,
    allowsHostIpc: false,
    allowsHostPid: false,
    serviceAccountNames: ["fdb"],
    volumeSources: ["secret"],
    volumeMounts: ["certificates"],
  };
  const path = "spec.processes.log.podTemplate.spec";
  assert.deepEqual(fieldsOf(fields, limits), [
    `${path}.automountServiceAccountToken`,
    `${path}.hostNetwork`,
    `${path}.hostIPC`,
    `${path}.hostPID`,
    `${path}.serviceAccountName`,
    `${path}.volumes[0].hostPath`,
    `${path}.containers[0].volumeMounts[0].name`,
  ]);
  const allowed = { ...noPodTemplateLimits, serviceAccountNames: ["mine"] };
  assert.deepEqual(fieldsOf(fields, allowed), []);
});

test("[API25] a locality given twice must be the same", () => {
  const zoneLabel = "topology.kubernetes.io/zone";
  const variable = "locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE";
  const parameters = (parameter: string) => ({ general: { customParameters: [parameter] } });
  const parameter = "spec.processes.general.customParameters[0]";
  check([
    [{ dataCenter: "dc1", localities: [{ key: "dcid", value: "dc1" }] }],
    [{ dataCenter: "dc2", localities: [{ key: "datacenter", value: "dc1" }] }, "spec.dataCenter"],
    [
      { dataHall: "a", localities: [{ key: "data_hall", topologyKey: zoneLabel }] },
      "spec.dataHall",
    ],
    [
      {
        localities: [{ key: "data_hall", topologyKey: zoneLabel }],
        processes: parameters(variable),
      },
    ],
    [{ dataHall: "a", processes: parameters("locality_data_hall=a") }],
    [{ dataHall: "a", processes: parameters("locality_data_hall=b") }, parameter],
    [{ faultDomain: { key: "rack" }, localities: [{ key: "zone", topologyKey: "rack" }] }],
    [
      { faultDomain: { key: "rack" }, localities: [{ key: "zone", topologyKey: "row" }] },
      "spec.faultDomain.key",
    ],
    [{ faultDomain: { valueFrom: "$RACK" }, localities: [{ key: "zone", envValue: "RACK" }] }],
    [
      { faultDomain: { valueFrom: "$RACK" }, localities: [{ key: "zone", envValue: "ROW" }] },
      "spec.faultDomain.valueFrom",
    ],
    [
      {
        faultDomain: { key: "foundationdb.org/kubernetes-cluster", value: "a" },
        localities: [{ key: "zone", value: "a" }],
      },
    ],
    [
      { faultDomain: { key: "foundationdb.org/none" }, localities: [{ key: "zone", value: "a" }] },
      "spec.faultDomain.key",
    ],
  ]);
  const [conflict] = validateCluster(
    cluster({ dataCenter: "dc2", localities: [{ key: "dcid", value: "dc1" }] }),
  );
  assert.equal(conflict?.message, "dcid is also given by spec.localities[0], and differently");
});

test("[API26] the split image cannot learn localities from nodes", () => {
  const hall = { key: "data_hall", topologyKey: "topology.kubernetes.io/zone" };
  check([
    [{ localities: [hall] }],
    [{ imageType: "split", localities: [hall] }, "spec.localities[0].topologyKey"],
    [{ imageType: "split", localities: [{ key: "zone", topologyKey: "kubernetes.io/hostname" }] }],
    [{ imageType: "split", localities: [{ ...hall, envValue: "HALL" }] }],
  ]);
});

test("[API26] halls that are chosen for a mode of three are three", () => {
  const hall = (values: string[]): Partial<ClusterSpec> => ({
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [{ key: "data_hall", topologyKey: "topology.kubernetes.io/zone", values }],
  });
  check([
    [hall(["a", "b", "c"])],
    [hall([])],
    [hall(["a", "b"]), "spec.localities[0].values"],
    [{ localities: [{ key: "rack", value: "r", values: ["r"] }] }, "spec.localities[0].values"],
  ]);
});

test("[API27] packing needs enough logical fault domains", () => {
  const packed = (
    desiredFaultDomains: number | undefined,
    fields: Partial<ClusterSpec> = {},
  ): Partial<ClusterSpec> => ({
    ...fields,
    distributionConfig: {
      enabled: true,
      ...fields.distributionConfig,
      ...(desiredFaultDomains === undefined ? {} : { desiredFaultDomains }),
    },
  });
  const triple = { databaseConfiguration: { redundancy_mode: "triple" } } as const;
  const halls: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [{ key: "data_hall", topologyKey: "topology.kubernetes.io/zone" }],
  };
  const desired = "spec.distributionConfig.desiredFaultDomains";
  check([
    [packed(undefined)],
    [packed(1), desired],
    [packed(2, triple), desired],
    [packed(3, triple)],
    [packed(1, halls), desired],
    [packed(2, halls)],
    [packed(2, { coordinatorSelection: [{ processClass: "storage" }] }), desired],
    [packed(3, { coordinatorSelection: [{ processClass: "storage" }] })],
    [packed(4, { distributionConfig: { required: true } }), "spec.processCounts.storage"],
    [packed(4, { distributionConfig: { required: true }, processCounts: { storage: 4 } })],
    [packed(4)],
    [
      packed(2, { processes: { log: { customParameters: ["locality_zoneid=x"] } } }),
      "spec.processes.log.customParameters[0]",
    ],
  ]);
  const warnings = (domains: number | undefined): string[] =>
    clusterWarnings(cluster(packed(domains, halls))).map(({ field }) => field);
  assert.deepEqual(warnings(2), [desired]);
  assert.deepEqual(warnings(undefined), []);
});

test("[API28] names that would be too long or malformed are refused in advance", () => {
  const long = "x".repeat(43);
  check([
    [{ processGroupIDPrefix: long }],
    [
      { processGroupIDPrefix: long, processCounts: { cluster_controller: 1 } },
      "spec.processGroupIDPrefix",
    ],
    [{ processGroupIDPrefix: "dc.1" }, "spec.processGroupIDPrefix"],
  ]);
  const named = (length: number, fields: Partial<ClusterSpec> = {}) =>
    validateCluster(cluster(fields, "n".repeat(length))).map(({ field }) => field);
  assert.deepEqual(named(47), []);
  assert.deepEqual(named(48), ["metadata.name"]);
  assert.deepEqual(named(48, { routing: { useDNSInClusterFile: false } }), []);
  const dotted = (routing: ClusterSpec["routing"]) =>
    validateCluster(cluster({ routing }, "prod.orders")).map(({ field }) => field);
  assert.deepEqual(dotted({}), ["metadata.name"]);
  assert.deepEqual(dotted({ useDNSInClusterFile: false }), []);
  assert.deepEqual(dotted({ useDNSInClusterFile: false, publicIPSource: "service" }), [
    "metadata.name",
  ]);
});

test("[API29] other settings that cannot work are named", () => {
  check([
    [{ seedConnectionString: "a:b@1.2.3.4:4501" }],
    [{ seedConnectionString: "nonsense" }, "spec.seedConnectionString"],
    [
      { partialConnectionString: { databaseName: "a-b", generationID: "a_b" } },
      "spec.partialConnectionString.databaseName",
      "spec.partialConnectionString.generationID",
    ],
    [
      { databaseConfiguration: { regions: [{ datacenters: [{ id: "a;b" }] }] } },
      "spec.databaseConfiguration.regions[0].datacenters[0].id",
    ],
    [
      { coordinatorSelection: [{ processClass: "log" }, { processClass: "stateless" }] },
      "spec.coordinatorSelection[1].processClass",
    ],
    [{ routing: { podIPFamily: 5 } }, "spec.routing.podIPFamily"],
  ]);
});

test("[API33] a misspelt class and a mode without halls are warned of", () => {
  const warnings = (fields: Partial<ClusterSpec>) =>
    clusterWarnings(cluster(fields)).map(({ field }) => field);
  assert.deepEqual(warnings({ processes: { general: {}, storge: {} } }), ["spec.processes.storge"]);
  const mode = { databaseConfiguration: { redundancy_mode: "three_data_hall" } } as const;
  assert.deepEqual(warnings(mode), ["spec.localities"]);
  assert.deepEqual(warnings({ ...mode, dataHall: "one" }), []);
});

test("[API38] labels and annotations are those that Kubernetes takes", () => {
  const template = (metadata: object): Partial<ClusterSpec> => ({
    processes: { storage: { podTemplate: { metadata } } },
  });
  const claim = { volumeClaimTemplate: { metadata: { labels: { ok: "-bad" } } } };
  check([
    [{ labels: { matchLabels: { "example.org/name": "a.b_c-1", empty: "" } } }],
    [{ labels: { matchLabels: { "not a key": "a" } } }, "spec.labels.matchLabels.not a key"],
    [{ labels: { resourceLabels: { key: "no value!" } } }, "spec.labels.resourceLabels.key"],
    [{ labels: { processGroupIDLabels: ["ok", "a/b/c"] } }, "spec.labels.processGroupIDLabels[1]"],
    [{ labels: { processClassLabels: ["-x"] } }, "spec.labels.processClassLabels[0]"],
    [template({ labels: { a: "b" }, annotations: { "a.b/C": "any thing" } })],
    [template({ labels: { a: "ü" } }), "spec.processes.storage.podTemplate.metadata.labels.a"],
    [
      template({ annotations: { "a b": "" } }),
      "spec.processes.storage.podTemplate.metadata.annotations.a b",
    ],
    [{ processes: { log: claim } }, "spec.processes.log.volumeClaimTemplate.metadata.labels.ok"],
    [{ configMap: { metadata: { labels: { "": "" } } } }, "spec.configMap.metadata.labels."],
    [{ faultDomain: { key: "foundationdb.org/none" } }],
    [{ faultDomain: { key: "topology kubernetes" } }, "spec.faultDomain.key"],
    [{ localities: [{ key: "rack", topologyKey: "a b" }] }, "spec.localities[0].topologyKey"],
  ]);
  const long = "a".repeat(64);
  const noNames = { useDNSInClusterFile: false };
  const named = (labels: ClusterSpec["labels"]) =>
    validateCluster(cluster({ routing: noNames, labels }, long)).map(({ field }) => field);
  assert.deepEqual(named({}), ["metadata.name"]);
  assert.deepEqual(named({ matchLabels: { a: "b" }, resourceLabels: { a: "b" } }), []);
});

test("[FENCE15] what stops the servers of a pod is not given to all of them by a template", () => {
  for (const name of ["fence", "fenced", "isolate-process-group"]) {
    const key = `foundationdb.org/${name}`;
    for (const value of ["true", "false"]) {
      const podTemplate = { metadata: { annotations: { [key]: value } } };
      check([
        [
          { processes: { storage: { podTemplate } } },
          `spec.processes.storage.podTemplate.metadata.annotations.${key}`,
        ],
      ]);
    }
  }
});

test("[API47] a volume has a size above zero that can be read", () => {
  const asked = (storage: string | number, processClass = "general"): Partial<ClusterSpec> => ({
    processes: {
      [processClass]: {
        volumeClaimTemplate: { metadata: {}, spec: { resources: { requests: { storage } } } },
      },
    },
  });
  const field = (processClass: string): string =>
    `spec.processes.${processClass}.volumeClaimTemplate.spec.resources.requests.storage`;
  check([
    [asked("16G")],
    [asked(1)],
    [asked("0"), field("general")],
    [asked(0, "log"), field("log")],
    [asked("-1", "storage"), field("storage")],
    [asked("1E1.5"), field("general")],
    [asked("1e99999"), field("general")],
    [asked("0", "stateless")],
    [{ processes: { general: { volumeClaimTemplate: { metadata: {} } } } }],
  ]);
});

test("[API39] a parameter has a name that a command line takes, and a value in one line", () => {
  const at = "spec.processes.storage.customParameters[0]";
  const parameter = (text: string): Partial<ClusterSpec> => ({
    processes: { storage: { customParameters: [text] } },
  });
  check([
    [parameter("knob_ü=1"), at],
    [parameter("knob_a;b=1"), at],
    [parameter("knob_a=1\nuser=root"), at],
    [parameter("knob_a=ü")],
    [parameter("locality_data.hall=1")],
  ]);
});

test("[API45] a size that fdbserver cannot read is warned of", () => {
  const warned = (parameter: string) =>
    clusterWarnings(cluster({ processes: { storage: { customParameters: [parameter] } } })).map(
      ({ field }) => field,
    );
  const at = "spec.processes.storage.customParameters[0]";
  for (const bad of ["memory=abc", "memory=8G", "cache_memory=", "storage-memory=1.5GiB"]) {
    assert.deepEqual(warned(bad), [at], bad);
  }
  const good = ["memory=8GiB", "storage_memory=1000000", "memory=$SIZE", "knob_memory=abc"];
  assert.deepEqual(good.flatMap(warned), []);
});

test("[API40] a version newer than all known lines is warned of", () => {
  const warned = (version: string) =>
    clusterWarnings(cluster({ version })).map(({ field }) => field);
  assert.deepEqual(warned("9.9.9"), ["spec.version"]);
  assert.deepEqual(warned("7.9.0"), ["spec.version"]);
  assert.deepEqual(["7.1.0", "7.3.69", "7.4.1"].flatMap(warned), []);
});

for (const [version, runningVersion, isWarned] of [
  ["7.1.57", "7.3.63", true],
  ["7.3.63", "7.4.1", false],
  ["7.3.63", "7.1.57", false],
  ["7.3.27", "7.3.63", false],
] as const) {
  test(`[ADO23] ${version} for a database on disks after ${runningVersion} was tried ${isWarned ? "is warned of" : "is nothing to say"}`, () => {
    const adopt = { volumes: { matchLabels: { a: "b" } } };
    const tried = { ...cluster({ version, adopt }), status: { runningVersion } };
    const warned = (one: Parameters<typeof clusterWarnings>[0]) =>
      clusterWarnings(one).map(({ field }) => field);
    assert.deepEqual(warned(tried), isWarned ? ["spec.version"] : []);
    assert.deepEqual(warned({ ...tried, status: { runningVersion, configured: true } }), []);
    assert.deepEqual(warned({ ...tried, spec: { version } }), []);
  });
}

test("[API29] a share of fault domains is a number or a percentage", () => {
  const field = "spec.automationOptions.replacements.maxFaultDomainsWithTaintedProcessGroups";
  const share = (
    maxFaultDomainsWithTaintedProcessGroups: string | number,
  ): Partial<ClusterSpec> => ({
    automationOptions: { replacements: { maxFaultDomainsWithTaintedProcessGroups } },
  });
  check([[share(2)], [share("10%")], [share(-1), field], [share("many"), field]]);
});

test("[API46] numbers of process groups that are hardly ever meant are warned of", () => {
  const warned = (fields: Partial<ClusterSpec>): string[] =>
    clusterWarnings(cluster(fields)).map(({ field, remedy }) => `${field}: ${remedy}`);
  const storage = "spec.processCounts.storage: give a number, or 0 to let the operator choose";
  assert.deepEqual(warned({ processCounts: { storage: -5 } }), [storage]);
  assert.deepEqual(warned({ processCounts: { storage: -1 } }), [storage]);
  assert.deepEqual(warned({ processCounts: { storage: 3, stateless: -1 } }), []);
  assert.deepEqual(warned({ processCounts: { log: -1, transaction: 3 } }), []);
  assert.deepEqual(warned({ processCounts: { stateless: -7 } }), [
    "spec.processCounts.stateless: write -1 for none",
  ]);
  // A satellite of a database over several clusters has logs alone.
  const satellite = { processGroupIDPrefix: "dc3", processCounts: { storage: -1, log: 3 } };
  assert.deepEqual(warned(satellite), []);
});

test("[ADO1] claims that are adopted are named by a label", () => {
  const adopt = (matchLabels: Record<string, string>): Partial<ClusterSpec> => ({
    adopt: { volumes: { matchLabels } },
  });
  check([[adopt({ a: "b" })], [adopt({}), "spec.adopt.volumes.matchLabels"]]);
});

test("[QUA1] a quarantine is from a minute to a year, or none", () => {
  const field = "spec.automationOptions.volumeQuarantine";
  const wait = (volumeQuarantine: string): Partial<ClusterSpec> => ({
    automationOptions: { volumeQuarantine },
  });
  check([[wait("0")], [wait("1m")], [wait("365d")]]);
  check([
    [wait("59s"), field],
    [wait("366d"), field],
    [wait("soon"), field],
  ]);
});
