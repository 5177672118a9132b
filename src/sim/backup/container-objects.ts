// What lies in a backup's container, under the object keys that the real tools use: range files of a snapshot, the
// snapshot's own list of them, mutation logs, and a few properties. Carries rule BSIM4.
import type { RecordedCommit } from "../key-value/commit-record.ts";
import type { Item } from "../key-value/versioned-map.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";

export interface RangeFile {
  readonly kind: "range";
  readonly range: KeyRange;
  /** The content is that of the database at this version. */
  readonly version: number;
  readonly items: readonly Item[];
}

export interface SnapshotFile {
  readonly kind: "snapshot";
  readonly beginVersion: number;
  readonly endVersion: number;
  readonly bytes: number;
  /** Object keys of its range files. */
  readonly files: readonly string[];
}

export interface LogFile {
  readonly kind: "log";
  readonly beginVersion: number;
  /** Not included. */
  readonly endVersion: number;
  readonly commits: readonly RecordedCommit[];
}

export interface PropertyFile {
  readonly kind: "property";
  readonly text: string;
}

export type FileContent = RangeFile | SnapshotFile | LogFile | PropertyFile;

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  readonly content: FileContent;
  /** Some of its bytes are no longer those that were written. */
  isDamaged?: boolean;
}

/** The object that says that a container of this name exists. */
export function markerKey(name: string): string {
  return `backups/${name}`;
}

export function dataPrefix(name: string): string {
  return `data/${name}/`;
}

export type PropertyName =
  | "encryption_metadata"
  | "expired_end_version"
  | "log_begin_version"
  | "log_end_version"
  | "mutation_log_type"
  | "unreliable_end_version";

export function propertyObject(name: string, property: PropertyName, text: string): StoredObject {
  const key = `${dataPrefix(name)}properties/${property}`;
  return { key, bytes: text.length, content: { kind: "property", text } };
}

export const blockBytes = 1_048_576;

export function rangeObject(
  name: string,
  snapshotVersion: number,
  id: string,
  content: RangeFile,
): StoredObject {
  const folder = `kvranges/snapshot.${String(snapshotVersion).padStart(18, "0")}/0`;
  const key = `${dataPrefix(name)}${folder}/range,${content.version},${id},${blockBytes}`;
  const itemBytes = content.items.reduce((sum, item) => sum + bytesOfItem(item), 0);
  return {
    key,
    bytes: 24 + content.range.begin.length + content.range.end.length + itemBytes,
    content,
  };
}

export function snapshotObject(name: string, content: SnapshotFile): StoredObject {
  const { beginVersion, endVersion, bytes } = content;
  const key = `${dataPrefix(name)}snapshots/snapshot,${beginVersion},${endVersion},${bytes}`;
  return { key, bytes: 200 + 230 * content.files.length, content };
}

export function logObject(name: string, id: string, content: LogFile): StoredObject {
  const versions = `${content.beginVersion},${content.endVersion}`;
  const key = `${dataPrefix(name)}logs/0000/0000/log,${versions},${id},${blockBytes}`;
  const bytes = content.commits.reduce((sum, commit) => sum + bytesOfCommit(commit), 0);
  return { key, bytes, content };
}

function bytesOfItem({ key, value }: Item): number {
  return key.length + value.length + 8;
}

function bytesOfCommit(commit: RecordedCommit): number {
  const cleared = commit.cleared.reduce(
    (sum, { begin, end }) => sum + begin.length + end.length + 12,
    0,
  );
  const written = [...commit.written].reduce(
    (sum, [key, value]) => sum + key.length + (value?.length ?? key.length + 1) + 12,
    0,
  );
  return 33 + cleared + written;
}

/** What is in a container, sorted by kind. */
export interface ContainerContent {
  readonly snapshots: readonly SnapshotFile[];
  readonly logs: readonly LogFile[];
  readonly properties: ReadonlyMap<string, string>;
  readonly keys: ReadonlySet<string>;
}

export function readContent(name: string, objects: readonly StoredObject[]): ContainerContent {
  const snapshots: SnapshotFile[] = [];
  const logs: LogFile[] = [];
  const properties = new Map<string, string>();
  const prefix = `${dataPrefix(name)}properties/`;
  for (const { key, content } of objects) {
    if (content.kind === "snapshot") snapshots.push(content);
    else if (content.kind === "log") logs.push(content);
    else if (content.kind === "property" && key.startsWith(prefix)) {
      properties.set(key.slice(prefix.length), content.text);
    }
  }
  return {
    snapshots: snapshots.toSorted(byVersions),
    logs: logs.toSorted(byVersions),
    properties,
    keys: new Set(objects.map(({ key }) => key)),
  };
}

interface Versions {
  readonly beginVersion: number;
  readonly endVersion: number;
}

function byVersions(left: Versions, right: Versions): number {
  return left.beginVersion - right.beginVersion || left.endVersion - right.endVersion;
}
