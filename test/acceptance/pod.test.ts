// Checklist: pods as they are built from the resource, for both image types.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ClusterStatus } from "../../src/api/cluster.ts";
import { clusterWith, stateless1, storage1 } from "../fixtures/sample-cluster.ts";
import { desiredSidecarImage, pod, podSpec } from "../../src/build/pod.ts";
import type { PodSubject } from "../../src/build/pod-subject.ts";
import type { Container, Pod, PodSpec } from "../../src/kube/generated/types.ts";
import { item, table } from "./checklist-case.ts";

type Spec = Partial<ClusterSpec>;
const split: Spec = { imageType: "split" };
const log1 = { processClass: "log", processGroupID: "log-1" };

function built(
  spec: Spec = {},
  subject: PodSubject = storage1,
  status: Partial<ClusterStatus> = {},
) {
  const result = pod(clusterWith(spec, status), subject);
  assert.ok(result.ok);
  return result.value;
}

function specOf(spec: Spec = {}, subject: PodSubject = storage1): PodSpec {
  return built(spec, subject).spec ?? { containers: [] };
}

function template(spec: Partial<PodSpec>, metadata?: Pod["metadata"]): Spec {
  const podTemplate = { spec: { containers: [], ...spec }, ...(metadata ? { metadata } : {}) };
  return { processes: { general: { podTemplate } } };
}

function container(spec: PodSpec, name: string): Container {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  const found = all.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
}

const main = (spec: PodSpec): Container => container(spec, "foundationdb");
const sidecar = (spec: PodSpec): Container => container(spec, "foundationdb-kubernetes-sidecar");
const init = (spec: PodSpec): Container => container(spec, "foundationdb-kubernetes-init");

function variable(from: Container, name: string): string | undefined {
  const found = from.env?.find((each) => each.name === name);
  return found?.value ?? found?.valueFrom?.fieldRef?.fieldPath;
}

item("C12.1", () => {
  const { metadata } = built();
  assert.equal(metadata.name, "sample-storage-1");
  assert.deepEqual(metadata.labels, {
    "foundationdb.org/fdb-cluster-name": "sample",
    "foundationdb.org/fdb-process-class": "storage",
    "foundationdb.org/fdb-process-group-id": "storage-1",
  });
  assert.equal(metadata.annotations?.["foundationdb.org/public-ip-source"], "pod");
  assert.equal(metadata.annotations?.["foundationdb.org/image-type"], "unified");
});
item("C12.2", () => {
  const { metadata } = built(template({}, { labels: { own: "1" } }));
  assert.equal(metadata.labels?.["own"], "1");
});
item("C12.3", () => {
  const { metadata } = built(template({}, { annotations: { own: "1" } }));
  assert.equal(metadata.annotations?.["own"], "1");
});

const images = (runningVersion: string): (string | undefined)[] => {
  const spec = built({ version: "7.3.63", ...split }, storage1, { runningVersion }).spec;
  assert.ok(spec);
  return [main(spec).image, sidecar(spec).image];
};
item("C12.4", () => {
  assert.deepEqual(images("7.3.50"), [
    "foundationdb/foundationdb:7.3.63",
    "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1",
  ]);
});
item("C12.5", () => {
  assert.deepEqual(images("7.1.57"), [
    "foundationdb/foundationdb:7.1.57",
    "foundationdb/foundationdb-kubernetes-sidecar:7.1.57-1",
  ]);
});

