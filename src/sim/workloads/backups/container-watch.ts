// Looks at what lies in the object store: nothing that was promised to stay restorable goes by the operator's hand, neither
// inside of a retention, nor of the runs that a schedule keeps, nor what was never to be deleted. Rules: spec/world.md [W132].
import type { FoundationDBBackup } from "../../../api/backup.ts";
import { deletionPolicyOf, retentionOf } from "../../../api/effective-backup.ts";
import { containerTruth } from "../../backup/backup-truth.ts";
import type { ContainerTruth } from "../../backup/backup-truth.ts";
import type { ObjectStore } from "../../backup/object-store.ts";
import type { RunningCommand } from "./command-watch.ts";
import type { WatchedDatabase } from "./layer-watch.ts";

/** A command may begin so long after it was decided on: what was allowed then still is. */
const graceMs = 900_000;

/** On a backup: its name, when its data may be deleted although it is the last. */
export const deleteLastAnnotation = "foundationdb.org/delete-last-backup";

interface Container {
  readonly name: string;
  readonly database: WatchedDatabase;
  /** Everything that could be restored from here on stays restorable; undefined before anything could. */
  keptFrom: number | undefined;
  restorableTo: number;
  /** Somebody has asked for its deletion. */
  isGivenUp: boolean;
}

interface Wish {
  readonly atMs: number;
  /** Undefined when the resource is gone. */
  readonly backup: FoundationDBBackup | undefined;
}

export interface StoreView {
  readonly store: ObjectStore;
  readonly bucket: string;
  readonly nowMs: () => number;
  /** A command deletes it at this moment: it is judged when that has ended. */
  readonly isBeingDeleted: (container: string) => boolean;
  readonly violated: (text: string) => void;
}

export class ContainerWatch {
  readonly #view: StoreView;
  readonly #containers = new Map<string, Container>();
  /** What resources said, by their uid, the newest last. */
  readonly #wishes = new Map<string, Wish[]>();
  readonly #foreign = new Map<string, number>();

  constructor(view: StoreView) {
    this.#view = view;
  }

  /** Somebody else's data, which stays as it is. */
  noteForeign(name: string): void {
    this.#foreign.set(name, this.truthOf(name).objects);
  }

  noteBackup(backup: FoundationDBBackup | undefined, uid: string): void {
    const atMs = this.#view.nowMs();
    this.#wishes.set(uid, [...this.#recent(uid), { atMs, backup }]);
  }

