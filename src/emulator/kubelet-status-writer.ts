// Writes a pod's status: changes that come together become one write, there is never more than one
// write under way, and a status that the server has already is not written again. Carries rule
// KUBELET7.
import type { Timer } from "../env/clock.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import { keyOf } from "../kube/path.ts";
import { pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { KubeletCore, NodeState } from "./kubelet-core.ts";
import type { PodStatusReport } from "./kubelet-status.ts";

const gatherMs = 50;
const retryMs = 1000;

export class StatusWriter {
  readonly #core: KubeletCore;
  readonly #node: NodeState;
  readonly #pod: () => Stored<Pod>;
  readonly #build: (nowMs: number) => PodStatusReport;
  #timer: Timer | undefined;
  #isWriting = false;
  #isStopped = false;
  #written: PodStatusReport | undefined;
  #onFinished: (() => void) | undefined;

  constructor(
    core: KubeletCore,
    node: NodeState,
    pod: () => Stored<Pod>,
    build: (nowMs: number) => PodStatusReport,
  ) {
    this.#core = core;
    this.#node = node;
    this.#pod = pod;
    this.#build = build;
  }

  touch(): void {
    this.#schedule(gatherMs);
  }

  /** Writes the status even if it is the same: somebody else may have changed it. */
  rewrite(): void {
    this.#written = undefined;
    this.#schedule(gatherMs);
  }

  /** Writes the last status and calls back. */
  finish(onFinished: () => void): void {
    this.#onFinished = onFinished;
    this.#schedule(gatherMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #schedule(delayMs: number): void {
    // On a node that is cut off nothing can be written; it catches up later.
    if (!this.#node.isConnected) return;
    if (this.#isStopped || this.#timer !== undefined || this.#isWriting) return;
    this.#timer = this.#core.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    const status = this.#build(this.#core.clock.nowMs());
    if (this.#written === undefined || !isSameReport(status, this.#written)) {
      this.#isWriting = true;
      const isWritten = await this.#patch(status);
      this.#isWriting = false;
      if (this.#isStopped) return;
      if (!isWritten) return this.#schedule(retryMs);
      this.#written = status;
      // What changed while the write was under way is written next.
      if (!isSameReport(this.#build(this.#core.clock.nowMs()), status))
        return this.#schedule(gatherMs);
    }
    const onFinished = this.#onFinished;
    this.#onFinished = undefined;
    onFinished?.();
  }

  /** False when it should be tried again. */
  async #patch(status: PodStatusReport): Promise<boolean> {
    const pod = this.#pod();
    // These lists are merged by address: without the directive an old address would stay.
    const replacing = status.podIPs && { podIPs: [...status.podIPs, { $patch: "replace" }] };
    const patch = { metadata: { uid: pod.metadata.uid }, status: { ...status, ...replacing } };
    const options = { type: "strategic", subresource: "status" } as const;
    try {
      await this.#core.client.patch(pods, keyOf(pod), patch, options);
      return true;
    } catch (error) {
      // The pod is gone or another one has its name: there is nobody to report about.
      if (isKubeError(error, "NotFound") || isKubeError(error, "Conflict")) return true;
      this.#core.log.warn("a pod's status was not written", {
        pod: pod.metadata.name,
        error: String(error),
      });
      // Another uid is an invalid change; trying again would not make the status any better.
      return isKubeError(error, "Invalid");
    }
  }
}

/**
 * Times of transitions and removals follow from the rest, so they do not make a status different.
 */
function isSameReport(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isObject(left) || !isObject(right)) return isAbsent(left) && isAbsent(right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  for (const key of Object.keys(left)) {
    if (key !== "lastTransitionTime" && !isSameReport(left[key], right[key])) return false;
  }
  // What only the other one has.
  for (const key of Object.keys(right)) {
    if (key !== "lastTransitionTime" && !(key in left) && !isAbsent(right[key])) return false;
  }
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
