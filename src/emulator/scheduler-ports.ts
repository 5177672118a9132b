// Ports that a pod wants on the node itself.
import type { Pod } from "../kube/generated/types.ts";

interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

export function findHostPortConflict(pod: Pod, others: Iterable<Pod>): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  for (const other of others) {
    for (const taken of hostPorts(other)) {
      if (wanted.some((port) => conflicts(port, taken))) return true;
    }
  }
  return false;
}

function conflicts(left: HostPort, right: HostPort): boolean {
  if (left.port !== right.port || left.protocol !== right.protocol) return false;
  const everywhere = "0.0.0.0";
  return (
    left.address === right.address || left.address === everywhere || right.address === everywhere
  );
}

function hostPorts(pod: Pod): HostPort[] {
  return (pod.spec?.containers ?? []).flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort === undefined || hostPort === 0
        ? []
        : [{ address: hostIP || "0.0.0.0", protocol: protocol ?? "TCP", port: hostPort }],
    ),
  );
}
