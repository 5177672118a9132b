// The one door for danger: every act that can take something away from a database is checked here against the newest
// evidence, performed here, and written down; or it is refused with a reason.
// Rules: spec/operate.md [OP20]-[OP23], spec/safety.md [S70]-[S86], [S90]-[S95], [S107], spec/run.md [RUN20], [RUN21].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Clock } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import { isFdbError } from "../fdb/error.ts";
import { hasTimeLeft } from "../fdb/lock.ts";
import type { LockLease, LockSettings } from "../fdb/lock.ts";
import type { SharedKeys } from "../fdb/shared-keys.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { ServerClock } from "../kube/server-clock.ts";
import { persistentVolumeClaims } from "../kube/resource.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { takesNothing } from "../plan/action.ts";
import type { DisruptiveAction } from "../plan/action.ts";
import { doorRefusal } from "../plan/safety/door-refusal.ts";
import { ownObservation } from "../plan/safety/foreign-database.ts";
import { refusal } from "../plan/safety/refusal.ts";
import type { Refusal } from "../plan/safety/refusal.ts";
import { claimsOfPods } from "../plan/safety/volumes.ts";
import type { SafetyView } from "../plan/safety/view.ts";
import type { Caches } from "./caches.ts";
import { awaitExclusion, carryOut } from "./disruptive-effects.ts";
import type { Doubts } from "./doubts.ts";
import type { Ledger } from "./ledger.ts";
import { firstStage, nextStage } from "./shared-stages.ts";
import type { Progress, Stage, StageTools } from "./shared-stages.ts";

export interface GuardOptions {
  client: KubeClient;
  caches: Caches;
  clock: Clock;
  serverClock: Pick<ServerClock, "aheadMs">;
  /** Time limit of a command to the database. */
  commandTimeoutMs: number;
  /** Time limit of a status. */
  statusTimeoutMs: number;
  /** Of an act that other instances could interfere with. */
  stages: readonly Stage[];
  /** How long we are certainly the only instance that works; for ever when absent. */
  remainingTermMs?: () => number;
  /** Makes the term long enough while an act is under way; absent where nobody else could work. */
  term?: { during<T>(act: () => Promise<T>): Promise<T> };
  /** Another operator works on the resource by now; never when absent. */
  isTakenOver?: (cluster: FoundationDBCluster) => boolean;
}

/** What the guard must know about the database whose pods and settings are at stake. */
export interface GuardedDatabase {
  readonly namespace: string;
  readonly admin: AdminClient | undefined;
  /** The time of our own last disruptive write to this database; the guard keeps it current. */
  lastWriteMs: number;
  readonly ledger: Ledger;
  /** What our own writes may have changed without our knowledge. */
  readonly doubts: Doubts;
  /** An act is under way; at most one at a time, also over all resources that share the database. */
  isActing: boolean;
  /** What is known at this moment; undefined when the resource is gone. */
  readonly observe: () => SafetyView | undefined;
  /** Takes in a status that was asked for here, so that all who look next see it. */
  readonly noteStatus: (status: DatabaseStatus, observedMs: number) => void;
  /** The same database as other resources look after it. */
  readonly peers: () => readonly GuardedDatabase[];
  /** The keys that the instances share, and who we are among them. */
  readonly shared: () => { keys: SharedKeys; settings: LockSettings } | undefined;
  /** The lock as it was taken last. */
  lease: LockLease | undefined;
}

export type GuardOutcome = { isPerformed: true } | { isPerformed: false; refusal: Refusal };

export class Guard {
  readonly #options: GuardOptions;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Resolves when no act is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Throws only when the write itself failed. */
  async perform(database: GuardedDatabase, action: DisruptiveAction): Promise<GuardOutcome> {
    const { term } = this.#options;
    const act = (): Promise<GuardOutcome> => this.#perform(database, action);
    return term === undefined ? act() : term.during(act);
  }

