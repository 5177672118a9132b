// Pods of both image types.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ClusterStatus } from "../api/cluster.ts";
import type { Container, PodSpec } from "../kube/generated/types.ts";
import { podSpec } from "./pod.ts";
import type { PodSubject } from "./pod-subject.ts";
import { clusterWith, stateless1, storage1 } from "../../test/fixtures/sample-cluster.ts";

function specOf(
  spec: Partial<ClusterSpec> = {},
  subject: PodSubject = storage1,
  status: Partial<ClusterStatus> = {},
): PodSpec {
  const result = podSpec(clusterWith(spec, status), subject);
  assert.ok(result.ok);
  return result.value;
}

function withTemplate(spec: Partial<PodSpec>): Partial<ClusterSpec> {
  const podTemplate = { spec: { containers: [], ...spec } };
  return { processes: { general: { podTemplate } } };
}

function container(spec: PodSpec, name: string): Container {
  const found = [...spec.containers, ...(spec.initContainers ?? [])].find(
    (each) => each.name === name,
  );
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

test("[B49] a variable of the user wins", () => {
  const env = [{ name: "FDB_ZONE_ID", value: "mine" }];
  const built = main(specOf(withTemplate({ containers: [{ name: "foundationdb", env }] })));
  assert.equal(variable(built, "FDB_ZONE_ID"), "mine");
  assert.equal(built.env?.filter((each) => each.name === "FDB_ZONE_ID").length, 1);
});

test("[B50] the public address has three sources", () => {
  const publicIp = (routing: ClusterSpec["routing"]): string | undefined =>
    variable(main(specOf({ routing })), "FDB_PUBLIC_IP");
  assert.equal(publicIp({}), "status.podIP");
  assert.equal(publicIp({ podIPFamily: 4 }), "status.podIPs");
  assert.equal(
    publicIp({ publicIPSource: "service", podIPFamily: 4 }),
    "metadata.annotations['foundationdb.org/public-ip']",
  );
});

function places(faultDomain: ClusterSpec["faultDomain"]): (string | undefined)[] {
  const built = main(specOf({ faultDomain }));
  return [variable(built, "FDB_MACHINE_ID"), variable(built, "FDB_ZONE_ID")];
}

test("[B51] zone and machine depend on the fault domain key", () => {
  assert.deepEqual(places({}), ["spec.nodeName", "spec.nodeName"]);
  assert.deepEqual(places({ key: "foundationdb.org/none" }), ["metadata.name", "metadata.name"]);
  const key = "foundationdb.org/kubernetes-cluster";
  assert.deepEqual(places({ key, value: "kc1" }), ["spec.nodeName", "kc1"]);
  assert.deepEqual(places({ key: "rack", valueFrom: "metadata.uid" }), [
    "spec.nodeName",
    "metadata.uid",
  ]);
});

test("[B52] a zone from the user's variable defines none of ours", () => {
  assert.deepEqual(places({ key: "rack", valueFrom: "$RACK" }), ["spec.nodeName", undefined]);
});

test("[B53] a pod knows its DNS name", () => {
  const spec = specOf({ routing: { dnsDomain: "example.org" } });
  assert.equal(variable(main(spec), "FDB_DNS_NAME"), "sample-storage-1.sample.ns.svc.example.org");
  assert.deepEqual([spec.hostname, spec.subdomain], ["sample-storage-1", "sample"]);
  const without = specOf({ routing: { useDNSInClusterFile: false } });
  assert.deepEqual(
    [without.hostname, variable(main(without), "FDB_DNS_NAME")],
    [undefined, undefined],
  );
});

test("[B54] pods of a class avoid each other's fault domain", () => {
  const own = { weight: 7, podAffinityTerm: { topologyKey: "own" } };
  const affinity = {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [own] },
  };
  const terms = specOf({ ...withTemplate({ affinity }), faultDomain: { key: "rack" } }).affinity
    ?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(
    terms?.map((term) => [term.weight, term.podAffinityTerm.topologyKey]),
    [
      [7, "own"],
      [1, "rack"],
    ],
  );
  assert.equal(specOf({ faultDomain: { key: "foundationdb.org/none" } }).affinity, undefined);
});

