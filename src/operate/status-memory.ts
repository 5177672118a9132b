// What is remembered of earlier statuses of one database: the last two that told everything, and where the processes of
// other instances were, so that their loss is noticed, what our own may hold, where they reported, since when coordinators
// are missing, and when the database served. Rules: spec/safety.md [S35], [S47], [S48], [S68], [S162]-[S165], [S167], [S168], [S170], [S171],
// spec/restart.md [T11], spec/adoption.md [ADO24].
import type { Clock } from "../env/clock.ts";
import { isAvailable } from "../model/availability.ts";
import { localityKeys, localityOf, processesByInstance, processesOf } from "../model/locality.ts";
import type { StatusProcess } from "../model/database-status.ts";
import { isTest } from "../model/process-class.ts";
import { hasReported, isExcluded } from "../model/process-group.ts";
import { missingCoordinators } from "../plan/coordinators/coordinator-validity.ts";
import { statusGap } from "../plan/safety/evidence.ts";
import { noteRoles } from "../plan/safety/role-history.ts";
import type { RoleHistories } from "../plan/safety/role-history.ts";
import { groupsOf, knownDeadAddresses, processKey } from "../plan/safety/view.ts";
import type { SafetyView } from "../plan/safety/view.ts";
import type { DatabaseObservation, ReportedPlace, SeenStatus } from "../plan/snapshot.ts";
import { noNeighbours, UnshownNeighbours } from "./neighbours.ts";
import type { Neighbours } from "./neighbours.ts";

/** By then FoundationDB has repaired what it lost, and its own figures tell the rest. */
const memoryMs = 600_000;

interface ForeignProcess {
  zone: string;
  /** When the first status was asked for that does not show it; nobody knows how long before it went. */
  missingMs?: number;
}

interface KnownPlace extends ReportedPlace {
  /** The database counts on it, so that it leaves the status of the resource only when that is lost. */
  isCounted: boolean;
}

export class StatusMemory {
  readonly #clock: Pick<Clock, "steppedMs">;
  readonly #gapMs: number;
  #statuses: readonly SeenStatus[] = [];
  #watchedSinceMs: number | undefined;
  #heardSinceMs: number | undefined;
  #heardMs: number | undefined;
  #servedMs: number | undefined;
  #missingGroups: ReadonlyMap<string, number> = new Map();
  #resourceUid: string | undefined;
  #places: ReadonlyMap<string, KnownPlace> = new Map();
  /** When they were last looked at: what was not listed then is forgotten. */
  #placesMs: number | undefined;
  readonly #foreign = new Map<string, ForeignProcess>();
  readonly #unshown = new UnshownNeighbours();
  #histories: RoleHistories = new Map();
  #missingCoordinators: ReadonlyMap<string, number> = new Map();

  /** What happened between two statuses that are further apart than `gapMs` is not known. */
  constructor(clock: Pick<Clock, "steppedMs">, gapMs: number) {
    this.#clock = clock;
    this.#gapMs = gapMs;
  }

  /** The newest first, at most two. */
  get statuses(): readonly SeenStatus[] {
    return this.#statuses;
  }

  /** When the first complete status of an unbroken watch was asked for. */
  get watchedSinceMs(): number | undefined {
    return this.#movedIfAny(this.#watchedSinceMs);
  }

  /** When the first status of an unbroken watch was asked for that was answered, whatever it says. */
  get heardSinceMs(): number | undefined {
    return this.#movedIfAny(this.#heardSinceMs);
  }

  /** When the newest status was asked for in which the database serves. */
  get servedMs(): number | undefined {
    return this.#movedIfAny(this.#servedMs);
  }

