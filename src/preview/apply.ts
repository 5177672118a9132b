// What `kubectl apply -f FILE` makes of a resource: what the file has is set, what the file had the last time and has no
// more is taken out, and what others have set stays. Pure. Rule PV13.
import type { FoundationDBCluster } from "../api/cluster.ts";
import { lastAppliedConfiguration, parsedJson } from "./redact-object.ts";
import { placeholderWord } from "./secret-patterns.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Applied {
  readonly cluster: FoundationDBCluster;
  /** What a person may not expect. */
  readonly warnings: readonly string[];
}

/** `file` as it was read: nothing about it has been checked. */
export function applied(live: FoundationDBCluster, file: FoundationDBCluster): Applied {
  const { labels, annotations, ...rest } = live.metadata;
  const text = annotations?.[lastAppliedConfiguration];
  const before = text === undefined ? undefined : parsedJson(text);
  const last = fieldsOf(before);
  const lastMetadata = fieldsOf(last["metadata"]);
  const { metadata } = file;
  const cluster = {
    ...live,
    metadata: {
      ...rest,
      labels: merged(fieldsOf(labels), fieldsOf(lastMetadata["labels"]), fieldsOf(metadata.labels)),
      annotations: merged(
        fieldsOf(annotations),
        fieldsOf(lastMetadata["annotations"]),
        fieldsOf(metadata.annotations),
      ),
    },
    spec: merged(fieldsOf(live.spec), fieldsOf(last["spec"]), fieldsOf(file.spec)),
  };
  const warnings =
    before === undefined
      ? [
          "the resource has no last-applied-configuration of kubectl apply: what is not in the file stays as it is",
        ]
      : [];
  return { cluster: cluster as unknown as FoundationDBCluster, warnings };
}

/** As the merge patch of kubectl: lists are taken whole, a null takes a field out. */
function merged(live: Fields, last: Fields, file: Fields): Fields {
  const kept = Object.entries(live).filter(([key]) => key in file || !(key in last));
  const result = new Map<string, unknown>(kept);
  for (const [key, value] of Object.entries(file)) {
    if (value === null) result.delete(key);
    else if (isFields(value)) {
      result.set(key, merged(fieldsOf(live[key]), fieldsOf(last[key]), value));
    } else result.set(key, value);
  }
  return Object.fromEntries(result);
}

/**
 * A picture that was saved has placeholders for what is secret. A file that has the real values there means no change.
 * Gives the file with the placeholders.
 */
export function withPlaceholders<T>(file: T, live: unknown): { value: T; count: number } {
  let count = 0;
  const walk = (value: unknown, known: unknown): unknown => {
    if (typeof value === "string" && typeof known === "string") {
      if (value === known || !known.includes(placeholderWord)) return value;
      count += 1;
      return known;
    }
    if (Array.isArray(value) && Array.isArray(known)) {
      return value.map((entry, index) => walk(entry, counterpart(entry, index, known)));
    }
    if (!isFields(value) || !isFields(known)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, walk(entry, known[key])]),
    );
  };
  return { value: walk(file, live) as T, count };
}

/** Entries with a name, and parameters, are known by it; others by their place. */
function counterpart(entry: unknown, index: number, known: readonly unknown[]): unknown {
  const name = nameOf(entry);
  if (name === undefined) return known[index];
  return known.find((other) => nameOf(other) === name);
}

function nameOf(entry: unknown): unknown {
  if (typeof entry === "string") return /^[^=]+(?==)/.exec(entry)?.[0];
  return isFields(entry) ? entry["name"] : undefined;
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
