// Numbers about the operator's work, as Prometheus reads them: what it did, how it ended, how long it took. What can
// be read off the resources themselves is in metrics-cluster.ts. Rules: spec/explain.md [E30]-[E34].
import { MetricsRegistry } from "../env/metrics.ts";
import type { Counter, Histogram } from "../env/metrics.ts";
import { workMetrics } from "../model/metrics/operator.ts";
import type { Action } from "../plan/action.ts";
import { chain } from "../plan/chain.ts";
import { ProcessRestarts } from "./database-metrics/restarts.ts";
import type { DatedClusterPlan } from "./dated-plan.ts";
import type { DatabaseObservation } from "../plan/snapshot.ts";

/** A record, so that a new type of action cannot be forgotten. */
const actionTypes: Readonly<Record<Action["type"], true>> = {
  changeCoordinators: true,
  configureDatabase: true,
  copyToPod: true,
  createConfigMap: true,
  createDisruptionBudget: true,
  createNetworkPolicy: true,
  createPod: true,
  createPvc: true,
  createService: true,
  createVolumeReader: true,
  deleteDisruptionBudget: true,
  deleteNetworkPolicy: true,
  deletePods: true,
  deleteQuarantined: true,
  deleteService: true,
  deleteVolumeReader: true,
  excludeProcesses: true,
  fencePods: true,
  growPvc: true,
  includeProcesses: true,
  killProcesses: true,
  lowerLimits: true,
  migrateCoordination: true,
  patchPod: true,
  patchPvc: true,
  registerPendingUpgrade: true,
  releaseLock: true,
  removeProcessGroups: true,
  resetMaintenanceZone: true,
  resizePod: true,
  setFinalizer: true,
  updateConfigMap: true,
  updateCoordination: true,
  updateDenyList: true,
  updateDisruptionBudget: true,
  updateNetworkPolicy: true,
  updateMaintenanceList: true,
  updatePodImage: true,
  updateService: true,
  withdrawPendingUpgrade: true,
};

/** "outdated": the object was another one by the time of the write. */
const actionOutcomes = ["done", "failed", "refused", "outdated"] as const;
export type ActionResult = (typeof actionOutcomes)[number];

/** A step may have several places in the chain. */
const stepNames = [...new Set(chain.map((step) => step.name))];
const stepOutcomes = ["acted", "waited", "passed"] as const;
type StepSeries = { readonly step: string } & Readonly<
  Record<(typeof stepOutcomes)[number], { value: number }>
>;

/** The queues of the operator, by what is in them. */
const queueNames = ["clusters", "backups", "restores"] as const;
export type QueueName = (typeof queueNames)[number];

/** The counts that tests and benchmarks look at. */
export type Counters = Readonly<
  Record<
    | "passes"
    | "looks"
    | "passesFailed"
    | "actions"
    | "actionsFailed"
    | "actionsRefused"
    | "statusWrites"
    | "statusConflicts"
    | "invalidSpecs",
    number
  >
>;

type SeenDatabase = Extract<DatabaseObservation, { kind: "seen" }>;

export class OperatorMetrics {
  readonly registry = new MetricsRegistry();
  readonly #passes: Counter;
  readonly #passesFailed: Counter;
  readonly #looks: Counter;
  readonly #actions: Counter;
  readonly #statusWrites: Counter;
  readonly #invalidSpecs: Counter;
  /** Every pass counts in all steps, so their series are looked up once. */
  readonly #steps: readonly StepSeries[];
  readonly #duration: Histogram;
  readonly #queueWait: Histogram;
  readonly #recoveries: Counter;
  readonly #coordinatorChanges: Counter;
  /** By cluster: the generation of the last status. */
  readonly #generations = new Map<string, number>();
  /** By cluster. */
  readonly #restarts = new Map<string, ProcessRestarts>();

