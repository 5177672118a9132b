// A cluster that its owner wants to be left alone (spec.skip): the only thing that is written is that it is so.
// Rules: spec/explain.md [E52].
import { conditionIn } from "../kube/condition.ts";
import type { ClusterStatus, FoundationDBCluster } from "../api/cluster.ts";
import { datedConditions } from "../plan/status/status-conditions.ts";

/** The status that says it; undefined when it is said already. */
export function pausedStatus(
  cluster: FoundationDBCluster,
  nowMs: number,
): ClusterStatus | undefined {
  const { conditions = [] } = cluster.status ?? {};
  const { generation = 0 } = cluster.metadata;
  const known = conditionIn(cluster.status, "Paused");
  if (known?.status === "True" && known.observedGeneration === generation) return undefined;
  const reconciled = cluster.status?.generations?.reconciled;
  const inForce =
    reconciled === undefined || reconciled === generation
      ? ""
      : `: generation ${reconciled} is in force, not ${generation}`;
  const message = `The operator leaves the cluster alone while spec.skip is true${inForce}`;
  const judgement = { status: "True", reason: "Skipped", message } as const;
  const paused = datedConditions(cluster, nowMs, { Paused: judgement });
  return {
    ...cluster.status,
    conditions: [...conditions.filter(({ type }) => type !== "Paused"), ...paused],
  };
}
