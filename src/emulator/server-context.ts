// What the server's parts share: the store, the kinds, and the machine's clock and chance as arguments.
import type { Clock } from "../env/clock.ts";
import type { Authorize } from "./authorization.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KindRegistry } from "./kind-registry.ts";
import type { JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import type { LogLine } from "./kubelet-log-ring.ts";
import type { NodeStreams } from "./kubelet-streams.ts";
import type { Store } from "./store.ts";

export interface ServerContext {
  readonly store: Store;
  readonly registry: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the addresses of services come from; see address-block.ts. */
  readonly addressBlock: number;
  /** What containers wrote; set by whoever runs the nodes. */
  logs?: ContainerLogs;
  /** The ways into running pods; set by whoever runs the nodes. */
  streams?: NodeStreams;
  /** Who may do what; everybody everything when absent. */
  authorize?: Authorize;
}

/** Undefined when there is no such container, or it has had no such run. */
export type ContainerLogs = (
  namespace: string,
  pod: string,
  container: string,
  options: { previous: boolean },
) => readonly LogLine[] | undefined;

/** What a write was asked with. */
export interface WriteOptions {
  isDryRun: boolean;
  /** The manager recorded in managedFields. */
  manager: string;
  fieldValidation: "Strict" | "Warn" | "Ignore";
  isForced: boolean;
  subresource: string;
  /** Collects the texts of Warning headers. */
  warnings: string[];
  /** Fields that appeared twice in the JSON text; only an HTTP server can see them. */
  duplicateFields: readonly string[];
}

export interface Target {
  kind: Kind;
  namespace: string;
  name: string;
}

/** The options of the server's own controllers. */
export function internalWrite(manager: string, subresource = ""): WriteOptions {
  return {
    ...{ isDryRun: false, manager, fieldValidation: "Ignore", isForced: false, subresource },
    ...{ warnings: [], duplicateFields: [] },
  };
}

const converted = new WeakMap<JsonObject, Map<Kind, JsonObject>>();

/** A stored object in the version of `kind`; made once per object and version. */
export function present(kind: Kind, stored: JsonObject): JsonObject {
  if (kind.fromStored === undefined) return stored;
  let versions = converted.get(stored);
  if (versions === undefined) {
    versions = new Map();
    converted.set(stored, versions);
  }
  let shown = versions.get(kind);
  if (shown === undefined) {
    shown = Object.freeze(kind.fromStored(stored));
    versions.set(kind, shown);
  }
  return shown;
}
