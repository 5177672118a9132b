// Reads a resource that a person has named, and turns what goes wrong into one line that says what to do.
// Rules: spec/explain.md [E13], spec/plugin.md [PL7].
import { foundationDbBackups } from "../api/backup.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import { foundationDbRestores } from "../api/restore.ts";
import { CommandError } from "../env/command-error.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";

export interface ClusterKey {
  namespace: string;
  name: string;
}

/** A cluster, a backup or a restore. */
export async function readNamed<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  key: ClusterKey,
  server: string,
): Promise<T> {
  try {
    return await client.get(resource, key);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (error.reason === "NotFound") throw await notFound(client, resource, key, error.message);
    throw commandErrorOf(error, server);
  }
}

/** What a server refuses, or why it cannot be asked, in one line. */
export function commandErrorOf(
  { reason, message }: Pick<KubeError, "reason" | "message">,
  server: string,
): CommandError {
  if (reason === "Forbidden") {
    return new CommandError(`not allowed: ${message} (ask for a role that may do it)`);
  }
  if (reason === "Unauthorized") {
    return new CommandError(`${server} does not accept the credentials of the kubeconfig`);
  }
  if (reason === "Unreachable" || reason === "Timeout") {
    const why = message.replace(/^[A-Z]+ \S+: /, "");
    return new CommandError(`cannot reach the API server ${server}: ${why}`);
  }
  return new CommandError(`${server} answers: ${message}`);
}

/** A name that is not there is often only mistyped, in another namespace, or of another kind. */
async function notFound<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  { namespace, name }: ClusterKey,
  message: string,
): Promise<CommandError> {
  const { kind } = resource;
  if (!message.includes(name)) {
    return new CommandError(`this Kubernetes has no ${kind} resources (no such CRD)`);
  }
  const problem = `there is no ${kind} ${name} in namespace ${namespace}`;
  const all = await namesEverywhere(client, resource, namespace);
  const elsewhere = all.find((one) => one.name === name);
  if (elsewhere !== undefined) {
    return new CommandError(
      `${problem}, but one in ${elsewhere.namespace} (-n ${elsewhere.namespace})`,
    );
  }
  const other = await otherKind(client, resource, { namespace, name });
  if (other !== undefined) return new CommandError(`${problem}; did you mean ${other}?`);
  const here = all.filter((one) => one.namespace === namespace).map((one) => one.name);
  const similar = similarNames(name, here);
  if (similar.length > 0)
    return new CommandError(`${problem}; did you mean ${similar.join(", ")}?`);
  const others = all.slice(0, 5).map((one) => `${one.namespace}/${one.name}`);
  const hint = others.length === 0 ? "there is none at all" : `there are ${others.join(", ")}`;
  return new CommandError(`${problem}; ${hint}`);
}

/** What a person writes for a resource of another kind that has this name. */
async function otherKind<T extends KubeObject>(
  client: KubeClient,
  { kind }: Resource<T>,
  { namespace, name }: ClusterKey,
): Promise<string | undefined> {
  const written = [
    [foundationDbClusters, name],
    [foundationDbBackups, `backup/${name}`],
    [foundationDbRestores, `restore/${name}`],
  ] as const;
  for (const [resource, text] of written) {
    if (resource.kind === kind) continue;
    const names = await namesEverywhere(client, resource as Resource<KubeObject>, namespace);
    if (names.some((one) => one.name === name && one.namespace === namespace)) return text;
  }
  return undefined;
}

/** Whoever may not look everywhere looks into the one namespace. */
async function namesEverywhere<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  namespace: string,
): Promise<ClusterKey[]> {
  for (const options of [{}, { namespace }]) {
    try {
      const { items } = await client.listAll(resource, options);
      return items.map(({ metadata }) => ({
        namespace: metadata.namespace ?? "",
        name: metadata.name ?? "",
      }));
    } catch (error) {
      if (!isKubeError(error)) throw error;
    }
  }
  return [];
}

/** Names that contain one another or differ in few letters, the nearest first. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(name.length / 3));
  return names
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(
      ({ other, distance }) => distance <= limit || other.includes(name) || name.includes(other),
    )
    .toSorted(
      (left, right) => left.distance - right.distance || (left.other < right.other ? -1 : 1),
    )
    .slice(0, 3)
    .map(({ other }) => other);
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= right.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (left[at - 1] === right[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
