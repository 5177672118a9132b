// Paths of the Kubernetes API, built from a Resource and the key of an object.
import type { Resource } from "./resource.ts";

export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** One text for a key, usable in maps and queues: "namespace/name", or "name" without a namespace. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKeyText(text: string): ObjectKey {
  const slash = text.indexOf("/");
  if (slash < 0) return { name: text };
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function keyOf(object: { metadata: { namespace?: string; name?: string } }): ObjectKey {
  const { namespace, name } = object.metadata;
  if (name === undefined || name === "") throw new Error("the object has no name");
  return namespace === undefined ? { name } : { namespace, name };
}

/** The path of all objects of a kind, in one namespace or, without one, everywhere. */
export function collectionPath(resource: Resource<unknown>, namespace?: string): string {
  const root =
    resource.group === ""
      ? `/api/${resource.version}`
      : `/apis/${resource.group}/${resource.version}`;
  const inNamespace =
    resource.isNamespaced && namespace !== undefined
      ? `/namespaces/${encodeURIComponent(namespace)}`
      : "";
  return `${root}${inNamespace}/${resource.plural}`;
}

export function objectPath(
  resource: Resource<unknown>,
  key: ObjectKey,
  subresource?: string,
): string {
  if (key.name === "") throw new Error(`a ${resource.kind} was asked for without a name`);
  if (resource.isNamespaced && (key.namespace === undefined || key.namespace === "")) {
    throw new Error(`the ${resource.kind} ${key.name} was asked for without its namespace`);
  }
  const path = `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
