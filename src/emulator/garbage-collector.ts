// Deletes what its owners leave behind, as the garbage collector of a real cluster: background, foreground
// and orphan. It works in microtasks after the change that caused it, so clients see each step. [KAS15]
import { deleteObject, internalDelete, isBeingDeleted } from "./delete.ts";
import { arrayAt, ensureObject, objectAt, openCopy, stringAt, type JsonObject } from "./json.ts";
import { internalWrite, type ServerContext, type Target } from "./server-context.ts";
import { StatusError } from "./status.ts";
import type { StoreEvent } from "./store.ts";

interface Node {
  storageKey: string;
  namespace: string;
  name: string;
  uid: string;
}

export function collectGarbage(server: ServerContext): void {
  const collector = new GarbageCollector(server);
  server.store.subscribeAll((event) => collector.observe(event));
}

class GarbageCollector {
  readonly #server: ServerContext;
  readonly #byUid = new Map<string, Node>();
  /** Dependents by the uid of their owner. */
  readonly #dependents = new Map<string, Map<string, Node>>();
  readonly #queue = new Map<string, Node>();
  #isScheduled = false;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  observe(event: StoreEvent): void {
    const { storageKey, namespace, name } = event;
    const uid = stringAt(event.object, "metadata", "uid");
    const node: Node = { storageKey, namespace, name, uid };
    const before = ownersOf(event.previous);
    const after = event.type === "DELETED" ? [] : ownersOf(event.object);
    for (const owner of before)
      if (!after.includes(owner)) this.#dependents.get(owner)?.delete(uid);
    for (const owner of after) this.#addDependent(owner, node);
    if (event.type === "DELETED") {
      this.#byUid.delete(uid);
      for (const dependent of this.#dependents.get(uid)?.values() ?? []) this.#enqueue(dependent);
      for (const owner of before) this.#enqueueUid(owner);
      return;
    }
    this.#byUid.set(uid, node);
    const isNew = event.type === "ADDED" && after.length > 0;
    const isDeleting = isBeingDeleted(event.object);
    if (isNew || isDeleting || after.join() !== before.join()) this.#enqueue(node);
    // An owner in foreground deletion also waits for changes of its dependents.
    for (const owner of new Set([...before, ...after])) this.#enqueueUid(owner);
  }

