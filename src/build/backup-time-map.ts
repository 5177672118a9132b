// The ConfigMap that holds the map of times and versions of a backup. It belongs to no resource, so that it outlives the
// backup. Carries the rules BK130 and BK134 of spec/backup.md.
import type { BackupStatus, FoundationDBBackup } from "../api/backup.ts";
import type { ConfigMap } from "../kube/generated/types.ts";
import type { ObjectMeta } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
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

/** Undefined when there is none, or when somebody has edited it. */
export function moveNoteOf({ metadata }: Stored<ConfigMap>): MoveNote | undefined {
  const text = metadata.annotations?.[movedAnnotation];
  if (text === undefined) return undefined;
  const words = text.split(" ");
  const [backupUID = "", version, from, time, ...place] = words;
  const [atMove, first] = [Number(version), Number(from)];
  if (!Number.isSafeInteger(atMove) || !Number.isSafeInteger(first)) return undefined;
  const hasTime = time !== undefined && time !== noTime;
  const proven = first === 0 ? {} : { from: { version: first, ...(hasTime ? { time } : {}) } };
  return { backupUID, version: atMove, ...proven, place: place.join(" ") };
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
