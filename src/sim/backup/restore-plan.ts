// What a restore to a version takes out of a container: the newest snapshot that was complete by then, and every mutation
// after the version at which each of its ranges was copied, up to the target and not one further. Pure.
// Carries rule BSIM17.
import { mostOf } from "../../env/long-lists.ts";
import type { RecordedCommit } from "../key-value/commit-record.ts";
import type { Item } from "../key-value/versioned-map.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { isInside } from "../key-value/write-buffer.ts";
import { blockBytes, readContent } from "./container-objects.ts";
import type {
  ContainerContent,
  RangeFile,
  SnapshotFile,
  StoredObject,
} from "./container-objects.ts";
import { logsEndFrom } from "./describe.ts";
import { ToolError } from "./tool-error.ts";

export interface Transform {
  readonly ranges: readonly KeyRange[];
  readonly addPrefix: string;
  readonly removePrefix: string;
}

export interface RestorePlan {
  /** Objects of range files, in the order of their keys. */
  readonly files: readonly StoredObject[];
  readonly logs: readonly StoredObject[];
  readonly beginVersion: number;
  readonly firstConsistentVersion: number;
  readonly blocks: number;
}

export function blocksOf(object: StoredObject): number {
  return Math.max(1, Math.ceil(object.bytes / blockBytes));
}

/** Throws 2361 for a version outside of what is restorable, and 2363 when a file of the snapshot is not there. */
export function planRestore(
  name: string,
  objects: readonly StoredObject[],
  version: number,
  ranges: readonly KeyRange[],
): RestorePlan {
  const snapshot = snapshotFor(readContent(name, objects), version);
  if (snapshot === undefined) throw new ToolError(2361);
  const byKey = new Map(objects.map((object) => [object.key, object]));
  const files = snapshot.files
    .map((key) => byKey.get(key))
    .map((object) => {
      if (object === undefined) throw new ToolError(2363);
      return object;
    })
    .filter(
      ({ content: file }) =>
        file.kind === "range" && ranges.some((range) => touches(range, file.range)),
    );
  const versions = files.map(({ content: file }) => (file.kind === "range" ? file.version : 0));
  const logs = objects.filter(
    ({ content: file }) =>
      file.kind === "log" &&
      file.endVersion > snapshot.beginVersion &&
      file.beginVersion <= version,
  );
  return {
    ...{ files, logs },
    beginVersion: snapshot.beginVersion,
    firstConsistentVersion: mostOf(versions, snapshot.beginVersion),
    blocks: [...files, ...logs].reduce((sum, object) => sum + blocksOf(object), 0),
  };
}

/** The newest one from which logs lead to the version without a gap. */
function snapshotFor(content: ContainerContent, version: number): SnapshotFile | undefined {
  return content.snapshots
    .filter((file) => file.endVersion <= version)
    .findLast((file) => logsEndFrom(content.logs, file.beginVersion) > version);
}

function touches(left: KeyRange, right: KeyRange): boolean {
  return left.begin < right.end && right.begin < left.end;
}

/** What a range file puts into the destination. */
export function itemsToWrite(file: RangeFile, transform: Transform): Item[] {
  return file.items
    .filter(({ key }) => transform.ranges.some((range) => isInside(key, range)))
    .map(({ key, value }) => ({ key: moved(key, transform), value }));
}

export function moved(key: string, transform: Transform): string {
  return transform.addPrefix + key.slice(transform.removePrefix.length);
}

/** A mutation in the destination: the cleared ranges first, then the single keys. */
export interface Mutation {
  readonly cleared: readonly KeyRange[];
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

/** The mutations up to `version`, each only where the copied range does not hold it already. */
export function mutationsToApply(
  plan: RestorePlan,
  version: number,
  transform: Transform,
): Mutation[] {
  const copied = plan.files.flatMap(({ content }) => (content.kind === "range" ? [content] : []));
  // Several agents or tags may have written the same piece; one commit after another stays right when it comes twice.
  const commits = plan.logs
    .flatMap(({ content }) => (content.kind === "log" ? content.commits : []))
    .filter((commit) => commit.version <= version)
    .toSorted((left, right) => left.version - right.version);
  return commits.map((commit) => mutationOf(commit, copied, transform)).filter(isEffective);
}

function mutationOf(
  commit: RecordedCommit,
  copied: readonly RangeFile[],
  transform: Transform,
): Mutation {
  const behind = copied.filter((file) => file.version < commit.version);
  const places = behind.flatMap((file) =>
    transform.ranges.flatMap((range) => intersection(file.range, range)),
  );
  const written = [...commit.written]
    .filter(([key]) => places.some((place) => isInside(key, place)))
    .map(([key, value]): [string, Uint8Array | undefined] => [moved(key, transform), value]);
  const cleared = commit.cleared.flatMap((range) =>
    places.flatMap((place) =>
      intersection(range, place).map(({ begin, end }) => ({
        begin: moved(begin, transform),
        end: moved(end, transform),
      })),
    ),
  );
  return { cleared, written: new Map(written) };
}

function isEffective(mutation: Mutation): boolean {
  return mutation.cleared.length + mutation.written.size > 0;
}

function intersection(left: KeyRange, right: KeyRange): KeyRange[] {
  const begin = left.begin > right.begin ? left.begin : right.begin;
  const end = left.end < right.end ? left.end : right.end;
  return begin < end ? [{ begin, end }] : [];
}
