// Servers on disks with a database that have just started: they may be about to serve, and until they had their time
// the silence of the database says nothing. Rules: spec/adoption.md [ADO22].
import { isAdopting } from "../../api/adoption.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { ContainerStatus, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isTest } from "../../model/process-class.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "./cluster-view.ts";
import { betweenMs, plausibleTimeMs } from "./server-time.ts";

/** In which servers find each other on their disks and recover. */
const comingUpMs = 60_000;

/** A kubelet starts what ran shorter than this later and later: it ends again and again. */
const crashLoopMs = 600_000;

type View = Pick<Snapshot, "cluster" | "pods" | "memory" | "database" | "nowMs" | "serverAheadMs">;

/** Tells of a pod whose servers had too little time when the status was asked for, its own first; nobody's: undefined. */
export function youngServers(view: View): (pod: Stored<Pod>) => string | undefined {
  const { cluster, database, pods } = view;
  if (!isAdopting(cluster) || database.kind === "missing") return () => undefined;
  const { observedMs } = database;
  const isYoung = (pod: Stored<Pod>): boolean => observedMs - startMs(view, pod) < comingUpMs;
  const testers = new Set(
    (cluster.status?.processGroups ?? [])
      .filter(({ processClass }) => isTest(processClass))
      .map((group) => viewOf(view).of(group).podName),
  );
  // Silence is that of the whole database, which needs servers of all of them.
  const young = [...pods].find(
    ([name, pod]) =>
      !testers.has(name) &&
      pod.metadata.deletionTimestamp === undefined &&
      runs(pod) &&
      !isCrashLooping(mainOf(pod)) &&
      isYoung(pod),
  );
  return (pod) => {
    if (isYoung(pod)) return pod.metadata.name ?? "";
    return runs(pod) ? young?.[0] : undefined;
  };
}

/** Since when its servers may run, on our own clock; 0 when no clock that can be right says it. */
function startMs(view: View, pod: Stored<Pod>): number {
  const madeMs = plausibleTimeMs(view, pod.metadata.creationTimestamp) ?? 0;
  const startedMs = plausibleTimeMs(view, mainOf(pod)?.state?.running?.startedAt) ?? 0;
  return Math.max(madeMs, startedMs);
}

function mainOf({ status }: Stored<Pod>): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === mainContainerName);
}

/** What is not known to wait or to have ended counts as running. */
function runs(pod: Stored<Pod>): boolean {
  const state = mainOf(pod)?.state;
  return pod.status?.phase === "Running" && (state === undefined || state.running !== undefined);
}

/** It would hold the others with each start; one restart, as that of a node, is none. */
function isCrashLooping(main: ContainerStatus | undefined): boolean {
  const last = main?.lastState?.terminated;
  if (main === undefined || main.restartCount < 2 || last === undefined) return false;
  const ranMs = betweenMs(last.startedAt, last.finishedAt);
  return ranMs !== undefined && ranMs < crashLoopMs;
}
