// Lists of our resources in a namespace or in all, and what is said when there are none. Rules: spec/plugin.md [VW11], [VW17].
import type { KubeObject } from "../kube/object.ts";
import { isKubeError } from "../kube/error.ts";
import type { Resource } from "../kube/resource.ts";
import { CommandError } from "../env/command-error.ts";
import type { Session } from "./session.ts";

export interface ListFlags {
  allNamespaces?: boolean;
}

export async function listed<T extends KubeObject>(
  { client, namespace }: Session,
  resource: Resource<T>,
  { allNamespaces }: ListFlags,
): Promise<T[]> {
  try {
    return (await client.listAll(resource, allNamespaces === true ? {} : { namespace })).items;
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
    throw new CommandError(`this Kubernetes has no ${resource.kind} resources (no such CRD)`);
  }
}

export function byNamespaceAndName(
  { metadata: left }: KubeObject,
  { metadata: right }: KubeObject,
): number {
  const key = ({ namespace = "", name = "" }: KubeObject["metadata"]): string =>
    `${namespace}\0${name}`;
  return key(left) < key(right) ? -1 : 1;
}

export function emptyListText(
  { namespace }: Session,
  { kind }: Resource<unknown>,
  { allNamespaces }: ListFlags,
): string {
  return allNamespaces === true
    ? `There is no ${kind}.`
    : `There is no ${kind} in namespace ${namespace} (-A looks into all).`;
}
