// Checklist: services, volume claims, names, and what a living object tells about itself; the completion of a resource.
import { Memory } from "../../src/env/memory.ts";
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  automationOf,
  imageTypeOf,
  labelsOf,
  routingOf,
  serversPerPod,
} from "../../src/api/effective.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import { clusterWith, storage1 } from "../fixtures/sample-cluster.ts";
import { imageFor } from "../../src/build/images.ts";
import { metadataFor, selectorLabels } from "../../src/build/labels.ts";
import { livePodMetadata } from "../../src/build/pod-metadata.ts";
import { ipFamilyOfPod, publicIpsOfPod } from "../../src/build/pod-reading.ts";
import type { ReadablePod } from "../../src/build/pod-reading.ts";
import { pod, podSpec } from "../../src/build/pod.ts";
import { headlessService, processGroupService } from "../../src/build/service.ts";
import { volumeClaim } from "../../src/build/volume-claim.ts";
import { processesByGroup, processesOfServer } from "../../src/model/locality.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { parseProcessGroupId, podNameOf } from "../../src/model/process-group-id.ts";
import { missingMetadata } from "../../src/plan/view/metadata-check.ts";
import { shapeOfPod } from "../../src/plan/view/pod-shape.ts";
import { PlanWorld } from "../operate/plan-world.ts";
import { item, table } from "./checklist-case.ts";

type Spec = Partial<ClusterSpec>;
const service = { publicIPSource: "service" } as const;

item("C13.1", () => {
  const one = processGroupService(clusterWith({ routing: service }), storage1);
  assert.equal(one?.metadata.name, "sample-storage-1");
  assert.deepEqual(one?.spec?.selector, {
    "foundationdb.org/fdb-cluster-name": "sample",
    "foundationdb.org/fdb-process-group-id": "storage-1",
  });
  assert.deepEqual(
    one?.spec?.ports?.map((port) => port.port),
    [4500, 4501],
  );
});
item("C13.2", () => {
  const labels = { matchLabels: { app: "db" }, resourceLabels: { team: "x" } };
  const one = headlessService(clusterWith({ labels }));
  assert.deepEqual(one?.metadata.labels, { app: "db", team: "x" });
  assert.deepEqual(one?.spec?.selector, { app: "db" });
});
item("C13.3", () => {
  const one = headlessService(clusterWith({ routing: { podIPFamily: 6 } }));
  assert.deepEqual(one?.spec?.ipFamilies, ["IPv6"]);
});
item("C13.4", () => {
  assert.equal(
    headlessService(clusterWith({ routing: { useDNSInClusterFile: false } })),
    undefined,
  );
});

const claim = (volumeClaimTemplate?: object, spec: Spec = {}, subject = storage1) => {
  const template = { metadata: {}, ...volumeClaimTemplate };
  const processes = { general: { volumeClaimTemplate: template } };
  const one = volumeClaim(clusterWith({ ...spec, processes }), subject);
  assert.ok(one);
  return one;
};
item("C13.5", () => {
  const { metadata } = claim({ metadata: { labels: { a: "1" }, annotations: { b: "2" } } });
  assert.equal(metadata.labels?.["a"], "1");
  assert.equal(metadata.labels?.["foundationdb.org/fdb-process-group-id"], "storage-1");
  assert.equal(metadata.annotations?.["b"], "2");
});
item("C13.6", () => {
  assert.deepEqual(claim().spec?.resources?.requests, { storage: "128G" });
  const spec = { resources: { requests: { storage: "16Gi" } } };
  assert.deepEqual(claim({ spec }).spec?.resources?.requests, { storage: "16Gi" });
});
item("C13.7", () => {
  assert.equal(claim({ spec: { storageClassName: "fast" } }).spec?.storageClassName, "fast");
});
item("C13.8", () => {
  const subject = { processClass: "storage", processGroupID: "dc1-storage-1" };
  const { metadata } = claim({}, { processGroupIDPrefix: "dc1" }, subject);
  assert.equal(metadata.name, "sample-storage-1-data");
  assert.equal(metadata.labels?.["foundationdb.org/fdb-process-group-id"], "dc1-storage-1");
});
item("C13.9", () => {
  assert.equal(claim({ metadata: { name: "pv" } }).metadata.name, "sample-storage-1-data");
});
item("C13.10", () => {
  const image = imageFor(
    undefined,
    [{ tagSuffix: "-1" }, { baseImage: "b", tagSuffix: "-2" }],
    "7.3.1",
  );
  assert.ok(image.ok && image.value === "b:7.3.1-1");
});
item("C13.11", () => {
  const { spec } = clusterWith({ storageServersPerPod: 2, logServersPerPod: 3 });
  const classes = ["storage", "log", "transaction", "stateless"];
  assert.deepEqual(
    classes.map((one) => serversPerPod(spec, one)),
    [2, 3, 3, 1],
  );
});
item("C13.12", () => {
  const spec = podSpec(clusterWith({ routing: { dnsDomain: "example.org" } }), storage1);
  assert.ok(spec.ok);
  const name = spec.value.containers[0]?.env?.find((each) => each.name === "FDB_DNS_NAME")?.value;
  assert.equal(name, "sample-storage-1.sample.ns.svc.example.org");
});
item("C13.13", () => {
  assert.equal(
    podNameOf("sample", "cluster_controller", "p-cluster_controller-7"),
    "sample-cluster-controller-7",
  );
  assert.deepEqual(parseProcessGroupId("p-cluster_controller-7"), {
    prefix: "p",
    processClass: "cluster_controller",
    number: 7,
  });
});
item("C13.14", () => {
  const wanted = selectorLabels(clusterWith(), {});
  const belongs = (labels: Record<string, string>): boolean =>
    Object.entries(wanted).every(([key, value]) => labels[key] === value);
  assert.ok(belongs(metadataFor(clusterWith(), "x", storage1).labels ?? {}));
  assert.ok(!belongs({ "foundationdb.org/fdb-cluster-name": "other" }));
});

