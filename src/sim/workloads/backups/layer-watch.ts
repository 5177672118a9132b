// Follows what every database commits about its backups and restores: what was really started, where it goes, how it
// ended. Nothing of it comes from the operator or from a status. Rules: spec/world.md [W130], [W131].
import { layerFact } from "../../backup/backup-truth.ts";
import type { LayerFact } from "../../backup/backup-truth.ts";
import type { DatabaseInside } from "../../database/simulated-fdb.ts";
import type { World } from "../../world.ts";

/** A backup or a restore that was started in a database. */
export interface Started {
  readonly layer: LayerFact["layer"];
  readonly database: WatchedDatabase;
  readonly tag: string;
  readonly uid: string;
  /** Of the commit that made it. */
  readonly version: number;
  /** The container that it writes to or reads from. */
  container: string;
  /** The version that a restore goes to. */
  target: number | undefined;
  end: "completed" | "aborted" | undefined;
  /** When it reached the state in which it is now. */
  stateVersion: number;
}

export interface WatchedDatabase {
  /** Of the cluster that it was made for. */
  readonly cluster: string;
  readonly inside: DatabaseInside;
  /** Up to where its commits were looked at. */
  seenVersion: number;
  readonly started: Map<string, Started>;
}

export class LayerWatch {
  readonly databases: WatchedDatabase[] = [];
  readonly #world: World;
  readonly #onStart: (started: Started) => void;
  readonly #onContainer: (name: string, database: WatchedDatabase) => void;

  constructor(
    world: World,
    onStart: (started: Started) => void,
    onContainer: (name: string, database: WatchedDatabase) => void,
  ) {
    this.#world = world;
    this.#onStart = onStart;
    this.#onContainer = onContainer;
  }

  look(): void {
    const { fdb } = this.#world;
    for (const { description, connectionString, isConfigured } of fdb.truth.databases()) {
      const inside = isConfigured ? fdb.inside(connectionString) : undefined;
      if (inside === undefined) continue;
      if (this.databases.some((each) => each.inside.record === inside.record)) continue;
      const started = new Map<string, Started>();
      this.databases.push({ cluster: description, inside, seenVersion: 0, started });
    }
    for (const database of this.databases) this.#follow(database);
  }

  /** The newest database that was made for a cluster. */
  databaseOf(cluster: string): WatchedDatabase | undefined {
    return this.databases.findLast((database) => database.cluster === cluster);
  }

  #follow(database: WatchedDatabase): void {
    const { record } = database.inside;
    for (const { version, written } of record.between(database.seenVersion + 1, Infinity)) {
      database.seenVersion = version;
      const facts = [...written].flatMap(([key, value]) =>
        value === undefined ? [] : (layerFact(key, value) ?? []),
      );
      for (const fact of facts) this.#noteTag(database, fact, version);
      for (const fact of facts) this.#noteProperty(database, fact, version);
    }
  }

  #noteTag(database: WatchedDatabase, fact: LayerFact, version: number): void {
    if (fact.kind !== "tag" || database.started.has(fact.uid)) return;
    const { layer, tag, uid } = fact;
    const beginning = { container: "", target: undefined, end: undefined, stateVersion: version };
    const fresh: Started = { layer, database, tag, uid, version, ...beginning };
    database.started.set(uid, fresh);
    this.#onStart(fresh);
  }

  #noteProperty(database: WatchedDatabase, fact: LayerFact, version: number): void {
    const started = database.started.get(fact.uid);
    if (started === undefined) return;
    if (fact.kind === "target") started.target = fact.version;
    if (fact.kind === "state") {
      started.end = fact.end;
      started.stateVersion = version;
    }
    if (fact.kind !== "container") return;
    started.container = fact.name;
    if (fact.layer === "backup") this.#onContainer(fact.name, database);
  }
}

export function isActive({ end }: Started): boolean {
  return end === undefined;
}
