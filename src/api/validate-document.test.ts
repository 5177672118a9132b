// Whole documents, as people give them to `kubectl apply` and to `fdb-operator validate`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { customResourceOf } from "./crd.ts";
import { describeFieldError } from "../../test/fixtures/field-errors.ts";
import { validateObject } from "../kube/structural/validate-object.ts";
import { validateDocument } from "./validate-document.ts";

const apiVersion = "apps.foundationdb.org/v1beta2";

function document(kind: string, spec: unknown, name = "sample"): unknown {
  return { apiVersion, kind, metadata: { name }, spec };
}

const cluster = (fields: object): unknown =>
  document("FoundationDBCluster", { version: "7.3.69", ...fields });

function lines(object: unknown): readonly string[] {
  return validateDocument(object).map(({ field, message }) => `${field}: ${message}`);
}

function serverErrors(object: unknown, old?: unknown): readonly string[] {
  const { kind } = object as { kind: string };
  const custom = customResourceOf(apiVersion, kind);
  assert.ok(custom);
  return validateObject(custom.schema, object, old).map(describeFieldError);
}

test("[API8] three wrong fields are three findings with their paths", () => {
  const object = cluster({
    storageServersPerPod: "many",
    databaseConfiguration: { redundancy_mode: "quadruple" },
    procesCounts: { storage: 3 },
  });
  assert.deepEqual(lines(object), [
    "spec.procesCounts: unknown field",
    'spec.storageServersPerPod: Invalid value: "string": spec.storageServersPerPod in body must be of ' +
      'type integer: "string"',
    'spec.databaseConfiguration.redundancy_mode: Unsupported value: "quadruple": supported values: ' +
      '"single", "double", "triple", "three_data_hall", "three_datacenter", ' +
      '"three_data_hall_fallback", "three_datacenter_fallback"',
  ]);
});

test("[API8] rules and the operator's checks are asked in spite of fields of wrong form", () => {
  const object = cluster({
    version: "6.3.24",
    storageServersPerPod: "many",
    processes: { log: { customParameters: ["knob"] } },
  });
  assert.deepEqual(
    validateDocument(object).map(({ field }) => field),
    ["spec.storageServersPerPod", "spec.version", "spec.processes.log.customParameters[0]"],
  );
});

test("[API8] names that every JavaScript object knows are unknown fields like others", () => {
  const spec = JSON.parse(
    '{"version":"7.3.63","constructor":{"a":1},"toString":"x","__proto__":{"version":"7.1.0"},"processCounts":{"valueOf":3}}',
  ) as object;
  const findings = validateDocument(document("FoundationDBCluster", spec));
  assert.deepEqual(findings.map(({ field }) => field).toSorted(), [
    "spec.__proto__",
    "spec.constructor",
    "spec.processCounts.valueOf",
    "spec.toString",
  ]);
});

test("[API8] a resource without a spec, a version or a name is refused", () => {
  assert.deepEqual(lines({ apiVersion, kind: "FoundationDBCluster", metadata: {} }), [
    "metadata.name: Required value: name or generateName is required",
    "spec: Required value",
  ]);
  assert.deepEqual(lines(document("FoundationDBCluster", {})), ["spec.version: Required value"]);
  assert.deepEqual(lines(document("FoundationDBCluster", { version: "7.3.69" }, "Bad_Name")), [
    'metadata.name: "Bad_Name" is no name: use lower case letters, digits, dashes and dots',
  ]);
});

test("[API32] other resources are noted as not checked", () => {
  const [finding] = validateDocument({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } });
  assert.equal(finding?.severity, "note");
  assert.deepEqual(
    [undefined, 5, {}, []].map((each) => validateDocument(each)[0]?.severity),
    ["error", "error", "error", "error"],
  );
});

test("[API32] metadata is judged as for any resource, and only our one version is served", () => {
  const object = {
    apiVersion,
    kind: "FoundationDBCluster",
    metadata: {
      name: "sample",
      lables: {},
      labels: { "a b": "x", "example.org/a": "no spaces", number: 1 },
      annotations: { "example.org/any": "text of any kind", number: 1 },
    },
    spec: { version: "7.3.69" },
  };
  assert.deepEqual(
    validateDocument(object).map(({ field }) => field),
    [
      "metadata.lables",
      "metadata.labels.a b",
      "metadata.labels.example.org/a",
      "metadata.labels.number",
      "metadata.annotations.number",
    ],
  );
  const [finding] = validateDocument({ ...object, apiVersion: "apps.foundationdb.org/v1beta1" });
  assert.equal(finding?.severity, "error");
});

test("[API32] a field that the API server refuses is not named a second time", () => {
  assert.deepEqual(
    validateDocument(cluster({ version: "6.3.24" })).map(({ field }) => field),
    ["spec.version"],
  );
});

