// Ways in which pods and volumes get stuck, and the true cause of each. Rules: spec/explain.md [E40].
import { nodes, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { stuckTest } from "./stuck-case.ts";
import { frugalProcesses, keyOfObject, nameOf, small, tiny } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

function withPodSpec(spec: object): typeof frugalProcesses {
  const template = frugalProcesses?.["general"]?.podTemplate;
  const podTemplate = { spec: { ...template?.spec, ...spec } };
  return { general: { podTemplate } } as typeof frugalProcesses;
}

async function onePod(world: TestWorld, processClass: string) {
  const [pod] = await world.pods(processClass);
  if (pod === undefined) throw new Error(`there is no pod of class ${processClass}`);
  return pod;
}

stuckTest({
  title: "no node has enough CPU left",
  world: { nodes: 3, nodeCapacity: { cpu: "250m", memory: "1Gi", pods: "20" } },
  spec: { ...small, databaseConfiguration: { redundancy_mode: "single" } },
  isNew: true,
  reason: "PodUnschedulable",
  message: /0\/3 nodes are available: 3 Insufficient cpu/,
  page: /does not come up by itself.*Insufficient cpu.*Do: Add nodes; or free resources/,
});

stuckTest({
  title: "a node selector that no node fulfils",
  spec: { ...tiny, processes: withPodSpec({ nodeSelector: { disk: "fast" } }) },
  isNew: true,
  reason: "PodUnschedulable",
  message: /didn't match Pod's node affinity\/selector/,
  page: /didn't match Pod's node affinity\/selector.*Do: .*selectors/,
});

stuckTest({
  title: "an anti-affinity that needs more nodes than there are",
  world: { nodes: 2 },
  spec: {
    ...tiny,
    processes: withPodSpec({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: "kubernetes.io/hostname",
              labelSelector: { matchLabels: { "foundationdb.org/fdb-cluster-name": "sample" } },
            },
          ],
        },
      },
    }),
  },
  isNew: true,
  reason: "PodUnschedulable",
  message: /didn't match pod anti-affinity rules/,
  page: /anti-affinity rules.*Do: Add nodes; or /,
});

stuckTest({
  title: "all nodes have a taint",
  isNew: true,
  world: { nodes: 3 },
  before: async (world) => {
    for (const name of world.world.kubelet.nodeNames()) {
      const patch = { spec: { taints: [{ key: "reserved", effect: "NoSchedule" }] } };
      await world.client.patch(nodes, { name }, patch, { type: "merge" });
    }
  },
  reason: "PodUnschedulable",
  message: /untolerated taint/,
  page: /untolerated taint/,
});

stuckTest({
  title: "a storage class that does not exist",
  spec: {
    ...tiny,
    processes: {
      general: {
        ...frugalProcesses?.["general"],
        volumeClaimTemplate: { metadata: {}, spec: { storageClassName: "nvme" } },
      },
    },
  },
  isNew: true,
  reason: "VolumePending",
  message: /unbound immediate PersistentVolumeClaims.*storage class nvme/,
  page: /storage class nvme.*Do: Look at the claims/,
});

stuckTest({
  title: "a volume whose zone has no node any more",
  world: { nodes: 4, zones: 4 },
  spec: small,
  happens: async (world) => {
    const pod = await onePod(world, "storage");
    await world.world.kubelet.removeNode(pod.spec?.nodeName ?? "");
  },
  reason: "PodUnschedulable",
  message: /didn't match PersistentVolume's node affinity/,
  page: /didn't match PersistentVolume's node affinity/,
});

stuckTest({
  title: "an image that does not exist",
  spec: { ...tiny, mainContainer: { imageConfigs: [{ tag: "no-such-tag" }] } },
  isNew: true,
  reason: "PodImageUnavailable",
  message: /fdb-kubernetes-monitor:no-such-tag/,
  page: /fdb-kubernetes-monitor:no-such-tag.*Do: Check the image name/,
});

stuckTest({
  title: "a parameter that fdbserver refuses",
  spec: {
    ...tiny,
    processes: {
      general: { ...frugalProcesses?.["general"], customParameters: ["memroy=1GiB"] },
    },
  },
  isNew: true,
  reason: "ProcessesMissing",
  message: /fdbserver may refuse a custom parameter: memroy=1GiB/,
  page: /memroy=1GiB.*Do: .*fdbserver says there why it ends/,
});

stuckTest({
  title: "a container that ends at once",
  spec: {
    ...tiny,
    processes: withPodSpec({
      containers: [
        ...(frugalProcesses?.["general"]?.podTemplate?.spec?.containers ?? []),
        { name: "exporter", image: "example/exporter:1", command: ["/bin/sh", "-c", "exit 3"] },
      ],
    }),
  },
  isNew: true,
  reason: "PodCrashLooping",
  message: /exporter, exit code 3/,
  page: /exporter.*exit code 3/,
});

stuckTest({
  title: "a node that is not ready",
  spec: small,
  happens: async (world) => {
    const pod = await onePod(world, "storage");
    await world.world.kubelet.stopNode(pod.spec?.nodeName ?? "");
  },
  reason: "NodeNotReady",
  message: /node-\d/,
  page: /node-\d.*(not ready|unreachable)/,
});

stuckTest({
  title: "a pod that does not end, since somebody holds it",
  spec: small,
  happens: async (world) => {
    const pod = await onePod(world, "storage");
    const patch = { metadata: { finalizers: ["example.com/audit"] } };
    await world.client.patch(pods, keyOfObject(pod), patch, { type: "merge" });
    await world.client.delete(pods, keyOfObject(pod));
  },
  reason: "PodTerminating",
  message: /example\.com\/audit/,
  page: /held back by example\.com\/audit/,
});

stuckTest({
  title: "a volume claim that does not go, since somebody holds it",
  spec: small,
  happens: async (world) => {
    const pod = await onePod(world, "storage");
    const claim = { namespace: "default", name: `${nameOf(pod)}-data` };
    const patch = { metadata: { finalizers: ["example.com/snapshot"] } };
    await world.client.patch(persistentVolumeClaims, claim, patch, { type: "merge" });
    await world.client.delete(persistentVolumeClaims, claim);
    await world.client.delete(pods, keyOfObject(pod));
  },
  // Its process group is replaced meanwhile.
  page: /held back by .*example\.com\/snapshot/,
});