const podWith = (
  annotations: Record<string, string>,
  args?: string[],
  status: ReadablePod["status"] = undefined,
): ReadablePod => ({
  metadata: { annotations },
  spec:
    args === undefined
      ? { containers: [] }
      : { containers: [{ name: "foundationdb-kubernetes-sidecar", args }] },
  status,
});
const family = "foundationdb.org/ip-family";
const type = "foundationdb.org/image-type";
const launcher = "foundationdb.org/launcher-current-configuration";
const monitor = (number: number): string =>
  `{"arguments":[{"type":"IPList","ipFamily":${number}}]}`;

table(
  {
    "C11.3": [podWith({ [family]: "4" }), 4],
    "C11.4": [podWith({ [family]: "6" }), 6],
    "C11.5": [podWith({ [family]: "x" }), 0],
    "C11.6": [podWith({ [type]: "unified", [launcher]: monitor(4) }), 4],
    "C11.7": [podWith({ [type]: "unified", [launcher]: monitor(6) }), 6],
    "C11.8": [podWith({ [type]: "unified", [launcher]: "{}" }), 0],
    "C11.9": [podWith({}, ["--public-ip-family", "4"]), 4],
    "C11.10": [podWith({}, ["--public-ip-family", "6"]), 6],
    "C11.11": [podWith({}, ["--copy-file", "x"]), 0],
    "C11.12": [podWith({}), 0],
    "C11.13": [podWith({ [family]: "4" }, ["--public-ip-family", "6"]), 4],
  } satisfies Record<string, [ReadablePod, number]>,
  (one: ReadablePod, expected: number) => assert.equal(ipFamilyOfPod(one), expected),
);

const ips = { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
item("A28.4", () => {
  assert.deepEqual(publicIpsOfPod(podWith({ [family]: "4" }, undefined, ips)), ["10.0.0.1"]);
});
item("A28.5", () => {
  assert.deepEqual(publicIpsOfPod(podWith({ [family]: "6" }, undefined, ips)), ["fd00::1"]);
});
item("A28.6", () => {
  const only = { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] };
  assert.deepEqual(publicIpsOfPod(podWith({ [family]: "6" }, undefined, only)), []);
});
item("A28.7", () => assert.deepEqual(publicIpsOfPod(podWith({})), []));
item("A28.1", () => {
  const server = (number: number) => ({
    locality: { instance_id: "storage-1", process_id: `storage-1-${number}` },
    address: `10.0.0.1:${4499 + 2 * number}`,
  });
  const byGroup = processesByGroup(
    { cluster: { processes: { a: server(1), b: server(2) } } },
    undefined,
  );
  const addresses = [1, 2].map(
    (number) => processesOfServer(byGroup, "storage-1", number)[0]?.address,
  );
  assert.deepEqual(addresses, ["10.0.0.1:4501", "10.0.0.1:4503"]);
});
/** The connection string of a new database for which a part of it was chosen. */
const born = (
  partialConnectionString: NonNullable<ClusterSpec["partialConnectionString"]>,
): string => {
  const databaseConfiguration = { redundancy_mode: "single" as const };
  const world = new PlanWorld({ databaseConfiguration, partialConnectionString });
  world.settle(3);
  return world.cluster.status?.connectionString ?? "";
};
item("A28.2", () => assert.match(born({ databaseName: "books" }), /^books:\w{32}@/));
item("A28.3", () =>
  assert.match(born({ databaseName: "books", generationID: "first" }), /^books:first@/),
);