  async #perform(database: GuardedDatabase, action: DisruptiveAction): Promise<GuardOutcome> {
    const isHarmless = takesNothing(action);
    if (!isHarmless && [database, ...database.peers()].some((each) => each.isActing)) {
      return refused(refusal("ActInFlight", "another act is under way"));
    }
    const first = this.#refusal(database, action);
    if (first !== undefined) return refused(first);
    if (isHarmless) {
      const late = await this.#volumeRefusal(database, action);
      if (late !== undefined) return refused(late);
      return this.#carryOut(database, action, undefined);
    }
    database.isActing = true;
    const act = this.#act(database, action);
    this.#underWay.add(act);
    try {
      return await act;
    } finally {
      this.#underWay.delete(act);
      database.isActing = false;
    }
  }

  /** Whether our term outlasts a command, so that no other instance can act before it has ended. */
  #isTermLongEnough(): boolean {
    const { remainingTermMs, commandTimeoutMs } = this.#options;
    return remainingTermMs === undefined || remainingTermMs() >= commandTimeoutMs;
  }

  /** Resolves when the targets hold nothing any more; they must be excluded already, so this changes nothing. */
  async verifyExclusion(
    database: GuardedDatabase,
    targets: readonly string[],
    timeoutMs: number,
  ): Promise<void> {
    const excluded = new Set(exclusionsIn(database.observe()));
    const missing = targets.filter((target) => !excluded.has(target));
    if (database.admin === undefined) throw new Error("there is no connection to the database");
    if (missing.length > 0) throw new Error(`${missing.join(", ")} is not excluded`);
    await awaitExclusion(database.admin, targets, timeoutMs);
  }

  async #act(database: GuardedDatabase, action: DisruptiveAction): Promise<GuardOutcome> {
    let progress: Progress = firstStage(this.#options.stages, action);
    while (progress.stage !== "act") {
      const tools = this.#stageTools(database, action);
      if (tools === undefined) return refused(unconnected);
      const isLocking = progress.stage === "lock";
      const next = await nextStage(tools, action, progress);
      if (next.stage === "refused") return refused(next.refusal);
      progress = next;
      database.lease = next.lease;
      // Time has passed since the first look.
      const second = isLocking ? this.#refusal(database, action) : undefined;
      if (second !== undefined) return refused(second);
    }
    const lapse = await this.#lapse(database, action);
    if (lapse !== undefined) return refused(lapse);
    const late = await this.#volumeRefusal(database, action);
    if (late !== undefined) return refused(late);
    return this.#carryOut(database, action, progress.lease);
  }

  /** A status is seconds old when it is read, and somebody may have taken back an exclusion since it was asked for. */
  async #lapse(database: GuardedDatabase, action: DisruptiveAction): Promise<Refusal | undefined> {
    if (action.type !== "removeProcessGroups") return undefined;
    if (action.groups.every(({ proof }) => proof !== "certificate")) return undefined;
    if (database.admin === undefined) return unconnected;
    let excluded: ReadonlySet<string>;
    try {
      excluded = new Set(await database.admin.excluded(this.#options.commandTimeoutMs));
    } catch (error) {
      if (!isFdbError(error)) throw error;
      return refusal("DatabaseUnreachable", `the database does not answer: ${error.message}`);
    }
    const lifted = exclusionsIn(database.observe()).filter((target) => !excluded.has(target));
    if (lifted.length === 0) return this.#refusal(database, action);
    return refusal(
      "CertificateMissing",
      `somebody has just taken back the exclusion of ${lifted[0]}`,
    );
  }

  /** Our copy of a claim may be older than its deletion, so the API server itself is asked before a pod goes. */
  async #volumeRefusal(
    database: GuardedDatabase,
    action: DisruptiveAction,
  ): Promise<Refusal | undefined> {
    if (action.type === "deleteQuarantined") return this.#quarantineRefusal(database, action);
    if (action.type !== "deletePods") return undefined;
    const view = database.observe();
    const names = view === undefined ? [] : claimsOfPods(view, action);
    if (names.length === 0) return undefined;
    const live = await this.#liveClaims(database, names, view?.pvcs);
    const newest = database.observe();
    if (newest === undefined) return gone;
    // The server itself has just told of these claims, whatever keeps our copy from being up to date.
    return doorRefusal({ ...newest, pvcs: live, claimsProblem: undefined }, action);
  }

  /** The answers tell the time of the API server, so that a step of our own clock ends no quarantine. */
  async #quarantineRefusal(
    database: GuardedDatabase,
    action: DisruptiveAction & { type: "deleteQuarantined" },
  ): Promise<Refusal | undefined> {
    const names = action.claims.map(({ name }) => name);
    const quarantined = await this.#liveClaims(database, names);
    const newest = database.observe();
    return newest === undefined ? gone : doorRefusal({ ...newest, quarantined }, action);
  }

  /** The known claims, with these as the API server has them now. */
  async #liveClaims(
    database: GuardedDatabase,
    names: readonly string[],
    known: SafetyView["pvcs"] = new Map(),
  ): Promise<SafetyView["pvcs"]> {
    const live = new Map(known);
    for (const name of names) {
      const key = { namespace: database.namespace, name };
      try {
        live.set(name, await this.#options.client.get(persistentVolumeClaims, key));
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
        live.delete(name);
      }
    }
    return live;
  }

  #stageTools(database: GuardedDatabase, action: DisruptiveAction): StageTools | undefined {
    const shared = database.shared();
    const { admin } = database;
    if (shared === undefined || admin === undefined) return undefined;
    const { clock, stages, commandTimeoutMs: timeoutMs, statusTimeoutMs } = this.#options;
    const settings = { ...shared.settings, previous: database.lease };
    const statusAskedMs = (): number | undefined => {
      const newest = database.observe()?.database;
      return newest?.kind === "seen" ? newest.observedMs : undefined;
    };
    const check = (status: DatabaseStatus, observedMs: number): Refusal | undefined => {
      database.noteStatus(status, observedMs);
      const view = database.observe();
      if (view === undefined) return gone;
      const newest = ownObservation(view, { kind: "seen", status, observedMs });
      return doorRefusal({ ...view, database: newest }, action);
    };
    return {
      ...{ keys: shared.keys, settings, clock, admin, stages },
      ...{ timeoutMs, statusTimeoutMs, statusAskedMs, check },
    };
  }

  #refusal(database: GuardedDatabase, action: DisruptiveAction): Refusal | undefined {
    if (!this.#isTermLongEnough()) {
      return refusal("NotLeading", "another instance may have taken over");
    }
    const view = database.observe();
    if (view === undefined) return gone;
    if (this.#options.isTakenOver?.(view.cluster) === true) return takenOver;
    if (needsConnection(action) && database.admin === undefined) {
      return unconnected;
    }
    return doorRefusal(view, action);
  }

  async #carryOut(
    database: GuardedDatabase,
    action: DisruptiveAction,
    lease: LockLease | undefined,
  ): Promise<GuardOutcome> {
    const { client, caches, clock, commandTimeoutMs } = this.#options;
    const { namespace, admin, ledger, doubts } = database;
    const view = database.observe();
    if (view === undefined) return refused(gone);
    const isHarmless = takesNothing(action);
    const record = isHarmless ? undefined : ledger.begin(view, action, clock.nowMs());
    const shared = database.shared()?.keys;
    const { isTakenOver } = this.#options;
    const mayGoOn = (): boolean =>
      this.#isTermLongEnough() &&
      isTakenOver?.(view.cluster) !== true &&
      (lease === undefined || hasTimeLeft(lease, clock.nowMs(), commandTimeoutMs));
    const tools = {
      client,
      caches,
      clock,
      cluster: view.cluster,
      serverNowMs: (): number => clock.nowMs() + this.#options.serverClock.aheadMs,
      namespace,
      doubts,
      admin,
      shared,
      lease,
      commandTimeoutMs,
      mayGoOn,
    };
    try {
      await carryOut(tools, action);
      return { isPerformed: true };
    } catch (error) {
      const isNothing = isKubeError(error, "Conflict") && record?.entry.podUids.length === 1;
      if (record !== undefined) {
        record.problem = error instanceof Error ? error.message : String(error);
        if (isNothing) ledger.forget(record);
      }
      throw error;
    } finally {
      // A command that failed may have been carried out all the same, so its time counts too.
      if (record !== undefined) {
        database.lastWriteMs = clock.nowMs();
        ledger.end(record, clock.nowMs());
      }
    }
  }
}

const gone = refusal("EvidenceStale", "the resource is gone");
const takenOver = refusal("NotLeading", "another operator works on the resource");
const unconnected = refusal("DatabaseUnreachable", "there is no connection to the database");

/** As the newest status lists them. */
function exclusionsIn(view: SafetyView | undefined): string[] {
  const status = view?.database.kind === "seen" ? view.database.status : undefined;
  const servers = status?.cluster?.configuration?.excluded_servers ?? [];
  return servers.flatMap(({ address, locality }) => address ?? locality ?? []);
}

function refused(reason: Refusal): GuardOutcome {
  return { isPerformed: false, refusal: reason };
}

function needsConnection(action: DisruptiveAction): boolean {
  if (action.type === "deletePods") return action.maintenance !== undefined;
  return !["fencePods", "removeProcessGroups", "deleteQuarantined"].includes(action.type);
}
