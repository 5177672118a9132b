// The Node and Lease objects of emulated nodes. A lease without a heartbeat is valid for ever; a
// node that stops leaves one behind that runs out, as the last heartbeat of a real node does.
// Carries rules KUBELET1 and KUBELET2.
import type { Lease, Node, NodeCondition } from "../kube/generated/types.ts";
import { isKubeError } from "../kube/error.ts";
import { leases, namespaces, nodes } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatMicroTime, formatTime } from "../kube/time.ts";
import type { EmulatedNode, KubeletCore, NodeState } from "./kubelet-core.ts";

export const leaseNamespace = "kube-node-lease";
export const leaseSeconds = 40;
const endlessSeconds = 2 ** 31 - 1;

const defaultCapacity = { cpu: "16", memory: "64Gi", pods: "110", "ephemeral-storage": "100Gi" };

export async function registerNode(core: KubeletCore, state: NodeState): Promise<void> {
  const node = buildNode(state, core.clock.nowMs());
  try {
    const created = await core.client.create(nodes, node);
    if (created.status?.capacity !== undefined) return;
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
  }
  await reportNode(core, state);
}

/** Says that the node is ready, also after a time in which it was not. */
export async function reportNode(core: KubeletCore, state: NodeState): Promise<void> {
  const { status } = buildNode(state, core.clock.nowMs());
  const options = { type: "strategic", subresource: "status" } as const;
  await core.client.patch(nodes, { name: state.name }, { status }, options);
}

export async function ensureLeaseNamespace(core: KubeletCore): Promise<void> {
  try {
    const metadata = { name: leaseNamespace };
    await core.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
  }
}

/** `isLast`: no further heartbeat will follow. */
export async function renewLease(
  core: KubeletCore,
  nodeName: string,
  isLast: boolean,
): Promise<void> {
  const isBeating = core.options.heartbeatSeconds !== undefined;
  const spec = {
    holderIdentity: nodeName,
    leaseDurationSeconds: isBeating || isLast ? leaseSeconds : endlessSeconds,
    renewTime: formatMicroTime(core.clock.nowMs()),
  };
  const key = { namespace: leaseNamespace, name: nodeName };
  try {
    await core.client.patch(leases, key, { spec }, { type: "merge" });
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
    const lease: Stored<Lease> = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: key,
      spec,
    };
    await core.client.create(leases, lease);
  }
}

export function nodeLabels(node: EmulatedNode): Record<string, string> {
  return {
    "kubernetes.io/hostname": node.name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    ...(node.zone === undefined ? {} : { "topology.kubernetes.io/zone": node.zone }),
    ...node.labels,
  };
}

function buildNode({ node, ip }: NodeState, nowMs: number): Stored<Node> {
  const capacity = { ...defaultCapacity, ...node.capacity };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: node.name, labels: nodeLabels(node) },
    spec: { providerID: `emulated://${node.name}` },
    status: {
      capacity,
      allocatable: capacity,
      conditions: conditions(nowMs),
      addresses: [
        { type: "InternalIP", address: ip },
        { type: "Hostname", address: node.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        architecture: "amd64",
        bootID: node.name,
        containerRuntimeVersion: "emulated://1.0.0",
        kernelVersion: "6.0.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.37.1",
        machineID: node.name,
        operatingSystem: "linux",
        osImage: "Emulated Linux",
        systemUUID: node.name,
      },
    },
  };
}

function conditions(nowMs: number): NodeCondition[] {
  const now = formatTime(nowMs);
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "memory is sufficient"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "disk space is sufficient"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "process ids are sufficient"),
    condition("Ready", "True", "KubeletReady", "the kubelet is ready"),
  ];
}
