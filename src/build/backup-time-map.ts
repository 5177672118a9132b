// The ConfigMap that holds the map of times and versions of a backup. It belongs to no resource, so that it outlives the
// backup. Carries the rules BK130 and BK134 of spec/backup.md.
import type { BackupStatus, FoundationDBBackup } from "../api/backup.ts";
import type { ConfigMap } from "../kube/generated/types.ts";
import type { ObjectMeta } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { parseTime } from "../kube/time.ts";
import { backupNameOfTimeMap, formatTimeMap, timeMapName } from "../model/backup-time-map.ts";
import type { TimePair } from "../model/backup-time-map.ts";
import { ownerReferenceTo } from "./labels.ts";

const timeMapLabel = "foundationdb.org/backup-timeline";
const movedAnnotation = "foundationdb.org/backup-moved";

/** That the backup was moved into a place, at which version, and from where on it can be restored there. */
export type MoveNote = Omit<NonNullable<BackupStatus["moved"]>, "looked"> & {
  readonly place: string;
};

export function timeMapObject(
  { metadata }: FoundationDBBackup,
  pairs: readonly TimePair[],
): Stored<ConfigMap> {
  const { name = "", namespace = "" } = metadata;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: timeMapName(name), namespace, labels: { [timeMapLabel]: "true" } },
    data: formatTimeMap(pairs),
  };
}

/** The name of the backup whose map an object is; undefined when it is none. */
export function backupOfTimeMap({ metadata }: { metadata: ObjectMeta }): string | undefined {
  if (metadata.labels?.[timeMapLabel] === undefined) return undefined;
  return backupNameOfTimeMap(metadata.name ?? "") || undefined;
}

/** The map as it goes with its backup. */
export function ownedTimeMap(
  live: Stored<ConfigMap>,
  backup: FoundationDBBackup,
): Stored<ConfigMap> {
  const ownerReferences = [...(live.metadata.ownerReferences ?? []), ownerReferenceTo(backup)];
  return { ...live, metadata: { ...live.metadata, ownerReferences } };
}

export function isTimeMapOwned(
  { metadata }: Stored<ConfigMap>,
  backup: FoundationDBBackup,
): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ uid }) => uid === backup.metadata.uid);
}

/** Undefined when there is none. Where somebody has edited it, nothing is proven. */
export function moveNoteOf({ metadata }: Stored<ConfigMap>): MoveNote | undefined {
  const text = metadata.annotations?.[movedAnnotation];
  if (text === undefined) return undefined;
  const [backupUID = "", atMove = "", from = "", time = "", ...place] = text.split(" ");
  const version = versionOf(atMove);
  const first = versionOf(from);
  const isProven = version !== undefined && first !== undefined && first >= version && first > 0;
  // The API server takes no status with a time that is none.
  const known = wholeTime.test(time) && parseTime(time) !== undefined ? { time } : {};
  const proven = isProven ? { from: { version: first, ...known } } : {};
  return { backupUID, version: version ?? 0, ...proven, place: place.join(" ") };
}

const wholeTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function versionOf(text: string): number | undefined {
  const version = /^\d+$/.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(version) ? version : undefined;
}

const noTime = "-";

/** The same object when nothing changes. */
export function withMoveNote(
  live: Stored<ConfigMap>,
  note: MoveNote | undefined,
): Stored<ConfigMap> {
  const { [movedAnnotation]: before, ...others } = live.metadata.annotations ?? {};
  const { backupUID, version, from, place } = note ?? {};
  const text =
    note && [backupUID, version, from?.version ?? 0, from?.time ?? noTime, place].join(" ");
  if (text === before) return live;
  const annotations = text === undefined ? others : { ...others, [movedAnnotation]: text };
  return { ...live, metadata: { ...live.metadata, annotations } };
}