  /** Our own process groups of which the newest complete status shows no process, with the time of the first in a row. */
  get missingGroups(): ReadonlyMap<string, number> {
    return new Map([...this.#missingGroups].map(([id, sinceMs]) => [id, this.#moved(sinceMs)]));
  }

  /** Where our own process groups reported, also for a while after the status of the resource has forgotten them. */
  get reportedPlaces(): ReadonlyMap<string, ReportedPlace> {
    return this.#places;
  }

  /** What statuses have shown of our own process groups. */
  get histories(): RoleHistories {
    return this.#histories;
  }

  /** Coordinators that the newest status shows as missing, with the time of the first one that did so in a row. */
  get missingCoordinators(): ReadonlyMap<string, number> {
    return this.#missingCoordinators;
  }

  /** Nobody looks for a while: what goes meanwhile is as unknown as what went before the start. */
  lookAway(): void {
    this.#heardSinceMs = undefined;
    this.#endWatch();
  }

  #endWatch(): void {
    this.#watchedSinceMs = undefined;
    this.#missingGroups = new Map();
  }

  /**
   * Takes in an observation; one that is known already changes nothing. `neighbours` is asked for complete ones alone. False
   * when it comes after a gap, so that the watch begins anew.
   */
  note(
    latest: DatabaseObservation,
    view: Pick<SafetyView, "cluster" | "pods" | "memory">,
    neighbours: (processes: readonly StatusProcess[]) => Neighbours = () => noNeighbours,
  ): boolean {
    const before = this.#statuses[0]?.observedMs;
    if (latest.kind !== "seen" || latest.observedMs === before) return true;
    const { kind: _kind, ...seen } = latest;
    this.#noteHeard(seen);
    if (isAvailable(seen.status)) this.#servedMs = seen.observedMs;
    this.#notePlaces(view, seen.observedMs);
    this.#noteCoordinators(seen, view);
    const gap = statusGap(seen.status, knownDeadAddresses(view), view.memory);
    const isComplete = gap === undefined;
    this.#histories = noteRoles(this.#histories, { ...seen, isComplete }, view);
    if (!isComplete) return true;
    const isWatched = !this.#isGap(before, seen.observedMs);
    if (!isWatched) this.#endWatch();
    // After a clock was set back, the watch begins anew.
    this.#watchedSinceMs = Math.min(this.#watchedSinceMs ?? Infinity, seen.observedMs);
    this.#statuses = [seen, ...this.#statuses].slice(0, 2);
    this.#noteGroups(seen, view);
    this.#noteForeign(latest, view, neighbours(view.memory.once(processesOf, seen.status)));
    return isWatched;
  }

  #noteHeard({ observedMs }: SeenStatus): void {
    if (this.#isGap(this.#heardMs, observedMs)) this.#heardSinceMs = undefined;
    this.#heardSinceMs ??= observedMs;
    this.#heardMs = observedMs;
  }

  /** Also one in which the clock was set or the machine slept: what went on meanwhile is not known either. */
  #isGap(beforeMs: number | undefined, observedMs: number): boolean {
    return beforeMs !== undefined && observedMs - beforeMs > this.#gapMs;
  }