test("[B55] a process group that must not run asks for the impossible", () => {
  const buggify = { noSchedule: ["storage-1"] };
  const required = (subject: PodSubject): unknown =>
    specOf({ buggify }, subject).affinity?.nodeAffinity
      ?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  assert.deepEqual(required(storage1), [
    {
      matchExpressions: [
        { key: "foundationdb.org/no-schedule-allowed", operator: "In", values: ["true"] },
      ],
    },
  ]);
  assert.equal(required(stateless1), undefined);
});

test("[B56] volumes are added by name", () => {
  const volumes = specOf(
    withTemplate({ volumes: [{ name: "data", hostPath: { path: "/d" } }] }),
  ).volumes;
  assert.deepEqual(
    volumes?.map((volume) => volume.name),
    ["data", "shared-binaries", "config-map", "fdb-trace-logs"],
  );
  assert.ok(volumes?.[0]?.hostPath);
  assert.ok(specOf({}, stateless1).volumes?.[0]?.emptyDir);
  assert.equal(specOf().volumes?.[0]?.persistentVolumeClaim?.claimName, "sample-storage-1-data");
});

test("[B57] mounts are added by volume", () => {
  const volumeMounts = [{ name: "data", mountPath: "/elsewhere" }];
  const built = main(
    specOf(withTemplate({ containers: [{ name: "foundationdb", volumeMounts }] })),
  );
  assert.deepEqual(
    built.volumeMounts?.map((mount) => mount.mountPath),
    ["/elsewhere", "/var/dynamic-conf", "/var/fdb/shared-binaries", "/var/log/fdb-trace-logs"],
  );
});

test("[B58] the unified main container runs the monitor", () => {
  const built = main(specOf({ logGroup: "group" }));
  assert.equal(built.image, "foundationdb/fdb-kubernetes-monitor:7.3.63");
  assert.deepEqual(built.args?.slice(0, 2), ["--input-dir", "/var/dynamic-conf"]);
  assert.equal(variable(built, "FDB_POD_NAME"), "metadata.name");
  assert.equal(variable(built, "FDB_NETWORK_OPTION_TRACE_LOG_GROUP"), "group");
  const localities = [{ key: "data_hall", topologyKey: "zone" }];
  assert.equal(variable(main(specOf({ localities })), "ENABLE_NODE_WATCH"), "true");
});

test("[B59] several servers are told to the monitor and written into the pod", () => {
  const unified = main(specOf({ storageServersPerPod: 2 }));
  assert.deepEqual(unified.args?.slice(-2), ["--process-count", "2"]);
  assert.equal(variable(unified, "STORAGE_SERVERS_PER_POD"), "2");
  const split = specOf({ imageType: "split", storageServersPerPod: 3 });
  assert.equal(variable(sidecar(split), "STORAGE_SERVERS_PER_POD"), "3");
  assert.equal(variable(init(split), "STORAGE_SERVERS_PER_POD"), undefined);
});

test("[B60] the unified sidecar hands over binaries and nothing runs before", () => {
  const initContainers = [{ name: "foundationdb-kubernetes-init" }, { name: "own" }];
  const spec = specOf(withTemplate({ initContainers }));
  assert.deepEqual(
    spec.initContainers?.map((each) => each.name),
    ["own"],
  );
  const built = sidecar(spec);
  assert.equal(built.image, main(spec).image);
  assert.deepEqual(built.args?.slice(0, 2), ["--mode", "sidecar"]);
  assert.equal(built.env, undefined);
});

test("[B61] the split main container runs fdbmonitor", () => {
  const built = main(specOf({ imageType: "split" }));
  assert.equal(built.image, "foundationdb/foundationdb:7.3.63");
  assert.deepEqual(built.command, ["sh", "-c"]);
  assert.match(built.args?.[0] ?? "", /^fdbmonitor .* --loggroup sample >> .*\.log 2>&1$/);
});

test("[B62] the split sidecar copies files and fills in variables", () => {
  const spec = specOf({
    imageType: "split",
    sidecarVariables: ["RACK"],
    localities: [{ key: "row", envValue: "ROW" }],
    routing: { podIPFamily: 6 },
    trustedCAs: ["A"],
    sidecarContainer: { enableTls: true },
  });
  const text = (sidecar(spec).args ?? []).join(" ");
  assert.ok(
    text.startsWith(
      "--copy-file fdb.cluster --copy-file ca.pem --input-monitor-conf fdbmonitor.conf",
    ),
  );
  const variables = ["FDB_POD_IP", "RACK", "ROW", "FDB_DNS_NAME"];
  const filled = variables.map((name) => `--substitute-variable ${name}`).join(" ");
  assert.ok(text.endsWith(`--public-ip-family 6 --bind-address [::]:8080 ${filled} --tls`), text);
  assert.ok(init(spec).args?.join(" ").endsWith(`${filled} --init-mode`));
  assert.equal(init(spec).livenessProbe, undefined);
});