test("[CEL20] two spellings of the synchronization mode must agree", () => {
  const automationOptions = { synchronizationMode: "local", synronizationMode: "global" };
  assert.deepEqual(serverErrors(cluster({ automationOptions, processGroupIDPrefix: "dc1" })), [
    "spec.automationOptions.synronizationMode: Invalid value: synronizationMode is the old spelling of " +
      "synchronizationMode: set only one of them",
  ]);
  assert.deepEqual(
    serverErrors(
      cluster({ automationOptions: { ...automationOptions, synronizationMode: "local" } }),
    ),
    [],
  );
});

test("[CEL21] global mode needs a prefix and locks, under either spelling", () => {
  for (const name of ["synchronizationMode", "synronizationMode"]) {
    const automationOptions = { [name]: "global" };
    assert.deepEqual(serverErrors(cluster({ automationOptions })), [
      "spec.processGroupIDPrefix: Invalid value: synchronizationMode global needs a processGroupIDPrefix " +
        "that names this instance",
    ]);
    const fields = { automationOptions, processGroupIDPrefix: "dc1" };
    assert.deepEqual(serverErrors(cluster({ ...fields, lockOptions: { disableLocks: true } })), [
      "spec.lockOptions.disableLocks: Invalid value: synchronizationMode global needs locks: do not set " +
        "disableLocks to true",
    ]);
    assert.deepEqual(
      serverErrors(cluster({ ...fields, lockOptions: { disableLocks: false } })),
      [],
    );
  }
});

test("[CEL22] localities have a source, a free key and no twin", () => {
  assert.deepEqual(
    serverErrors(
      cluster({
        localities: [
          { key: "zone", value: "a" },
          { key: "zoneid", value: "a" },
          { key: "machineid", value: "a" },
          { key: "dcid", envValue: "" },
        ],
      }),
    ),
    [
      "spec.localities: Invalid value: zone and zoneid name the same locality",
      'spec.localities[2].key: Invalid value: "machineid": instance_id, machineid, process_id, dns_name ' +
        "are set by the operator and cannot be chosen",
      "spec.localities[3]: Invalid value: one of value, envValue and topologyKey must be set",
    ],
  );
  const twice = [
    { key: "rack", value: "a" },
    { key: "rack", value: "b" },
  ];
  assert.deepEqual(serverErrors(cluster({ localities: twice })), [
    'spec.localities[1]: Duplicate value: {"key":"rack"}',
  ]);
});

test("[CEL23] three_datacenter has no regions", () => {
  const errors = (redundancy_mode: string, regions: unknown[]) =>
    serverErrors(cluster({ databaseConfiguration: { redundancy_mode, regions } })).length;
  assert.deepEqual(
    [
      errors("three_datacenter", [{}]),
      errors("three_datacenter_fallback", [{}]),
      errors("three_datacenter", []),
      errors("double", [{}]),
    ],
    [1, 1, 0, 0],
  );
});

test("[CEL24] packing names the zones itself and needs nodes as fault domains", () => {
  const packed = (fields: object) =>
    serverErrors(cluster({ distributionConfig: { enabled: true }, ...fields })).map(
      (line) => line.split(":")[0],
    );
  assert.deepEqual(packed({ faultDomain: { key: "foundationdb.org/none", valueFrom: "$A" } }), [
    "spec.faultDomain.key",
    "spec.faultDomain.valueFrom",
  ]);
  assert.deepEqual(packed({ localities: [{ key: "zone", envValue: "A" }] }), ["spec.localities"]);
  assert.deepEqual(packed({ localities: [{ key: "zone", topologyKey: "rack" }] }), []);
  assert.deepEqual(
    serverErrors(
      cluster({
        distributionConfig: { enabled: false },
        faultDomain: { key: "foundationdb.org/none" },
      }),
    ),
    [],
  );
});

test("[CEL25] coordinators need a class that keeps data, and versions before 7.1 are refused", () => {
  assert.deepEqual(
    serverErrors(cluster({ version: "7.0.3", coordinatorSelection: [{ processClass: "proxy" }] })),
    [
      'spec.version: Invalid value: "7.0.3": FoundationDB before 7.1.0 is not supported',
      'spec.coordinatorSelection[0].processClass: Invalid value: "proxy": coordinators need a class that ' +
        "keeps data: storage, log, transaction, coordinator",
    ],
  );
  assert.deepEqual(serverErrors(cluster({ version: "17.0.3" })), []);
  assert.deepEqual(serverErrors(cluster({ version: "7.3.1234567890" })), [
    'spec.version: Invalid value: "7.3.1234567890": a number of a version has at most nine digits',
  ]);
});

const backup = (fields: object) =>
  document("FoundationDBBackup", {
    version: "7.3.69",
    clusterName: "sample",
    blobStoreConfiguration: { accountName: "key@host:443" },
    ...fields,
  });