  /** What was in force at some time of late. */
  #recent(uid: string): Wish[] {
    const known = this.#wishes.get(uid) ?? [];
    const sinceMs = this.#view.nowMs() - graceMs;
    return known.filter((_, index) => (known[index + 1]?.atMs ?? Infinity) >= sinceMs);
  }

  #wished(): FoundationDBBackup[] {
    return [...this.#wishes.keys()].flatMap((uid) =>
      this.#recent(uid).flatMap(({ backup }) => backup ?? []),
    );
  }

  /** A backup of the database writes there from now on. */
  noteContainer(name: string, database: WatchedDatabase): void {
    if (this.#containers.has(name)) return;
    const state = { keptFrom: undefined, restorableTo: 0, isGivenUp: false };
    this.#containers.set(name, { name, database, ...state });
  }

  /** The database that a container holds a backup of. */
  sourceOf(name: string): WatchedDatabase | undefined {
    return this.#containers.get(name)?.database;
  }

  truthOf(name: string): ContainerTruth {
    const { store, bucket } = this.#view;
    return containerTruth(store, bucket, name);
  }

  look(): void {
    for (const container of this.#containers.values()) this.#check(container);
    for (const [name, count] of this.#foreign) {
      if (this.truthOf(name).objects < count)
        this.#view.violated(`data of somebody else is gone: ${name}`);
    }
  }

  /** A command that deletes or expires has ended. */
  noteRemoval({ what, container: name }: RunningCommand): void {
    const container = this.#containers.get(name);
    if (container !== undefined && what === "fdbbackup delete") this.#checkDeletion(container);
    // Whoever writes there next may be another database.
    const isMeant = container?.isGivenUp === true || container?.keptFrom === undefined;
    if (isMeant && this.truthOf(name).objects === 0) this.#containers.delete(name);
    this.look();
  }

  #check(container: Container): void {
    const { name } = container;
    if (container.isGivenUp || this.#view.isBeingDeleted(name)) return;
    const { from, to } = this.truthOf(name);
    if (from === undefined || to === undefined) {
      if (container.keptFrom === undefined) return;
      return this.#view.violated(`nothing in ${name} can be restored any more`);
    }
    container.keptFrom ??= from;
    this.#letAge(container);
    if (from > container.keptFrom) {
      const lost = `versions from ${container.keptFrom} to ${from}`;
      this.#view.violated(`${lost} of ${name} were to stay restorable`);
    }
    if (to < container.restorableTo) {
      this.#view.violated(`${name} could be restored to ${container.restorableTo}, and no more`);
    }
    container.restorableTo = to;
  }

  /** What is older than the shortest retention of late need not stay. */
  #letAge(container: Container): void {
    const nowMs = this.#view.nowMs();
    for (const backup of this.#wished()) {
      const retention = retentionOf(backup.spec);
      if (retention === undefined || !isOf(backup, container.name)) continue;
      const since = container.database.inside.versionAt(nowMs - retention.restorableForMs);
      container.keptFrom = Math.max(container.keptFrom ?? 0, since);
    }
  }

  #checkDeletion(container: Container): void {
    if (container.isGivenUp || container.keptFrom === undefined) return;
    const all = this.#wished();
    const isWished = all.some((backup) => isCleanedUp(backup) && isOf(backup, container.name));
    const isSurplus = all.some((backup) => isBeyondKept(backup, container.name));
    if (!isWished && !isSurplus) {
      return this.#view.violated(`nobody asked for the deletion of ${container.name}`);
    }
    container.isGivenUp = true;
    if (!isSurplus) this.#checkSpare(container, all);
  }

  /** The last one that could be restored goes only when that was said. */
  #checkSpare(container: Container, all: readonly FoundationDBBackup[]): void {
    const isMeant = all.some(
      (backup) =>
        isOf(backup, container.name) &&
        backup.metadata.annotations?.[deleteLastAnnotation] === backup.metadata.name,
    );
    const spare = [...this.#containers.values()].find(
      (other) =>
        other.database.cluster === container.database.cluster &&
        !other.isGivenUp &&
        // It may have become restorable since the last look.
        (other.keptFrom ?? this.truthOf(other.name).to) !== undefined,
    );
    if (isMeant || spare !== undefined) return;
    this.#view.violated(`${container.name} was the last backup, and nobody said that it may go`);
  }
}

function isCleanedUp({ metadata, spec }: FoundationDBBackup): boolean {
  return metadata.deletionTimestamp !== undefined && deletionPolicyOf(spec) === "cleanup";
}

/** Whether a backup, or a run of its schedule, goes there: all of them go to one bucket. */
function isOf({ metadata, spec, status }: FoundationDBBackup, container: string): boolean {
  const own = spec.blobStoreConfiguration?.backupName ?? metadata.name;
  return own === container || (status?.runs ?? []).some((run) => run.backupName === container);
}

/** A run of a schedule with as many newer ones that succeeded as are to be kept. */
function isBeyondKept({ spec, status }: FoundationDBBackup, container: string): boolean {
  const { keepLast } = spec.schedule ?? {};
  const runs = status?.runs ?? [];
  const at = runs.findIndex(({ backupName }) => backupName === container);
  if (keepLast === undefined || at === -1) return false;
  // In the order in which they were made: with a clock that was ahead for a while, names and times tell another one.
  const newer = runs.slice(at + 1).filter(({ result }) => result === "Succeeded");
  return newer.length >= keepLast;
}
