// What pods that are not part of a picture ask of their nodes, added up while the pages of a list go by: of a large
// Kubernetes cluster only a few numbers for each node are kept. Rule PIC3.
import type { Container, Pod } from "../kube/generated/types.ts";
import { formatQuantity, nanosOf } from "../model/quantity.ts";
import type { OtherRequests } from "./picture.ts";

interface Sums {
  cpu: bigint;
  memory: bigint;
  pods: number;
}

export class RequestSums {
  readonly #byNode = new Map<string, Sums>();

  /** A pod without a node, and one that has ended, takes no room. */
  add({ spec, status }: Pick<Pod, "spec" | "status">): void {
    const node = spec?.nodeName;
    if (!node || status?.phase === "Succeeded" || status?.phase === "Failed") return;
    const sums = this.#byNode.get(node) ?? { cpu: 0n, memory: 0n, pods: 0 };
    this.#byNode.set(node, {
      cpu: sums.cpu + requestOf(spec, "cpu"),
      memory: sums.memory + requestOf(spec, "memory"),
      pods: sums.pods + 1,
    });
  }

  result(): OtherRequests[] {
    return [...this.#byNode]
      .map(([node, { cpu, memory, pods }]) => ({
        node,
        cpu: formatQuantity({ nanos: cpu, form: "decimal" }),
        memory: formatQuantity({ nanos: memory, form: "binary" }),
        pods,
      }))
      .toSorted((left, right) => (left.node < right.node ? -1 : 1));
  }
}

/** As the scheduler counts it: containers together, or an init container that asks for more, and the overhead. */
function requestOf(spec: NonNullable<Pod["spec"]>, name: "cpu" | "memory"): bigint {
  const inits = spec.initContainers ?? [];
  const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === "Always";
  const together = [...spec.containers, ...inits.filter(isSidecar)]
    .map((container) => asked(container, name))
    .reduce((sum, each) => sum + each, 0n);
  const largest = inits
    .filter((container) => !isSidecar(container))
    .map((container) => asked(container, name))
    .reduce((most, each) => (each > most ? each : most), together);
  return largest + nanosOf(spec.overhead?.[name] ?? 0);
}

function asked({ resources }: Container, name: "cpu" | "memory"): bigint {
  return nanosOf(resources?.requests?.[name] ?? resources?.limits?.[name] ?? 0);
}
