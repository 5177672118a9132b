// Looks at maintenance windows: outside of them nothing begins that costs a database a recovery or takes a fault domain away from
// it, repairs excepted. The clock of the instance that acts tells the time. Rules: spec/windows.md [WIN16], [WIN26].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { maintenanceWindowsOf, urgentGeneration } from "../../api/maintenance-windows.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { openUntil } from "../../model/maintenance-windows.ts";
import { isProtocolCompatible, parseVersion } from "../../model/version.ts";

type Status = NonNullable<FoundationDBCluster["status"]>;
type ProcessGroup = NonNullable<Status["processGroups"]>[number];

/** Between the decision and the act, or the write that tells of it. */
const [delayMs, stepMs] = [20_000, 5_000];

export class WindowWatch {
  readonly #violated: (text: string) => void;
  readonly #clusters = new Map<string, FoundationDBCluster>();
  /** What the clocks of the instances show: one may be wrong. */
  times: () => readonly number[] = () => [];
  /** Whether something happened lately that may be a reason to act. */
  isDisturbed: () => boolean = () => false;
  /** Whether the pod of the process group serves, and its volume stays. */
  isWell: (cluster: FoundationDBCluster, group: ProcessGroup) => boolean = () => false;

  constructor(violated: (text: string) => void) {
    this.#violated = violated;
  }

  noteCluster(cluster: FoundationDBCluster): void {
    const name = cluster.metadata.name ?? "";
    const before = this.#clusters.get(name);
    this.#clusters.set(name, cluster);
    if (before === undefined || before.status?.configured !== true) return;
    // The windows may have come with this very write.
    if (this.#isOpen(before) || this.#isOpen(cluster)) return;
    for (const kind of ["processes", "configuration"] as const) {
      const begun = cluster.status?.begunWork?.[kind];
      if (begun !== undefined && begun !== before.status.begunWork?.[kind]) {
        this.#violated(`work of ${name} (${kind}) begins outside of its windows`);
      }
    }
    this.#checkMarks(before, cluster);
  }

  /** A command that costs a recovery. */
  checkCommand(command: string): void {
    for (const cluster of this.#clusters.values()) {
      if (this.#mayAct(cluster) || this.isDisturbed()) continue;
      this.#violated(`${command} outside of the windows of ${cluster.metadata.name}`);
    }
  }

  /** A pod that serves, of a process group that stays, is taken down. */
  checkDeletion(pod: Pod, owner: string): void {
    const podName = pod.metadata.name ?? "";
    const cluster = this.#clusters.get(owner);
    if (cluster === undefined || this.#mayAct(cluster) || this.isDisturbed()) return;
    if (cluster.spec.hibernate === true || isOnDrainedNode(cluster, podName)) return;
    if (isBetweenVersions(cluster, pod)) return;
    this.#violated(`pod ${podName} is taken down outside of the windows of ${owner}`);
  }

  #mayAct(cluster: FoundationDBCluster): boolean {
    if (cluster.status?.configured !== true || this.#isOpen(cluster)) return true;
    return cluster.status.begunWork !== undefined;
  }

  /** At this moment, or when what happens now was decided. */
  #isOpen({ metadata, spec }: FoundationDBCluster): boolean {
    const windows = maintenanceWindowsOf(spec);
    if (windows.length === 0) return true;
    if (metadata.annotations?.[urgentGeneration] === String(metadata.generation ?? 0)) return true;
    for (let agoMs = 0; agoMs <= delayMs; agoMs += stepMs) {
      const isOpen = (nowMs: number): boolean => openUntil(windows, nowMs - agoMs) !== undefined;
      if (this.times().some(isOpen)) return true;
    }
    return false;
  }

  #checkMarks(before: FoundationDBCluster, after: FoundationDBCluster): void {
    if (before.status?.begunWork !== undefined || this.isDisturbed()) return;
    const known = new Map(
      (before.status?.processGroups ?? []).map((group) => [group.processGroupID, group]),
    );
    for (const group of after.status?.processGroups ?? []) {
      const earlier = known.get(group.processGroupID);
      if (group.removalTimestamp === undefined || earlier?.removalTimestamp !== undefined) continue;
      if (earlier === undefined || hasTrouble(earlier) || hasTrouble(group)) continue;
      if (!this.isWell(after, group)) continue;
      this.#violated(`${group.processGroupID} is let go outside of the windows, and it serves`);
    }
  }
}

/** Names of pods have no prefix of an id. */
function isOnDrainedNode({ metadata, status }: FoundationDBCluster, podName: string): boolean {
  const id = podName.slice((metadata.name ?? "").length + 1);
  return (status?.processGroups ?? []).some(
    ({ processGroupID, processGroupConditions = [] }) =>
      processGroupID.endsWith(id) &&
      processGroupConditions.some(({ type }) => type === "NodeDraining"),
  );
}

/** Its programs are of a version that cannot talk with the one that runs: its upgrade began, whatever the status tells. */
function isBetweenVersions({ status }: FoundationDBCluster, { spec }: Pod): boolean {
  const main = (spec?.containers ?? []).find(({ name }) => name === "foundationdb");
  const tag = /:([^:/]+)$/.exec(main?.image ?? "")?.[1] ?? "";
  const own = parseVersion(tag.replace(/-.*$/, ""));
  const running = parseVersion(status?.runningVersion ?? "");
  return own !== undefined && running !== undefined && !isProtocolCompatible(own, running);
}

/** Conditions that only a roll-out has are no trouble. */
const inOrder: ReadonlySet<string> = new Set([
  "IncorrectPodSpec",
  "IncorrectPodMetadata",
  "IncorrectConfigMap",
  "IncorrectCommandLine",
  "IncorrectSidecarImage",
]);

function hasTrouble({ processGroupConditions = [] }: ProcessGroup): boolean {
  return processGroupConditions.some(({ type }) => type !== undefined && !inOrder.has(type));
}
