// Taints of nodes that a user named as reasons to move: noted on the process group, and after a while taken as a
// reason to replace it. Rules: spec/removal.md [R1]-[R4].
import { leastOf } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  addCondition,
  conditionOf,
  hasCondition,
  removeCondition,
} from "../../model/process-group.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { Snapshot } from "../snapshot.ts";

export interface TaintOption {
  readonly key: string;
  readonly durationInSeconds: number;
}

interface Match {
  /** When the taint was set, as far as the node tells. */
  addedMs: number | undefined;
  durationSeconds: number;
}

/** Without a look at the node nothing new is said; a taint that goes takes both conditions with it. */
export function withTaints(
  group: ProcessGroup,
  node: Stored<Node> | undefined,
  options: readonly TaintOption[],
  { nowMs, serverAheadMs }: Pick<Snapshot, "nowMs" | "serverAheadMs">,
): ProcessGroup {
  if (options.length === 0) return withoutTaints(group);
  if (node === undefined) return group;
  const matches = matchesOf(node, options, serverAheadMs);
  if (matches.length === 0) return withoutTaints(group);
  const detected = withDetection(group, matches, nowMs);
  if (hasCondition(detected, "NodeTaintReplacing")) return detected;
  const sinceSeconds = conditionOf(detected, "NodeTaintDetected")?.timestamp;
  if (sinceSeconds === undefined) return detected;
  const lastedSeconds = nowMs / 1000 - sinceSeconds;
  const isLasting = matches.some((match) => lastedSeconds > match.durationSeconds);
  return isLasting ? addCondition(detected, "NodeTaintReplacing", nowMs) : detected;
}

function withoutTaints(group: ProcessGroup): ProcessGroup {
  return removeCondition(removeCondition(group, "NodeTaintDetected"), "NodeTaintReplacing");
}

/** An option for the key itself wins over `*`, also when it switches the key off. */
function matchesOf(
  node: Stored<Node>,
  options: readonly TaintOption[],
  serverAheadMs: number | undefined,
): Match[] {
  const matches: Match[] = [];
  for (const taint of node.spec?.taints ?? []) {
    const exact = options.filter((option) => option.key === taint.key);
    const chosen = exact.length > 0 ? exact : options.filter((option) => option.key === "*");
    for (const { key, durationInSeconds } of chosen) {
      if (key === "" || !(durationInSeconds >= 0)) continue;
      const addedMs = ownTimeMs({ serverAheadMs }, taint.timeAdded);
      matches.push({ addedMs, durationSeconds: durationInSeconds });
    }
  }
  return matches;
}

/** The condition is as old as the oldest taint that tells its age. */
function withDetection(
  group: ProcessGroup,
  matches: readonly Match[],
  nowMs: number,
): ProcessGroup {
  const detected = addCondition(group, "NodeTaintDetected", nowMs);
  const times = matches.flatMap((match) => match.addedMs ?? []);
  const oldest = Math.floor(leastOf(times) / 1000);
  const known = conditionOf(detected, "NodeTaintDetected")?.timestamp;
  if (known === undefined || !(oldest < known)) return detected;
  return {
    ...detected,
    processGroupConditions: (detected.processGroupConditions ?? []).map((condition) =>
      condition.type === "NodeTaintDetected" ? { ...condition, timestamp: oldest } : condition,
    ),
  };
}
