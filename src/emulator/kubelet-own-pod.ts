// The door of a container's program to the API: its own pod's annotations and its node's labels.
// Writes go by server-side apply under the monitor's name, with all annotations the pod has, as
// the real monitor does. KUBELET36.
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import { keyOf } from "../kube/path.ts";
import { nodes, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { OwnPod } from "../pod/container-program.ts";
import type { KubeletCore, NodeState } from "./kubelet-core.ts";

const retryMs = 1000;

export class OwnPodWriter {
  readonly #core: KubeletCore;
  readonly #node: NodeState;
  readonly #pod: () => Stored<Pod>;
  #wanted: Record<string, string> = {};
  #isWriting = false;
  #isStopped = false;

  constructor(core: KubeletCore, node: NodeState, pod: () => Stored<Pod>) {
    this.#core = core;
    this.#node = node;
    this.#pod = pod;
  }

  door(): OwnPod {
    return {
      annotations: () => this.#pod().metadata.annotations ?? {},
      nodeLabels: () =>
        this.#core.informers.of(nodes).get({ name: this.#node.name })?.metadata.labels ?? {},
      annotate: (annotations) => {
        // A program that is only found again has said this already.
        const pod = this.#pod();
        const said = Object.entries(annotations).every(
          ([key, value]) => pod.metadata.annotations?.[key] === value,
        );
        if (said && this.#core.isTakenOver(pod)) return;
        Object.assign(this.#wanted, annotations);
        void this.#write();
      },
    };
  }

  /** Writes what could not be written while the node was cut off. */
  flush(): void {
    void this.#write();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #write(): Promise<void> {
    if (this.#isWriting || this.#isStopped || !this.#node.isConnected) return;
    if (Object.keys(this.#wanted).length === 0) return;
    this.#isWriting = true;
    const sending = this.#wanted;
    this.#wanted = {};
    const isDone = await this.#apply(sending);
    this.#isWriting = false;
    if (!isDone) {
      this.#wanted = { ...sending, ...this.#wanted };
      this.#core.clock.setTimer(retryMs, () => void this.#write());
    } else {
      await this.#write();
    }
  }

  async #apply(annotations: Readonly<Record<string, string>>): Promise<boolean> {
    const pod = this.#pod();
    const { namespace, name, uid } = pod.metadata;
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        namespace,
        name,
        uid,
        annotations: { ...pod.metadata.annotations, ...annotations },
      },
    };
    const options = { type: "apply", force: true, fieldManager: "fdb-kubernetes-monitor" } as const;
    try {
      await this.#core.client.patch(pods, keyOf(pod), body, options);
      return true;
    } catch (error) {
      const isFinal = ["NotFound", "Forbidden", "Conflict", "Invalid"].some((reason) =>
        isKubeError(error, reason),
      );
      if (!isFinal)
        this.#core.log.warn("annotations were not written", { pod: name, error: String(error) });
      return isFinal;
    }
  }
}
