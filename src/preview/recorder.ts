// Notes what happens in a world from one moment to another: what the operator does, what the database says meanwhile and
// what Kubernetes must hold. It watches and changes nothing, so that a copy and the world itself can be compared.
// Rule PV5.
import { foundationDbClusters } from "../api/cluster.ts";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import type { StoreEvent } from "../emulator/store.ts";
import { conditionIn } from "../kube/condition.ts";
import type { PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import type { RequestRecord } from "../kube/client.ts";
import { persistentVolumeClaims, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { coordinatorsOf } from "../model/connection-string.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import type { Activity } from "../operate/activity.ts";
import type { Wait } from "../operate/dated-plan.ts";
import type { Action } from "../plan/action.ts";
import { isSameJson } from "../plan/view/same-json.ts";
import type { World } from "../sim/world.ts";
import { addAmounts, amountsOfClaim, amountsOfPod, largerAmounts, noAmounts } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";

export interface Act {
  readonly atMs: number;
  readonly action: Action;
  readonly text: string;
}

export interface Tolerance {
  readonly data: number;
  readonly availability: number;
}

/** The parts of a cluster that a change can be told by. */
export interface ClusterFacts {
  /** Process groups that stay, by id: their class. */
  readonly processGroups: Readonly<Record<string, string>>;
  /** Process groups that are on their way out. */
  readonly leaving: readonly string[];
  readonly coordinators: readonly string[];
  readonly runningVersion: string;
}

/** How it ended: at rest, without anything left to do; waiting without anything to come; or at a limit. */
export type RunEnd = "rested" | "blocked" | "time" | "cpu";

/** What was written into the status, where that is all. */
interface StatusUpdate {
  readonly fields: readonly string[];
  readonly atMs: number;
  /** Another operator looked after the cluster until now. */
  readonly isTakenOver: boolean;
}

export interface RunRecord {
  readonly seed: number;
  readonly end: RunEnd;
  readonly startedMs: number;
  /** When the last thing happened. */
  readonly doneMs: number;
  readonly acts: readonly Act[];
  /** What was tried and did not succeed at first, with the reason. */
  readonly failures: readonly string[];
  /** Requests of the operator that change something, but for its own status and events. */
  readonly writes: readonly string[];
  readonly statusWrites: number;
  /** What the operator wrote of the status of the resource, if it did, and when it did last. */
  readonly statusUpdate?: StatusUpdate;
  /** What it waits for at the end. */
  readonly waits: readonly Wait[];
  readonly recoveries: readonly { readonly cause: string; readonly pauseMs: number }[];
  readonly copiedBytes: number;
  readonly tolerance: {
    readonly before: Tolerance | undefined;
    readonly lowest: Tolerance | undefined;
  };
  /** At the end no living process holds some of the data. */
  readonly isDataMissing: boolean;
  readonly before: ClusterFacts;
  readonly after: ClusterFacts;
  /** The most that there was at one time. */
  readonly amounts: { readonly before: Amounts; readonly most: Amounts };
  /** Pods that found no node, with what the scheduler said last. */
  readonly unscheduled: Readonly<Record<string, string>>;
}

const quietVerbs = new Set<string>(["get", "list", "watch"]);

export interface RecorderOptions {
  readonly world: World;
  readonly namespace: string;
  readonly name: string;
}

/** A database that does not serve for longer is not in a recovery: it is down. */
const outageMs = 60_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #pods = new Map<string, Amounts>();
  readonly #claims = new Map<string, Amounts>();
  #acts: Act[] = [];
  #failures: string[] = [];
  #writes: string[] = [];
  #statusWrites = 0;
  #statusWrittenMs = 0;
  #statusBefore: ClusterStatus | undefined;
  #waits: readonly Wait[] = [];
  #unscheduled: Record<string, string> = {};
  #startedMs = 0;
  #changedMs = 0;
  #before: ClusterFacts;
  #amountsBefore: Amounts = noAmounts;
  #amountsMost: Amounts = noAmounts;
  #toleranceBefore: Tolerance | undefined;
  #downSinceMs: number | undefined;
  #toleranceLowest: Tolerance | undefined;
  #recoveriesBefore = 0;
  #copiedBefore = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { store } = options.world.server.context;
    for (const object of store.list(`/${pods.plural}`, options.namespace)) this.#notePod(object);
    for (const object of store.list(`/${persistentVolumeClaims.plural}`, options.namespace)) {
      this.#noteClaim(object);
    }
    store.subscribeAll((event) => this.#onStore(event));
    this.#before = this.#facts();
    this.begin();
  }

  /** What happened before does not count. */
  begin(): void {
    this.#acts = [];
    this.#failures = [];
    this.#writes = [];
    this.#statusWrites = 0;
    this.#unscheduled = {};
    this.#startedMs = this.#options.world.clock.nowMs();
    this.#changedMs = this.#startedMs;
    this.#before = this.#facts();
    this.#statusBefore = this.cluster()?.status;
    this.#amountsBefore = this.#amounts();
    this.#amountsMost = this.#amountsBefore;
    const measures = this.#measures();
    this.#recoveriesBefore = measures?.recoveries.length ?? 0;
    this.#copiedBefore = measures?.copiedBytes ?? 0;
    this.#toleranceBefore = measures?.faultTolerance;
    this.#toleranceLowest = this.#toleranceBefore;
  }

  readonly onActivity = (activity: Activity): void => {
    const { namespace, name } = this.#options;
    if (activity.cluster !== `${namespace}/${name}`) return;
    if (activity.type === "waits") this.#waits = activity.waits;
    if (activity.type !== "action") return;
    const { atMs, action, text, error } = activity;
    if (error !== undefined) this.#failures.push(`${text}: ${error}`);
    else this.#acts.push({ atMs, action, text });
    this.#changedMs = this.#options.world.clock.nowMs();
    this.sample();
  };

  readonly onRequest = ({ verb, resource, subresource, name = "" }: RequestRecord): void => {
    if (quietVerbs.has(verb) || resource.plural === "events" || resource.plural === "leases")
      return;
    if (resource.plural === foundationDbClusters.plural && subresource === "status") {
      this.#statusWrites += 1;
      this.#statusWrittenMs = this.#options.world.clock.nowMs();
    } else this.#writes.push(`${verb} ${resource.plural} ${name}`.trim());
  };

  /** Looks at the database; called often. */
  sample(): void {
    const measures = this.#measures();
    if (measures === undefined) return;
    const { faultTolerance, isMoving, isServing } = measures;
    const nowMs = this.#options.world.clock.nowMs();
    if (isMoving || !isServing) this.#changedMs = nowMs;
    if (isServing) this.#downSinceMs = undefined;
    else this.#downSinceMs ??= nowMs;
    const isDown = this.#downSinceMs !== undefined && nowMs - this.#downSinceMs >= outageMs;
    const before = this.#toleranceLowest;
    const found = isDown
      ? // The status of a database that does not serve tells nothing.
        { data: measures.isDataMissing() ? -1 : (before?.data ?? 0), availability: -1 }
      : faultTolerance;
    if (found === undefined) return;
    this.#toleranceLowest = {
      data: Math.min(before?.data ?? found.data, found.data),
      availability: Math.min(before?.availability ?? found.availability, found.availability),
    };
  }

  get waits(): readonly Wait[] {
    return this.#waits;
  }

  /** When something happened last: an act, a change of a pod or claim, a movement of data, a recovery. */
  get changedMs(): number {
    return this.#changedMs;
  }

  cluster(): FoundationDBCluster | undefined {
    const { world, namespace, name } = this.#options;
    const key = `${foundationDbClusters.group}/${foundationDbClusters.plural}`;
    return world.server.context.store.get(key, namespace, name) as FoundationDBCluster | undefined;
  }

  record(seed: number, end: RunEnd): RunRecord {
    const measures = this.#measures();
    const recoveries = (measures?.recoveries ?? []).slice(this.#recoveriesBefore);
    return {
      ...{ seed, end, startedMs: this.#startedMs, doneMs: this.#changedMs },
      ...{ acts: this.#acts, failures: this.#failures, writes: this.#writes },
      ...{ statusWrites: this.#statusWrites, waits: this.#waits },
      ...(this.#statusWrites === 0 ? {} : { statusUpdate: this.#statusUpdate() }),
      recoveries: recoveries.map(({ cause, stalledSinceMs, acceptedMs }) => ({
        cause,
        pauseMs: (acceptedMs ?? this.#options.world.clock.nowMs()) - stalledSinceMs,
      })),
      copiedBytes: (measures?.copiedBytes ?? 0) - this.#copiedBefore,
      isDataMissing: measures?.isDataMissing() ?? false,
      tolerance: { before: this.#toleranceBefore, lowest: this.#toleranceLowest },
      ...{ before: this.#before, after: this.#facts() },
      amounts: { before: this.#amountsBefore, most: this.#amountsMost },
      unscheduled: this.#unscheduled,
    };
  }

  #measures() {
    return this.#options.world.fdb.measures()[0];
  }

  #facts(): ClusterFacts {
    const { status } = this.cluster() ?? {};
    return factsOf(status);
  }

  #statusUpdate(): StatusUpdate {
    const before: Readonly<Record<string, unknown>> = { ...this.#statusBefore };
    const after: Readonly<Record<string, unknown>> = { ...this.cluster()?.status };
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const fields = [...names].filter((name) => !isSameJson(before[name], after[name])).toSorted();
    // This operator writes conditions with everything else: a status without them is another's.
    const isTakenOver = before["conditions"] === undefined;
    return { fields, atMs: this.#statusWrittenMs, isTakenOver };
  }

  #amounts(): Amounts {
    return addAmounts([...this.#pods.values(), ...this.#claims.values()]);
  }

  #onStore({ type, storageKey, namespace, name, object }: StoreEvent): void {
    if (namespace !== this.#options.namespace) return;
    const isPod = storageKey === `/${pods.plural}`;
    if (!isPod && storageKey !== `/${persistentVolumeClaims.plural}`) return;
    this.#changedMs = this.#options.world.clock.nowMs();
    if (type === "DELETED") (isPod ? this.#pods : this.#claims).delete(name);
    else if (isPod) this.#notePod(object);
    else this.#noteClaim(object);
    this.#amountsMost = largerAmounts(this.#amountsMost, this.#amounts());
  }

  #notePod(object: unknown): void {
    const pod = object as Stored<Pod>;
    const { name = "" } = pod.metadata;
    this.#pods.set(name, amountsOfPod(pod));
    const scheduled = conditionIn(pod.status, "PodScheduled");
    if (scheduled?.status === "False") this.#unscheduled[name] = scheduled.message ?? "";
  }

  #noteClaim(object: unknown): void {
    const claim = object as Stored<PersistentVolumeClaim>;
    this.#claims.set(claim.metadata.name ?? "", amountsOfClaim(claim));
  }
}

function factsOf(status: ClusterStatus | undefined): ClusterFacts {
  const staying = (status?.processGroups ?? []).filter((group) => !isMarkedForRemoval(group));
  const sorted = staying.toSorted((left, right) =>
    left.processGroupID < right.processGroupID ? -1 : 1,
  );
  return {
    processGroups: Object.fromEntries(
      sorted.map(({ processGroupID, processClass }) => [processGroupID, processClass]),
    ),
    leaving: (status?.processGroups ?? [])
      .filter(isMarkedForRemoval)
      .map(({ processGroupID }) => processGroupID)
      .toSorted(),
    coordinators: coordinatorsOf(status?.connectionString ?? "").toSorted(),
    runningVersion: status?.runningVersion ?? "",
  };
}
