// A restore that the status calls completed, key by key: the destination holds what the source held at the version that the
// status names, in the ranges asked for, and everything else stayed as it was. Rules: spec/world.md [W130], [W133].
import { pointOf } from "../../../api/effective-restore.ts";
import type { FoundationDBRestore } from "../../../api/restore.ts";
import { destinationRanges, sourceRanges, unescapedKey } from "../../../model/key-range.ts";
import type { KeyRange } from "../../../model/key-range.ts";
import type { Started, WatchedDatabase } from "./layer-watch.ts";

type Content = ReadonlyMap<string, Uint8Array>;

/** What is wrong with a completed restore; undefined when all is well. */
export function restoreProblem(
  restore: FoundationDBRestore,
  started: Started,
  source: WatchedDatabase,
): string | undefined {
  const { spec, status, metadata } = restore;
  const version = status?.target?.version ?? -1;
  const name = metadata.name ?? "";
  if (version !== started.target) {
    return `the status of ${name} says ${version}, and ${started.target} was restored`;
  }
  const point = pointOf(spec);
  if (point.kind === "version" && version !== point.version) {
    return `${name} was to go to ${point.version}, and went to ${version}`;
  }
  if (point.kind === "time") {
    const latest = source.inside.versionAt(point.seconds * 1000);
    if (version > latest) {
      return `${name} was to go to ${point.time}, which is ${latest}, and went to ${version}`;
    }
  }
  const { record } = started.database.inside;
  const before = usersPart(record.contentAt(started.version - 1));
  const after = usersPart(record.contentAt(started.stateVersion));
  const places = destinationRanges(spec);
  const wanted = moved(usersPart(source.inside.record.contentAt(version)), restore);
  const inside = differenceOf(wanted, among(after, places, true));
  if (inside !== undefined) return `${name}, restored to ${version}, differs: ${inside}`;
  const outside = differenceOf(among(before, places, false), among(after, places, false));
  return outside === undefined ? undefined : `${name} changed what it was not to: ${outside}`;
}

function among(content: Content, ranges: readonly KeyRange[], isInside: boolean): Content {
  return new Map([...content].filter(([key]) => isAmong(key, ranges) === isInside));
}

function usersPart(content: Content): Content {
  return new Map([...content].filter(([key]) => key < "\xff"));
}

function isAmong(key: string, ranges: readonly KeyRange[]): boolean {
  return ranges.some(({ begin, end }) => key >= begin && key < end);
}

/** What lies in the ranges that are asked for, under the keys that it gets. */
function moved(content: Content, { spec }: FoundationDBRestore): Content {
  const added = unescapedKey(spec.addPrefix ?? "") ?? "";
  const removed = unescapedKey(spec.removePrefix ?? "") ?? "";
  const ranges = sourceRanges(spec);
  return new Map(
    [...content]
      .filter(([key]) => isAmong(key, ranges))
      .map(([key, value]) => [added + key.slice(removed.length), value]),
  );
}

function differenceOf(wanted: Content, held: Content): string | undefined {
  for (const key of new Set([...wanted.keys(), ...held.keys()])) {
    const [left, right] = [wanted.get(key), held.get(key)].map((value) =>
      value === undefined ? "nothing" : Buffer.from(value).toString(),
    );
    if (left !== right) return `${key} should be ${left} and is ${right}`;
  }
  return undefined;
}