item("C12.6", () => {
  const spec = specOf(split);
  assert.deepEqual(
    [spec.containers.map((each) => each.name), spec.initContainers?.map((each) => each.name)],
    [["foundationdb", "foundationdb-kubernetes-sidecar"], ["foundationdb-kubernetes-init"]],
  );
});
item("C12.7", () => {
  const names = specOf(split).volumes?.map((volume) => volume.name);
  assert.deepEqual(names, ["data", "dynamic-conf", "config-map", "fdb-trace-logs"]);
});
item("C12.8", () => {
  const terms = specOf().affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(terms, [
    {
      weight: 1,
      podAffinityTerm: {
        topologyKey: "kubernetes.io/hostname",
        labelSelector: {
          matchLabels: {
            "foundationdb.org/fdb-cluster-name": "sample",
            "foundationdb.org/fdb-process-class": "storage",
          },
        },
      },
    },
  ]);
});
item("C12.9", () => {
  const sidecarContainer = { enableLivenessProbe: true, enableReadinessProbe: true };
  const one = sidecar(specOf({ ...split, sidecarContainer }));
  assert.equal(one.livenessProbe?.tcpSocket?.port, 8080);
  assert.equal(one.readinessProbe?.tcpSocket?.port, 8080);
});
item("C12.10", () => {
  const sidecarContainer = { enableLivenessProbe: false, enableReadinessProbe: false };
  const one = sidecar(specOf({ ...split, sidecarContainer }));
  assert.deepEqual([one.livenessProbe, one.readinessProbe], [undefined, undefined]);
});

item("C12.11", () => {
  const one = main(specOf());
  assert.equal(one.image, "foundationdb/fdb-kubernetes-monitor:7.3.63");
  assert.ok(!one.args?.includes("--process-count"));
});
item("C12.12", () => {
  const one = main(specOf({ storageServersPerPod: 3 }));
  assert.deepEqual(one.args?.slice(-2), ["--process-count", "3"]);
  assert.equal(variable(one, "STORAGE_SERVERS_PER_POD"), "3");
});
item("C12.13", () => {
  const one = main(specOf({ storageServersPerPod: 3 }, log1));
  assert.ok(!one.args?.includes("--process-count"));
  assert.equal(variable(one, "LOG_SERVERS_PER_POD"), undefined);
});

const crash = (containerName: string, ...targets: string[]): Spec => ({
  buggify: { crashLoopContainers: [{ containerName, targets }] },
});
item("C12.14", () => {
  const spec = specOf(crash("foundationdb", "storage-1"));
  assert.deepEqual(main(spec).args, ["crash-loop"]);
  assert.notDeepEqual(sidecar(spec).args, ["crash-loop"]);
});
item("C12.15", () => {
  const spec = specOf(crash("foundationdb-kubernetes-sidecar", "storage-1"));
  assert.deepEqual(sidecar(spec).args, ["crash-loop"]);
  assert.notDeepEqual(main(spec).args, ["crash-loop"]);
});
item("C12.16", () => {
  assert.equal(
    variable(main(specOf()), "FDB_DNS_NAME"),
    "sample-storage-1.sample.ns.svc.cluster.local",
  );
});
item("C12.17", () => {
  const initContainers = [{ name: "foundationdb-kubernetes-init" }];
  assert.equal(specOf(template({ initContainers })).initContainers, undefined);
});
item("C12.18", () => {
  const routing = { podIPFamily: 6 } as const;
  assert.equal(built({ routing }).metadata.annotations?.["foundationdb.org/ip-family"], "6");
  assert.equal(variable(main(specOf({ routing })), "FDB_PUBLIC_IP"), "status.podIPs");
  const args = sidecar(specOf({ ...split, routing })).args?.join(" ") ?? "";
  assert.ok(args.includes("--public-ip-family 6 --bind-address [::]:8080"), args);
});
item("C12.19", () => {
  const routing = { useDNSInClusterFile: false, defineDNSLocalityFields: true };
  const name = "sample-storage-1.sample.ns.svc.cluster.local";
  assert.equal(variable(sidecar(specOf({ ...split, routing })), "FDB_DNS_NAME"), name);
  const off = { useDNSInClusterFile: false };
  assert.equal(variable(sidecar(specOf({ ...split, routing: off })), "FDB_DNS_NAME"), undefined);
});
item("C12.20", () => {
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }],
    },
  };
  const { affinity } = specOf(template({ affinity: { nodeAffinity } }));
  assert.deepEqual(affinity?.nodeAffinity, nodeAffinity);
  assert.ok(affinity?.podAntiAffinity);
});
item("C12.21", () => {
  assert.deepEqual(main(specOf({ ...split, ...crash("foundationdb", "storage-1") })).args, [
    "crash-loop",
  ]);
});
item("C12.22", () => {
  assert.deepEqual(main(specOf({ ...split, ...crash("foundationdb", "*") })).args, ["crash-loop"]);
});
item("C12.23", () => {
  const { args } = main(specOf({ ...split, ...crash("foundationdb", "storage-2") }));
  assert.ok(args?.[0]?.startsWith("fdbmonitor "));
});
item("C12.24", () => {
  const terms = specOf({ buggify: { noSchedule: ["storage-1"] } }).affinity?.nodeAffinity
    ?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  assert.equal(terms?.[0]?.matchExpressions?.[0]?.key, "foundationdb.org/no-schedule-allowed");
});