  #addDependent(owner: string, node: Node): void {
    let dependents = this.#dependents.get(owner);
    if (dependents === undefined) {
      dependents = new Map();
      this.#dependents.set(owner, dependents);
    }
    dependents.set(node.uid, node);
  }

  #enqueueUid(uid: string): void {
    const node = this.#byUid.get(uid);
    if (node === undefined) return;
    const object = this.#server.store.get(node.storageKey, node.namespace, node.name);
    if (isBeingDeleted(object)) this.#enqueue(node);
  }

  #enqueue(node: Node): void {
    this.#queue.set(node.uid, node);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#drain());
  }

  #drain(): void {
    this.#isScheduled = false;
    const nodes = [...this.#queue.values()];
    this.#queue.clear();
    for (const node of nodes) {
      try {
        this.#process(node);
      } catch (error) {
        // A refusal (a changed uid, a gone object) means that the world moved on; the next event decides.
        if (!(error instanceof StatusError)) throw error;
      }
    }
  }

  #process(node: Node): void {
    const object = this.#server.store.get(node.storageKey, node.namespace, node.name);
    if (object === undefined || stringAt(object, "metadata", "uid") !== node.uid) return;
    if (isBeingDeleted(object)) {
      const finalizers = arrayAt(object, "metadata", "finalizers");
      if (finalizers.includes("orphan")) this.#orphanDependents(node, object);
      else if (finalizers.includes("foregroundDeletion")) this.#deleteInForeground(node, object);
      if (!finalizers.includes("foregroundDeletion")) return;
    }
    this.#deleteIfAbandoned(node, object);
  }

  /** Solid owners exist and are not waiting for their dependents to go. */
  #deleteIfAbandoned(node: Node, object: JsonObject): void {
    const references = arrayAt(object, "metadata", "ownerReferences");
    if (references.length === 0 || isBeingDeleted(object)) return;
    const owners = references.map((reference) => this.#owner(node, stringAt(reference, "uid")));
    const isWaiting = (owner: JsonObject | undefined): boolean =>
      isBeingDeleted(owner) &&
      arrayAt(owner, "metadata", "finalizers").includes("foregroundDeletion");
    const solid = owners.filter((owner) => owner !== undefined && !isWaiting(owner));
    if (solid.length > 0) {
      const kept = references.filter((_, index) => solid.includes(owners[index]));
      if (kept.length < references.length) this.#setOwners(node, object, kept);
      return;
    }
    const hasWaitingOwner = owners.some(isWaiting);
    const hasDependents = (this.#dependents.get(node.uid)?.size ?? 0) > 0;
    this.#delete(node, hasWaitingOwner && hasDependents ? "Foreground" : policyOf(object));
  }

  /** The owner object, if it exists where the dependent can refer to it. */
  #owner(dependent: Node, uid: string): JsonObject | undefined {
    const node = this.#byUid.get(uid);
    if (node === undefined) return undefined;
    if (node.namespace !== "" && node.namespace !== dependent.namespace) return undefined;
    return this.#server.store.get(node.storageKey, node.namespace, node.name);
  }

  #deleteInForeground(node: Node, object: JsonObject): void {
    const dependents = [...(this.#dependents.get(node.uid)?.values() ?? [])];
    const isBlocked = dependents.some((dependent) => {
      const references = arrayAt(this.#objectOf(dependent), "metadata", "ownerReferences");
      return references.some(
        (reference) =>
          stringAt(reference, "uid") === node.uid &&
          objectAt(reference)["blockOwnerDeletion"] === true,
      );
    });
    if (!isBlocked) this.#removeFinalizer(node, object, "foregroundDeletion");
    for (const dependent of dependents) {
      if (!isBeingDeleted(this.#objectOf(dependent))) this.#enqueue(dependent);
    }
  }

  #orphanDependents(node: Node, object: JsonObject): void {
    for (const dependent of [...(this.#dependents.get(node.uid)?.values() ?? [])]) {
      const current = this.#objectOf(dependent);
      if (current === undefined) continue;
      const kept = arrayAt(current, "metadata", "ownerReferences").filter(
        (reference) => stringAt(reference, "uid") !== node.uid,
      );
      this.#setOwners(dependent, current, kept);
    }
    this.#removeFinalizer(node, object, "orphan");
  }

  #objectOf(node: Node): JsonObject | undefined {
    return this.#server.store.get(node.storageKey, node.namespace, node.name);
  }

  #setOwners(node: Node, object: JsonObject, owners: unknown[]): void {
    const changed = openCopy(object);
    const metadata = ensureObject(changed, "metadata");
    if (owners.length === 0) delete metadata["ownerReferences"];
    else metadata["ownerReferences"] = owners;
    this.#server.store.put(node.storageKey, node.namespace, node.name, changed);
  }

  #removeFinalizer(node: Node, object: JsonObject, finalizer: string): void {
    removeFinalizer(this.#server, node, object, finalizer);
  }

  #delete(node: Node, policy: string): void {
    const kind = this.#server.registry.stored(node.storageKey);
    if (kind === undefined) return;
    const target: Target = { kind, namespace: node.namespace, name: node.name };
    const request = internalDelete(policy, node.uid);
    deleteObject(this.#server, target, request, internalWrite("kube-controller-manager"));
  }
}

/** Takes one finalizer off; an object that waited for nothing else leaves the store. */
export function removeFinalizer(
  server: ServerContext,
  place: { storageKey: string; namespace: string; name: string },
  object: JsonObject,
  finalizer: string,
): void {
  const changed = openCopy(object);
  const metadata = ensureObject(changed, "metadata");
  const kept = arrayAt(metadata, "finalizers").filter((name) => name !== finalizer);
  if (kept.length === 0) delete metadata["finalizers"];
  else metadata["finalizers"] = kept;
  const { storageKey, namespace, name } = place;
  const isReady =
    kept.length === 0 &&
    isBeingDeleted(changed) &&
    (metadata["deletionGracePeriodSeconds"] ?? 0) === 0;
  if (isReady) server.store.remove(storageKey, namespace, name, changed);
  else server.store.put(storageKey, namespace, name, changed);
}

function ownersOf(object: JsonObject | undefined): string[] {
  const references = object === undefined ? [] : arrayAt(object, "metadata", "ownerReferences");
  return references.map((reference) => stringAt(reference, "uid"));
}

/** A dependent that was itself deleted with a policy keeps it. */
function policyOf(object: JsonObject): string {
  const finalizers = arrayAt(object, "metadata", "finalizers");
  if (finalizers.includes("orphan")) return "Orphan";
  return finalizers.includes("foregroundDeletion") ? "Foreground" : "Background";
}
