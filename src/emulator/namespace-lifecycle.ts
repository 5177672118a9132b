// Every namespace has a default service account; a terminating one loses its content and then itself. [KAS11]
import { deleteObject, internalDelete, isBeingDeleted } from "./delete.ts";
import { arrayAt, objectAt, stringAt, type JsonObject } from "./json.ts";
import { internalWrite, type ServerContext } from "./server-context.ts";
import type { StoreEvent } from "./store.ts";
import { finalizeNamespace } from "./subresources.ts";
import { createObject } from "./write.ts";

export function keepNamespaces(server: ServerContext): void {
  const terminating = new Set<string>();
  const emptied = new Set<string>();
  const enqueue = (name: string): void => {
    if (emptied.size === 0) queueMicrotask(drain);
    emptied.add(name);
  };
  const drain = (): void => {
    const names = [...emptied];
    emptied.clear();
    for (const name of names) empty(server, name);
  };
  server.store.subscribeAll((event: StoreEvent) => {
    if (event.storageKey === "/namespaces") {
      if (event.type === "ADDED") createServiceAccount(server, event.name);
      if (event.type === "DELETED") terminating.delete(event.name);
      else if (isBeingDeleted(event.object)) {
        terminating.add(event.name);
        enqueue(event.name);
      }
      return;
    }
    if (event.type === "DELETED" && terminating.has(event.namespace)) enqueue(event.namespace);
    if (
      event.storageKey === "/serviceaccounts" &&
      event.type === "DELETED" &&
      event.name === "default"
    ) {
      const namespace = server.store.get("/namespaces", "", event.namespace);
      if (namespace !== undefined && !isBeingDeleted(namespace)) {
        createServiceAccount(server, event.namespace);
      }
    }
  });
}

function createServiceAccount(server: ServerContext, namespace: string): void {
  const kind = server.registry.find("", "v1", "serviceaccounts");
  if (kind === undefined) return;
  if (server.store.get(kind.storageKey, namespace, "default") !== undefined) return;
  const account = { metadata: { name: "default" } };
  createObject(server, kind, namespace, account, internalWrite("kube-controller-manager"));
}

function empty(server: ServerContext, name: string): void {
  const namespace = server.store.get("/namespaces", "", name);
  if (namespace === undefined || !isBeingDeleted(namespace)) return;
  let remaining = 0;
  for (const kind of server.registry.storedKinds()) {
    if (!kind.isNamespaced) continue;
    for (const object of server.store.list(kind.storageKey, name)) {
      const target = { kind, namespace: name, name: stringAt(object, "metadata", "name") };
      if (!isBeingDeleted(object)) {
        const request = internalDelete("Background");
        deleteObject(server, target, request, internalWrite("kube-controller-manager"));
      }
    }
    remaining += server.store.countIn(kind.storageKey, name);
  }
  if (remaining === 0) finish(server, name, namespace);
}

function finish(server: ServerContext, name: string, namespace: JsonObject): void {
  const kind = server.registry.find("", "v1", "namespaces");
  if (kind === undefined) return;
  const kept = arrayAt(namespace, "spec", "finalizers").filter((item) => item !== "kubernetes");
  if (arrayAt(namespace, "metadata", "finalizers").length > 0) return;
  const body: JsonObject = {
    ...namespace,
    spec: { ...objectAt(namespace, "spec"), finalizers: kept },
  };
  finalizeNamespace(server, { kind, namespace: "", name }, body);
}
