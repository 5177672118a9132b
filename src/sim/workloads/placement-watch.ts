// Looks at where pods run, and which of them the operator has down at once: no host carries two logical fault domains of
// a class that keeps data, and pods of two halls are never down by the operator's own hand. Rules: spec/world.md [W97].
import type { Node, Pod } from "../../kube/generated/types.ts";

const classLabel = "foundationdb.org/fdb-process-class";
const domainLabel = "foundationdb.org/distribution-key";
const hallLabel = "topology.kubernetes.io/zone";

/** After so long a pod that did not come back is down for reasons of its own. */
const ownActMs = 600_000;

export class PlacementWatch {
  readonly #violated: (text: string) => void;
  readonly #pods = new Map<string, Pod>();
  readonly #halls = new Map<string, string>();
  /** Pods that the operator took down and that are not back. */
  readonly #taken = new Map<string, { uid: string; hall: string; atMs: number }>();
  /** Whether the zones of the nodes are halls of the database. */
  hasHalls = false;
  /** Whether the process group of a pod is gone and the database misses nothing there any more. */
  isOver: (name: string) => boolean = () => false;

  constructor(violated: (text: string) => void) {
    this.#violated = violated;
  }

  noteNode({ metadata }: Node): void {
    this.#halls.set(metadata?.name ?? "", metadata?.labels?.[hallLabel] ?? "");
  }

  notePod(pod: Pod, isDeleted: boolean): void {
    const name = pod.metadata?.name ?? "";
    if (isDeleted) this.#pods.delete(name);
    else this.#pods.set(name, pod);
    const before = isDeleted ? undefined : this.#taken.get(name);
    if (before !== undefined && before.uid !== pod.metadata?.uid && isReady(pod)) {
      this.#taken.delete(name);
    }
    if (!isDeleted) this.#checkHost(pod);
  }

  /** The process group of the pod is gone: it does not come back. */
  noteRemoved(name: string): void {
    this.#taken.delete(name);
  }

  /** The operator deletes a pod that serves, so that it comes back as specified. What takes that back is returned. */
  checkHall(pod: Pod, nowMs: number): () => void {
    const { name = "", uid = "" } = pod.metadata ?? {};
    const hall = this.#halls.get(pod.spec?.nodeName ?? "");
    if (!this.hasHalls || hall === undefined) return () => {};
    for (const [other, taken] of this.#taken) {
      if (taken.hall === hall || nowMs - taken.atMs > ownActMs || this.isOver(other)) continue;
      this.#violated(
        `pod ${name} in hall ${hall} is taken down while ${other} in ${taken.hall} is`,
      );
    }
    const before = this.#taken.get(name);
    this.#taken.set(name, { uid, hall, atMs: nowMs });
    return () => {
      if (before === undefined) this.#taken.delete(name);
      else this.#taken.set(name, before);
    };
  }

  #checkHost(pod: Pod): void {
    const host = pod.spec?.nodeName;
    const domain = pod.metadata?.labels?.[domainLabel];
    const kind = kindOf(pod);
    if (host === undefined || domain === undefined || kind === undefined) return;
    for (const other of this.#pods.values()) {
      if (other.spec?.nodeName !== host || kindOf(other) !== kind) continue;
      const others = other.metadata?.labels?.[domainLabel];
      if (others === undefined || others === domain) continue;
      this.#violated(
        `${host} carries ${pod.metadata?.name} of ${domain} and ${other.metadata?.name} of ${others}`,
      );
    }
  }
}

/** Classes that must not share; undefined for those that keep nothing. */
function kindOf({ metadata, status }: Pod): string | undefined {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return undefined;
  const processClass = metadata?.labels?.[classLabel] ?? "";
  if (processClass === "transaction") return "log";
  return ["storage", "log", "coordinator"].includes(processClass) ? processClass : undefined;
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata?.deletionTimestamp !== undefined || status?.phase !== "Running") return false;
  return (
    status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true
  );
}
