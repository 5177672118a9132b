// Pods of packed process groups: label, zone, affinity. Rules: spec/packing.md [PACK13], [PACK20]-[PACK25].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterSpec } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import { clusterWith } from "../../test/fixtures/sample-cluster.ts";
import { pod } from "./pod.ts";
import { volumeClaim } from "./volume-claim.ts";

function podOf(processClass: string, spec: Partial<ClusterSpec> = {}): Pod {
  const distributionKey = `${processClass}-0`;
  const subject = { processClass, processGroupID: `${processClass}-7`, distributionKey };
  const built = pod(clusterWith(spec), subject);
  assert.ok(built.ok);
  return built.value;
}

const clusterLabels = { "foundationdb.org/fdb-cluster-name": "sample" };
const classIn = (values: string[]) => ({
  key: "foundationdb.org/fdb-process-class",
  operator: "In",
  values,
});
const otherThan = (value: string) => ({
  key: "foundationdb.org/distribution-key",
  operator: "NotIn",
  values: [value],
});
const topologyKey = "kubernetes.io/hostname";

test("[PACK20] the label of pod and volume claim and the zone of the processes are the domain", () => {
  for (const imageType of ["unified", "split"] as const) {
    const built = podOf("storage", { imageType, storageServersPerPod: 2 });
    assert.equal(built.metadata?.labels?.["foundationdb.org/distribution-key"], "storage-0");
    const containers = [...(built.spec?.containers ?? []), ...(built.spec?.initContainers ?? [])];
    const zones = containers.flatMap(({ env = [] }) =>
      env.filter(({ name }) => name === "FDB_ZONE_ID").map(({ value }) => value),
    );
    assert.ok(zones.length > 0 && zones.every((zone) => zone === "storage-0"), zones.join());
    const machine = containers
      .flatMap(({ env = [] }) => env)
      .find(({ name }) => name === "FDB_MACHINE_ID");
    assert.equal(machine?.valueFrom?.fieldRef?.fieldPath, "spec.nodeName");
  }
  const subject = { processClass: "log", processGroupID: "log-7", distributionKey: "log-1" };
  const claim = volumeClaim(clusterWith(), subject);
  assert.equal(claim?.metadata?.labels?.["foundationdb.org/distribution-key"], "log-1");
});

const packed = { key: "foundationdb.org/distribution-key", operator: "Exists" };

test("[PACK21] [PACK22] [PACK24] the affinity of a storage pod, term by term", () => {
  assert.deepEqual(podOf("storage").spec?.affinity, {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: {
            labelSelector: {
              matchLabels: { ...clusterLabels, "foundationdb.org/distribution-key": "storage-0" },
            },
            topologyKey,
          },
        },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          labelSelector: {
            matchLabels: clusterLabels,
            matchExpressions: [classIn(["storage"]), otherThan("storage-0")],
          },
          topologyKey,
        },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 50,
          podAffinityTerm: {
            labelSelector: {
              matchLabels: clusterLabels,
              matchExpressions: [classIn(["log", "transaction"]), packed],
            },
            topologyKey,
          },
        },
      ],
    },
  });
});

test("[PACK22] log and transaction pods keep apart as one class, and both from storage", () => {
  for (const processClass of ["log", "transaction"]) {
    const far = podOf(processClass).spec?.affinity?.podAntiAffinity;
    const [required] = far?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    assert.deepEqual(required?.labelSelector?.matchExpressions, [
      classIn(["log", "transaction"]),
      otherThan(`${processClass}-0`),
    ]);
    const [preferred] = far?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    assert.deepEqual(preferred?.podAffinityTerm.labelSelector?.matchExpressions, [
      classIn(["storage"]),
      packed,
    ]);
  }
  const [required] =
    podOf("coordinator").spec?.affinity?.podAntiAffinity
      ?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.deepEqual(required?.labelSelector?.matchExpressions?.[0], classIn(["coordinator"]));
});

test("[PACK23] pods that keep no data only prefer other hosts, with all their weight", () => {
  const far = podOf("stateless").spec?.affinity?.podAntiAffinity;
  assert.equal(far?.requiredDuringSchedulingIgnoredDuringExecution, undefined);
  const [preferred, ...more] = far?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.equal(more.length, 0);
  assert.equal(preferred?.weight, 100);
  assert.deepEqual(preferred?.podAffinityTerm.labelSelector?.matchExpressions, [
    classIn(["stateless"]),
    otherThan("stateless-0"),
  ]);
});

test("[PACK25] the topology key is the fault domain key, and terms of the user stay first", () => {
  const term = { labelSelector: { matchLabels: { app: "mine" } }, topologyKey: "rack" };
  const weighted = { weight: 9, podAffinityTerm: term };
  const affinity = {
    nodeAffinity: {},
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [weighted] },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [term],
      preferredDuringSchedulingIgnoredDuringExecution: [weighted],
    },
  };
  const podTemplate = { spec: { containers: [], affinity } };
  const built = podOf("storage", {
    faultDomain: { key: "example.org/rack" },
    processes: { general: { podTemplate } },
  });
  const { podAffinity, podAntiAffinity, nodeAffinity } = built.spec?.affinity ?? {};
  assert.deepEqual(nodeAffinity, {});
  const [own, ours] = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.deepEqual(own, weighted);
  assert.equal(ours?.podAffinityTerm.topologyKey, "example.org/rack");
  const required = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.deepEqual(
    required.map((each) => each.topologyKey),
    ["rack", "example.org/rack"],
  );
  const preferred = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.deepEqual(preferred[0], weighted);
});

test("[PACK13] a process group that is not packed has the same pod whatever distributionConfig says", () => {
  const subject = { processClass: "storage", processGroupID: "storage-7" };
  const before = pod(clusterWith(), subject);
  const after = pod(clusterWith({ distributionConfig: { enabled: true } }), subject);
  assert.deepEqual(after, before);
});