table(
  {
    "C12.25": [{ useExplicitListenAddress: false }, "status.podIP", false],
    "C12.26": [{ useExplicitListenAddress: true }, "status.podIP", true],
    "C12.27": [
      { routing: { publicIPSource: "service" } },
      "metadata.annotations['foundationdb.org/public-ip']",
      true,
    ],
  } satisfies Record<string, [Spec, string, boolean]>,
  (spec: Spec, publicIp: string, listens: boolean) => {
    const one = sidecar(specOf({ ...split, ...spec }));
    assert.equal(variable(one, "FDB_PUBLIC_IP"), publicIp);
    assert.equal(variable(one, "FDB_POD_IP"), listens ? "status.podIP" : undefined);
    const args = one.args?.join(" ") ?? "";
    assert.equal(args.includes("--substitute-variable FDB_POD_IP"), listens);
  },
);

item("C12.28", () => {
  const spec = specOf();
  assert.deepEqual([spec.hostname, spec.subdomain], ["sample-storage-1", "sample"]);
});
item("C12.29", () => {
  const spec = specOf(split);
  assert.deepEqual(main(spec).resources?.limits, { cpu: "1", memory: "8Gi" });
  assert.deepEqual(sidecar(spec).resources?.requests, { cpu: "100m", memory: "256Mi" });
  const resources = { requests: { cpu: "3" } };
  const own = specOf(template({ containers: [{ name: "foundationdb", resources }] }));
  assert.deepEqual(main(own).resources?.limits, { cpu: "3" });
});

