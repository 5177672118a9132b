// What the API server left out of a status that it was given: fields that the installed CustomResourceDefinition does not know,
// because it is an older one, or that of the Go operator. Rules: spec/operate.md [OP73].
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import type { Log } from "../env/log.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { Stored } from "../kube/resource.ts";

/** Paths of what is missing, each once however many items of a list lack it, sorted. */
export function prunedFields(written: ClusterStatus, stored: ClusterStatus | undefined): string[] {
  const found = new Set<string>();
  compare("status", written, stored, found);
  return [...found].sort();
}

function compare(path: string, written: unknown, stored: unknown, found: Set<string>): void {
  if (written === undefined || written === null) return;
  if (stored === undefined) {
    found.add(path);
    return;
  }
  if (Array.isArray(written)) {
    const items = Array.isArray(stored) ? stored : [];
    written.forEach((item, index) => compare(`${path}[]`, item, items[index], found));
    return;
  }
  if (typeof written !== "object" || typeof stored !== "object") return;
  for (const [key, value] of Object.entries(written)) {
    compare(`${path}.${key}`, value, Reflect.get(stored ?? {}, key), found);
  }
}

export interface Tellers {
  readonly recorder: Pick<EventRecorder, "record">;
  readonly log: Pick<Log, "error">;
}

/** Once, until all of it is stored again. */
export function tellPruned(
  { recorder, log }: Tellers,
  state: { isStatusPruned: boolean },
  cluster: Stored<FoundationDBCluster>,
  fields: readonly string[],
): void {
  const isKnown = state.isStatusPruned;
  state.isStatusPruned = fields.length > 0;
  if (isKnown || fields.length === 0) return;
  recorder.record(cluster, "Warning", "StatusFieldsUnknown", prunedText(fields));
  log.error("the API server drops parts of the status", {
    cluster: keyText(keyOf(cluster)),
    fields,
  });
}

function prunedText([first, ...rest]: readonly string[]): string {
  const others = rest.length === 0 ? "" : ` and ${rest.length} more`;
  return (
    `The API server does not store ${first}${others}: the CustomResourceDefinition foundationdbclusters.apps.foundationdb.org is older than this operator, ` +
    "or that of another one. Apply those that belong to it: kubectl apply --server-side --force-conflicts -f deploy/crds. " +
    "Until then lost pods come back, and nothing else is done."
  );
}