test("[CEL26] the tag of a backup cannot be changed", () => {
  assert.deepEqual(serverErrors(backup({ tag: "b" }), backup({ tag: "a" })), [
    'spec.tag: Invalid value: "b": tag cannot be changed',
  ]);
  assert.deepEqual(serverErrors(backup({ tag: "b" }), backup({})), []);
});

test("[API30] a backup needs a destination with a host, and parameters of its own", () => {
  assert.deepEqual(lines(backup({})), []);
  assert.deepEqual(
    validateDocument(
      backup({
        blobStoreConfiguration: { accountName: "host", urlParameters: ["secure_connection"] },
        customParameters: ["locality_zoneid=x"],
        podTemplateSpec: { spec: { containers: [{ name: "foundationdb", image: "a:1" }] } },
      }),
    ).map(({ field }) => field),
    [
      "spec.blobStoreConfiguration.accountName",
      "spec.blobStoreConfiguration.urlParameters[0]",
      "spec.customParameters[0]",
      "spec.podTemplateSpec.spec.containers[0].image",
    ],
  );
  const tagged = {
    allowTagOverride: true,
    podTemplateSpec: { spec: { containers: [{ name: "foundationdb", image: "a:1" }] } },
  };
  assert.deepEqual(lines(backup(tagged)), []);
  assert.deepEqual(
    validateDocument(backup({ blobStoreConfiguration: undefined })).map(({ field }) => field),
    ["spec.blobStoreConfiguration"],
  );
});

test("[API31] a restore needs a source and keys that can be read", () => {
  const restore = (fields: object) =>
    document("FoundationDBRestore", {
      destinationClusterName: "sample",
      blobStoreConfiguration: { accountName: "key@host" },
      ...fields,
    });
  assert.deepEqual(lines(restore({ keyRanges: [{ start: "\\x00", end: "a/b\\xff" }] })), []);
  assert.deepEqual(
    validateDocument(restore({ keyRanges: [{ start: "\\xg0", end: "b" }] })).map(
      ({ field }) => field,
    ),
    ["spec.keyRanges[0].start"],
  );
  assert.deepEqual(lines(restore({ backupVersion: null })), []);
});

test("[API41] a resource that no API server would store is refused, and a large one warned of", () => {
  const withData = (length: number) => ({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample" },
    spec: { version: "7.3.69", configMap: { data: { text: "x".repeat(length) } } },
  });
  assert.deepEqual(validateDocument(withData(200_000)), []);
  const large = validateDocument(withData(300_000));
  assert.deepEqual(
    large.map(({ severity, remedy }) => `${severity}: ${remedy}`),
    ["warning: use kubectl apply --server-side"],
  );
  const [refused] = validateDocument(withData(1_500_000));
  assert.equal(refused?.severity, "error");
  assert.match(refused?.message ?? "", /^this resource has 15\d+ bytes/);
});

test("[API35] what cannot work is refused: regions, roles and servers beyond what there is", () => {
  const errorsFor = (spec: object) =>
    validateDocument({
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      metadata: { name: "sample" },
      spec: { version: "7.3.69", ...spec },
    })
      .filter(({ severity }) => severity === "error")
      .map(({ field }) => field);
  const configuration = (databaseConfiguration: object) => errorsFor({ databaseConfiguration });
  assert.deepEqual(configuration({ usable_regions: 7 }), [
    "spec.databaseConfiguration.usable_regions",
  ]);
  assert.deepEqual(configuration({ logs: -9 }), ["spec.databaseConfiguration.logs"]);
  assert.deepEqual(configuration({ logs: -1, remote_logs: -1, usable_regions: 2 }), []);
  assert.deepEqual(errorsFor({ storageServersPerPod: -1 }), ["spec.storageServersPerPod"]);
  assert.deepEqual(errorsFor({ processCounts: { stateless: -1, log: -7 } }), []);
});

test("[API8] of an object that has lost a field of wrong form nothing else is said", () => {
  const restore = document("FoundationDBRestore", {
    destinationClusterName: "copy",
    fromBackup: "nightly",
    to: { time: "2026-11-15 14:03" },
  });
  assert.deepEqual(
    validateDocument(restore).map(({ field }) => field),
    ["spec.to.time"],
  );
});

test("[CLI6] what the operator warns of a backup and a restore is said offline, too", () => {
  const blobStoreConfiguration = { accountName: "key:SECRET@host" };
  const field = "spec.blobStoreConfiguration.accountName";
  const kept = backup({
    snapshotPeriodSeconds: 864_000,
    retention: { restorableFor: "5d" },
    blobStoreConfiguration,
  });
  const restore = document("FoundationDBRestore", {
    destinationClusterName: "copy",
    blobStoreConfiguration,
  });
  const gist = (object: unknown): string[] =>
    validateDocument(object).map((finding) => `${finding.severity}: ${finding.field}`);
  assert.deepEqual(gist(kept), [`warning: ${field}`, "warning: spec.retention"]);
  assert.deepEqual(gist(restore), [`warning: ${field}`]);
});