  /**
   * Fault domains in which a process of another instance reported lately, or by what it says, and does not any more; and those
   * of our own process groups that a lost status has forgotten.
   */
  lostZones(nowMs: number): ReadonlyMap<string, string> {
    const lost = new Map<string, string>();
    const note = (key: string, { zone, missingMs }: ForeignProcess): void => {
      if (missingMs === undefined || nowMs - this.#moved(missingMs) > memoryMs) return;
      if (!lost.has(zone)) lost.set(zone, `${key} does not report`);
    };
    for (const [key, process] of this.#foreign) note(key, process);
    for (const [id, group] of this.#unshown) note(id, group);
    for (const [id, zone] of this.#forgottenZones(nowMs)) {
      if (!lost.has(zone)) lost.set(zone, `the status of the resource has lost ${id}`);
    }
    return lost;
  }

  /**
   * Nothing of them may be left to be found again by, as when somebody deleted pod and claim. That the database still lists a
   * process says nothing: it notices seconds later that one is gone.
   */
  *#forgottenZones(nowMs: number): IterableIterator<[id: string, zone: string]> {
    for (const [id, { isCounted, listedMs, faultDomain }] of this.#places) {
      if (!isCounted || listedMs === this.#placesMs) continue;
      if (nowMs - this.#moved(listedMs) <= memoryMs) yield [id, faultDomain ?? id];
    }
  }

  /** A time that was noted, by the clock as it is set now: a step of it ends nothing that is remembered. */
  #moved(notedMs: number): number {
    return notedMs + this.#clock.steppedMs(notedMs);
  }

  #movedIfAny(notedMs: number | undefined): number | undefined {
    return notedMs === undefined ? undefined : this.#moved(notedMs);
  }

  /** A database that does not serve tells nothing about single coordinators. */
  #noteCoordinators(
    { status, observedMs }: SeenStatus,
    view: Pick<SafetyView, "cluster" | "memory">,
  ): void {
    if (!isAvailable(status)) return;
    if (status.unreadable !== undefined) return;
    const before = this.#missingCoordinators;
    const missing = missingCoordinators(view, status, view.cluster.status?.connectionString ?? "");
    this.#missingCoordinators = new Map(
      missing.map((address) => [address, before.get(address) ?? observedMs]),
    );
  }

  /** Those of a resource that was deleted and created again say nothing about it. */
  #notePlaces({ cluster }: Pick<SafetyView, "cluster">, observedMs: number): void {
    const { uid } = cluster.metadata;
    const before = uid === this.#resourceUid ? [...this.#places] : [];
    const kept = before.filter(
      ([, { listedMs }]) => Math.abs(observedMs - this.#moved(listedMs)) <= memoryMs,
    );
    const places = new Map(kept);
    for (const group of groupsOf({ cluster })) {
      if (!hasReported(group)) continue;
      const { processGroupID, faultDomain, firstReported } = group;
      const isCounted = !isExcluded(group) && !isTest(group.processClass);
      places.set(processGroupID, { faultDomain, firstReported, listedMs: observedMs, isCounted });
    }
    this.#resourceUid = uid;
    this.#places = places;
    this.#placesMs = observedMs;
  }

  #noteGroups(
    { status, observedMs }: SeenStatus,
    view: Pick<SafetyView, "cluster" | "memory">,
  ): void {
    const before = this.#missingGroups;
    const reporting = processesByInstance(view, status);
    const missing = groupsOf(view).filter((group) => !reporting.has(group.processGroupID));
    this.#missingGroups = new Map(
      missing.map(({ processGroupID: id }) => [
        id,
        Math.min(before.get(id) ?? Infinity, observedMs),
      ]),
    );
  }

  #noteMissing(key: string, observedMs: number): void {
    const known = this.#foreign.get(key);
    if (known === undefined) return;
    known.missingMs ??= observedMs;
    if (observedMs - this.#moved(known.missingMs) > memoryMs) this.#foreign.delete(key);
  }

  #noteForeign(
    seen: SeenStatus,
    view: Pick<SafetyView, "cluster" | "memory">,
    neighbours: Neighbours,
  ): void {
    const own = new Set(groupsOf(view).map((group) => group.processGroupID));
    const missing = new Set(this.#foreign.keys());
    const processes = view.memory.once(processesOf, seen.status);
    this.#unshown.note(processes, seen.observedMs, neighbours, own);
    for (const process of processes) {
      const key = processKey(process);
      const isOwn = own.has(localityOf(process, localityKeys.instance));
      if (isOwn || process.excluded === true || isTest(process.class_type ?? "")) {
        this.#foreign.delete(key);
        continue;
      }
      const zone = localityOf(process, localityKeys.zone);
      this.#foreign.set(key, { zone });
      missing.delete(key);
    }
    for (const key of missing) this.#noteMissing(key, seen.observedMs);
  }
}
