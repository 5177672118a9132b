// What lies around the clusters of one namespace: pods, volume claims and events, watched while somebody looks at one of
// them. Rules: spec/web.md [WEB18], [WEB19].
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type { Random } from "../../env/random.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import { Reflector } from "../../kube/reflector.ts";
import * as resources from "../../kube/resource.ts";
import type { Resource, Stored } from "../../kube/resource.ts";

export interface WatchOptions {
  readonly client: KubeClient;
  /** Of this machine. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Objects of one kind, and why they cannot be shown. */
export interface Watched<T extends KubeObject> {
  /** Undefined until they were read. */
  list(): readonly T[] | undefined;
  /** In words, such as "pods: not allowed"; empty when they are current. */
  unread(): readonly string[];
  readonly reflector: Reflector<T>;
}

export function watched<T extends KubeObject>(
  { client, clock, random, log }: WatchOptions,
  what: string,
  resource: Resource<T>,
  more: { namespace?: string; keeps?: (object: T) => boolean } = {},
): Watched<T> {
  const reflector = new Reflector<T>({
    ...{ client, clock, random, log, resource, ...more, transform: withoutFieldLists },
  });
  return {
    reflector,
    list: () => (reflector.hasSynced ? reflector.list() : undefined),
    unread: () => {
      const { problem, problemReason, hasSynced } = reflector;
      if (problem === undefined) return hasSynced ? [] : [`${what}: not read yet`];
      const why = problemReason === "Forbidden" ? "not allowed" : problem;
      return [hasSynced ? `${what}: ${why}; shown as last seen` : `${what}: ${why}`];
    },
  };
}

/** Which fields somebody wrote is half of the size; when tells whether the operator has had time to read it. */
function withoutFieldLists<T extends KubeObject>(object: T): T {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const short = managedFields.map((entry) => {
    const { fieldsV1: _, ...rest } = entry;
    return rest;
  });
  return { ...object, metadata: { ...object.metadata, managedFields: short } };
}

/** Of other objects in the namespace nothing is told. */
const told: ReadonlySet<string> = new Set([
  ...["FoundationDBCluster", "FoundationDBBackup", "FoundationDBRestore"],
  ...["Pod", "PersistentVolumeClaim"],
]);

export class NamespaceWatch {
  readonly pods: Watched<Stored<Pod>>;
  readonly pvcs: Watched<Stored<PersistentVolumeClaim>>;
  readonly events: Watched<Stored<Event>>;
  readonly nodes: Watched<Stored<Node>>;
  /** The server has answered for the first time, or has refused. */
  readonly attempted: Promise<void>;
  readonly #ending = new AbortController();

  constructor(options: WatchOptions, namespace: string, nodes: Watched<Stored<Node>>) {
    this.pods = watched(options, "pods", resources.pods, { namespace });
    this.pvcs = watched(options, "volume claims", resources.persistentVolumeClaims, { namespace });
    this.events = watched(options, "events", resources.events, {
      namespace,
      keeps: ({ involvedObject }) => told.has(involvedObject.kind ?? ""),
    });
    this.nodes = nodes;
    const own = [this.pods, this.pvcs, this.events];
    for (const { reflector } of own) void reflector.start(this.#ending.signal);
    this.attempted = Promise.all([...own, nodes].map(({ reflector }) => reflector.attempted)).then(
      () => {},
    );
  }

  /** Until what it returns is called. */
  onChange(listener: () => void): () => void {
    const ends = [
      this.pods.reflector.onChange(listener),
      this.pvcs.reflector.onChange(listener),
      this.events.reflector.onChange(listener),
      this.nodes.reflector.onChange(listener),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  unread(): string[] {
    return [this.pods, this.pvcs, this.events, this.nodes].flatMap((one) => one.unread());
  }

  end(): void {
    this.#ending.abort();
  }
}