  constructor() {
    const { registry } = this;
    this.#passes = registry.counter(workMetrics.passes);
    this.#passesFailed = registry.counter(workMetrics.passesFailed);
    this.#looks = registry.counter(workMetrics.looks, { queue: queueNames });
    this.#duration = registry.histogram(workMetrics.duration);
    this.#queueWait = registry.histogram(workMetrics.queueWait, { queue: queueNames });
    this.#actions = registry.counter(workMetrics.actions, {
      type: Object.keys(actionTypes),
      outcome: actionOutcomes,
    });
    const steps = registry.counter(workMetrics.steps, { step: stepNames, outcome: stepOutcomes });
    this.#steps = stepNames.map((step) => ({
      step,
      acted: steps.series({ step, outcome: "acted" }),
      waited: steps.series({ step, outcome: "waited" }),
      passed: steps.series({ step, outcome: "passed" }),
    }));
    this.#statusWrites = registry.counter(workMetrics.statusWrites, {
      outcome: ["written", "conflict"],
    });
    this.#invalidSpecs = registry.counter(workMetrics.invalidSpecs);
    this.#recoveries = registry.counter(workMetrics.recoveries);
    this.#coordinatorChanges = registry.counter(workMetrics.coordinatorChanges);
  }

  passBegan(): void {
    this.#passes.add();
  }

  passEnded(durationMs: number): void {
    this.#duration.observe({}, durationMs / 1000);
  }

  looked(queue: QueueName, waitedMs: number): void {
    this.#looks.add({ queue });
    this.#queueWait.observe({ queue }, waitedMs / 1000);
  }

  passFailed(): void {
    this.#passesFailed.add();
  }

  statusWritten(outcome: "written" | "conflict"): void {
    this.#statusWrites.add({ outcome });
  }

  specRefused(): void {
    this.#invalidSpecs.add();
  }

  /** `cluster` is namespace and name. */
  actionEnded(cluster: string, action: Action, outcome: ActionResult): void {
    this.#actions.add({ type: action.type, outcome });
    const isChange =
      action.type === "changeCoordinators" ||
      (action.type === "excludeProcesses" && action.coordinators !== undefined);
    if (isChange && outcome === "done") this.#coordinatorChanges.add(labelsOf(cluster));
  }

  planned(plan: Pick<DatedClusterPlan, "actions" | "waits">): void {
    const acting = new Set(plan.actions.map((action) => action.step));
    const waiting = new Set(plan.waits.map((wait) => wait.step));
    for (const { step, acted, waited, passed } of this.#steps) {
      const series = acting.has(step) ? acted : waiting.has(step) ? waited : passed;
      series.value += 1;
    }
  }

  /** A database that recovered speaks of a higher generation. */
  observed(cluster: string, database: DatabaseObservation): void {
    const known = this.#generations.get(cluster);
    if (known === undefined) this.#begin(cluster);
    if (database.kind === "seen") this.#noteRestarts(cluster, database);
    const generation =
      database.kind === "seen" ? (database.status.cluster?.generation ?? 0) : (known ?? 0);
    if (known !== undefined && known > 0 && generation > known) {
      this.#recoveries.add(labelsOf(cluster));
    }
    this.#generations.set(cluster, Math.max(generation, known ?? 0));
  }

  /** Most restarts of one process of its database lately. */
  restartsOf(cluster: string, nowMs: number): number {
    return this.#restarts.get(cluster)?.most(nowMs) ?? 0;
  }

  forget(cluster: string): void {
    this.#generations.delete(cluster);
    this.#restarts.delete(cluster);
    this.#recoveries.remove(labelsOf(cluster));
    this.#coordinatorChanges.remove(labelsOf(cluster));
  }

  counters(): Counters {
    return {
      passes: this.#passes.total(),
      looks: this.#looks.total(),
      passesFailed: this.#passesFailed.total(),
      actions: this.#actions.total({ outcome: "done" }),
      actionsFailed: this.#actions.total({ outcome: "failed" }),
      actionsRefused: this.#actions.total({ outcome: "refused" }),
      statusWrites: this.#statusWrites.total({ outcome: "written" }),
      statusConflicts: this.#statusWrites.total({ outcome: "conflict" }),
      invalidSpecs: this.#invalidSpecs.total(),
    };
  }

  #noteRestarts(cluster: string, { status, observedMs }: SeenDatabase): void {
    const restarts = this.#restarts.get(cluster) ?? new ProcessRestarts();
    restarts.note(status, observedMs);
    this.#restarts.set(cluster, restarts);
  }

  /** The series of a cluster exist from its first pass. */
  #begin(cluster: string): void {
    this.#recoveries.add(labelsOf(cluster), 0);
    this.#coordinatorChanges.add(labelsOf(cluster), 0);
  }
}

function labelsOf(cluster: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = cluster.split("/");
  return { namespace, name };
}