test("[B63] the split sidecar is probed and knows its peers", () => {
  const built = sidecar(specOf({ imageType: "split", trustedCAs: ["A"] }));
  assert.equal(built.livenessProbe?.periodSeconds, 30);
  assert.equal(built.readinessProbe, undefined);
  assert.equal(variable(built, "FDB_TLS_VERIFY_PEERS"), "");
  assert.equal(variable(built, "FDB_TLS_CA_FILE"), "/var/input-files/ca.pem");
  const sidecarContainer = { enableLivenessProbe: false, enableReadinessProbe: true };
  const changed = sidecar(specOf({ imageType: "split", sidecarContainer }));
  assert.deepEqual(
    [changed.livenessProbe, changed.readinessProbe],
    [undefined, { tcpSocket: { port: 8080 } }],
  );
});

test("[B64] a crash loop replaces arguments", () => {
  const buggify = {
    crashLoopContainers: [
      { containerName: "foundationdb", targets: ["*"] },
      { containerName: "foundationdb-kubernetes-init", targets: ["storage-1"] },
    ],
  };
  const unified = specOf({ buggify });
  assert.deepEqual([main(unified).command, main(unified).args], [["crash-loop"], ["crash-loop"]]);
  assert.notDeepEqual(sidecar(unified).args, ["crash-loop"]);
  const split = specOf({ buggify, imageType: "split" });
  assert.deepEqual([main(split).command, main(split).args], [["sh", "-c"], ["crash-loop"]]);
  assert.deepEqual(init(split).args, ["crash-loop"]);
});

test("[B65] [B66] root file systems are read-only and the rest of the template stays", () => {
  const template = {
    containers: [
      { name: "helper", image: "helper:1" },
      { name: "foundationdb", securityContext: { readOnlyRootFilesystem: false, runAsUser: 1 } },
    ],
    tolerations: [{ key: "dedicated", operator: "Exists" }],
    terminationGracePeriodSeconds: 5,
  };
  const spec = specOf(withTemplate(template));
  assert.deepEqual(spec.containers[0], template.containers[0]);
  assert.deepEqual(main(spec).securityContext, { readOnlyRootFilesystem: false, runAsUser: 1 });
  assert.deepEqual(sidecar(spec).securityContext, { readOnlyRootFilesystem: true });
  assert.deepEqual(spec.tolerations, template.tolerations);
  assert.equal(spec.terminationGracePeriodSeconds, 5);
});

test("[B67] a tag in a template is a problem with a remedy", () => {
  for (const name of ["foundationdb", "foundationdb-kubernetes-sidecar"]) {
    const result = podSpec(
      clusterWith(withTemplate({ containers: [{ name, image: "x:1" }] })),
      storage1,
    );
    assert.ok(!result.ok);
    assert.equal(
      result.problem.field,
      `spec.processes.general.podTemplate.spec.containers[name=${name}].image`,
    );
    assert.equal(result.problem.value, "x:1");
  }
});

test("[B68] trusted certificates reach the main container", () => {
  const spec = specOf({ trustedCAs: ["A"] });
  assert.equal(variable(main(spec), "FDB_TLS_CA_FILE"), "/var/dynamic-conf/ca.pem");
  const items = spec.volumes?.find((volume) => volume.name === "config-map")?.configMap?.items;
  assert.deepEqual(items?.at(-1), { key: "ca-file", path: "ca.pem" });
});

test("[B69] a class template is taken whole", () => {
  const processes = {
    general: { podTemplate: { spec: { containers: [], nodeSelector: { disk: "slow" } } } },
    storage: { podTemplate: { spec: { containers: [], priorityClassName: "high" } } },
  };
  const spec = specOf({ processes });
  assert.deepEqual([spec.nodeSelector, spec.priorityClassName], [undefined, "high"]);
  assert.deepEqual(specOf({ processes }, stateless1).nodeSelector, { disk: "slow" });
});