const zone = (faultDomain: ClusterSpec["faultDomain"]): (string | undefined)[] => {
  const one = main(specOf({ faultDomain }));
  return [variable(one, "FDB_MACHINE_ID"), variable(one, "FDB_ZONE_ID")];
};
item("C12.30", () => assert.deepEqual(zone({}), ["spec.nodeName", "spec.nodeName"]));
item("C12.31", () => {
  assert.deepEqual(zone({ key: "rack", valueFrom: "$RACK" }), ["spec.nodeName", undefined]);
});
item("C12.32", () => {
  const key = "foundationdb.org/kubernetes-cluster";
  assert.deepEqual(zone({ key, value: "kc2" }), ["spec.nodeName", "kc2"]);
});
item("C12.33", () => {
  const spec = specOf(template({ containers: [{ name: "helper", image: "helper:1" }] }));
  assert.deepEqual(
    spec.containers.map((each) => each.name),
    ["foundationdb", "helper", "foundationdb-kubernetes-sidecar"],
  );
});
item("C12.34", () => {
  const mainContainer = { imageConfigs: [{ baseImage: "mirror/fdb" }] };
  const sidecarContainer = { imageConfigs: [{ baseImage: "mirror/sidecar", tagSuffix: "-5" }] };
  const spec = specOf({ ...split, mainContainer, sidecarContainer });
  assert.deepEqual(
    [main(spec).image, sidecar(spec).image, init(spec).image],
    ["mirror/fdb:7.3.63", "mirror/sidecar:7.3.63-5", "mirror/sidecar:7.3.63-5"],
  );
});
item("C12.35", () => {
  const env = [{ name: "OWN", value: "1" }];
  const one = main(specOf(template({ containers: [{ name: "foundationdb", env }] })));
  assert.equal(variable(one, "OWN"), "1");
  assert.equal(variable(one, "FDB_INSTANCE_ID"), "storage-1");
});
item("C12.36", () => {
  const volumes = [{ name: "extra", emptyDir: {} }];
  const names = specOf(template({ volumes })).volumes?.map((volume) => volume.name);
  assert.ok(names?.includes("extra") && names.includes("data"));
});
item("C12.37", () => {
  const volumeMounts = [{ name: "extra", mountPath: "/extra", subPathExpr: "$(FDB_POD_NAME)" }];
  const one = main(specOf(template({ containers: [{ name: "foundationdb", volumeMounts }] })));
  assert.deepEqual(one.volumeMounts?.[0], volumeMounts[0]);
  assert.ok((one.volumeMounts?.length ?? 0) > 3);
});
item("C12.38", () => {
  const securityContext = { fsGroup: 5, runAsUser: 6 };
  const containers = [{ name: "foundationdb", securityContext: { runAsUser: 7 } }];
  const spec = specOf(template({ securityContext, containers }));
  assert.deepEqual(spec.securityContext, securityContext);
  assert.equal(main(spec).securityContext?.runAsUser, 7);
});
item("C12.39", () => {
  const imageConfigs = [{ version: "7.3.63", tag: "7.3.63-special" }];
  const spec = specOf({ ...split, sidecarContainer: { imageConfigs } });
  assert.equal(sidecar(spec).image, "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-special");
});
item("C12.40", () => {
  const spec = specOf({ ...split, trustedCAs: ["A"] });
  assert.equal(variable(main(spec), "FDB_TLS_CA_FILE"), "/var/dynamic-conf/ca.pem");
  assert.equal(variable(sidecar(spec), "FDB_TLS_CA_FILE"), "/var/input-files/ca.pem");
  assert.ok(sidecar(spec).args?.includes("ca.pem"));
});
item("C12.41", () => {
  const prefixed = { processClass: "storage", processGroupID: "dc1-storage-1" };
  const one = built({ processGroupIDPrefix: "dc1" }, prefixed);
  assert.equal(one.metadata.name, "sample-storage-1");
  assert.ok(one.spec);
  assert.equal(variable(main(one.spec), "FDB_INSTANCE_ID"), "dc1-storage-1");
});
item("C12.42", () => {
  const spec = specOf(split);
  for (const one of [main(spec), sidecar(spec), init(spec)]) {
    assert.equal(one.securityContext?.readOnlyRootFilesystem, true);
  }
});

const sidecarImage = (spec: Spec): string => {
  const image = desiredSidecarImage(clusterWith({ ...split, ...spec }), "storage");
  return image.ok ? image.value : image.problem.remedy;
};
item("B65.1", () => {
  assert.equal(sidecarImage({}), "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1");
});
item("B65.2", () => {
  const imageConfigs = [{ baseImage: "mirror/sidecar" }];
  assert.equal(sidecarImage({ sidecarContainer: { imageConfigs } }), "mirror/sidecar:7.3.63-1");
});
item("B65.3", () => {
  const containers = [{ name: "foundationdb-kubernetes-sidecar", image: "sidecar:7" }];
  assert.match(sidecarImage(template({ containers })), /remove "7"/);
  assert.ok(!podSpec(clusterWith({ ...split, ...template({ containers }) }), stateless1).ok);
});