const wanted = { labels: { a: "1" }, annotations: { b: "2" } };
table(
  {
    "C11.14": [{ labels: { z: "9" }, annotations: { b: "2" } }, { labels: { a: "1" } }],
    "C11.15": [{ labels: { a: "1" }, annotations: { z: "9" } }, { annotations: { b: "2" } }],
    "C11.16": [{ labels: {}, annotations: {} }, wanted],
    "C11.17": [wanted, undefined],
    "C11.18": [{ annotations: { b: "2" } }, { labels: { a: "1" } }],
    "C11.19": [{ labels: { a: "0" }, annotations: { b: "2" } }, { labels: { a: "1" } }],
    "C11.20": [{ labels: { a: "1", z: "9" }, annotations: { b: "2" } }, undefined],
    "C11.21": [{ labels: { a: "1" } }, { annotations: { b: "2" } }],
    "C11.22": [{ labels: { a: "1" }, annotations: { b: "0" } }, { annotations: { b: "2" } }],
    "C11.23": [{ labels: { a: "1" }, annotations: { b: "2", z: "9" } }, undefined],
    "C11.26": [{}, wanted],
  },
  (actual: object, patch: object | undefined) =>
    assert.deepEqual(missingMetadata(actual, wanted), patch),
);
item("C11.24", () => {
  const current = { metadata: { annotations: { "foundationdb.org/last-applied-spec": "old" } } };
  const live = livePodMetadata(clusterWith(), storage1, current);
  assert.equal(live.annotations["foundationdb.org/last-applied-spec"], "old");
});
item("C11.25", () => {
  const current = { metadata: {}, spec: { containers: [], nodeName: "node-1" } };
  const live = livePodMetadata(clusterWith(), storage1, current);
  assert.equal(live.annotations["foundationdb.org/current-node"], "node-1");
});
item("C11.1", () => {
  const shape = (enableTls: boolean): boolean => {
    const one = pod(clusterWith({ imageType: "split", sidecarContainer: { enableTls } }), storage1);
    assert.ok(one.ok);
    return shapeOfPod({ memory: new Memory() }, one.value as Stored<Pod>).usesSidecarTls;
  };
  assert.deepEqual([shape(true), shape(false)], [true, false]);
});

const general = (customParameters: string[]): Spec => ({
  processes: { general: { customParameters } },
});
const fields = (spec: Spec): string[] =>
  validateCluster(clusterWith(spec)).map((problem) => `${problem.field}: ${problem.message}`);
item("C05.10", () => {
  const { spec } = clusterWith();
  assert.equal(imageTypeOf(spec), "unified");
  assert.equal(automationOf(spec).useLocalitiesForExclusion, true);
  assert.equal(routingOf(spec).useDnsInClusterFile, true);
});
item("C05.1", () => {
  assert.deepEqual(fields(general(["a=1", "a=2"])), [
    "spec.processes.general.customParameters[1]: a is given twice",
  ]);
});
item("C05.2", () => {
  assert.deepEqual(fields(general(["datadir=/x"])), [
    "spec.processes.general.customParameters[0]: datadir is set by the operator",
  ]);
});
const podTemplateOf = (spec: Spec) =>
  clusterWith(spec).spec.processes?.["general"]?.podTemplate?.spec;
item("C05.3", () => {
  const spec = podTemplateOf({ imageType: "split" });
  assert.deepEqual(
    [spec?.containers.map((one) => one.name), spec?.initContainers?.map((one) => one.name)],
    [["foundationdb", "foundationdb-kubernetes-sidecar"], ["foundationdb-kubernetes-init"]],
  );
});
item("C05.4", () => {
  const spec = podTemplateOf({ imageType: "split" });
  assert.deepEqual(
    spec?.containers.map((one) => one.resources?.requests),
    [
      { cpu: "1", memory: "8Gi" },
      { cpu: "100m", memory: "256Mi" },
    ],
  );
});
item("C05.5", () => {
  const resources = { requests: { cpu: "2" }, limits: { cpu: "4" } };
  const containers = [{ name: "foundationdb", image: "own", resources }];
  const processes = { general: { podTemplate: { spec: { containers } } } };
  const [first] = podTemplateOf({ processes })?.containers ?? [];
  assert.deepEqual([first?.image, first?.resources], ["own", resources]);
});
item("C05.6", () => {
  const one = podSpec(clusterWith({ imageType: "split" }), storage1);
  assert.ok(one.ok);
  const sidecar = one.value.containers.at(-1);
  assert.equal(sidecar?.livenessProbe?.failureThreshold, 5);
  assert.equal(sidecar?.readinessProbe, undefined);
});
item("C05.7", () => {
  const labels = labelsOf(clusterWith());
  assert.deepEqual(labels.matchLabels, { "foundationdb.org/fdb-cluster-name": "sample" });
  assert.deepEqual(labels.processClassLabels, ["foundationdb.org/fdb-process-class"]);
  assert.deepEqual(labels.processGroupIdLabels, ["foundationdb.org/fdb-process-group-id"]);
});
item("C05.8", () => {
  const { spec } = clusterWith({ imageType: "unified" });
  assert.deepEqual(spec.mainContainer?.imageConfigs, [
    { baseImage: "foundationdb/fdb-kubernetes-monitor" },
  ]);
  assert.equal(spec.sidecarContainer, undefined);
});
item("C05.9", () => {
  const { spec } = clusterWith({ imageType: "split" });
  assert.deepEqual(spec.mainContainer?.imageConfigs, [{ baseImage: "foundationdb/foundationdb" }]);
  assert.deepEqual(spec.sidecarContainer?.imageConfigs, [
    { baseImage: "foundationdb/foundationdb-kubernetes-sidecar", tagSuffix: "-1" },
  ]);
});
