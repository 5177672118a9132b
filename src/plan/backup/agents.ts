// Step updateBackupAgents: the Deployment of the agents is as the spec wants it, and agents that ended for good make room.
// Rules: spec/backup.md [BK32]-[BK35], [BK83].
import { agentCountOf } from "../../api/effective-backup.ts";
import { agentDeployment } from "../../build/backup-deployment.ts";
import { containsMetadata } from "../../build/labels.ts";
import type { Built } from "../../build/problem.ts";
import type { Deployment } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { lastsFor } from "../facts.ts";
import { isSameJson } from "../view/same-json.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import { basisOf } from "./action.ts";
import type { BackupAction } from "./action.ts";
import { templateWait } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { areAgentsSilent } from "./observed.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

const ownStep = "updateBackupAgents";

/** The Deployment of a backup or of a restore, and what is around it. */
export type AgentsView = Pick<
  BackupSnapshot,
  "agentPods" | "backup" | "deployment" | "nowMs" | "serverAheadMs" | "terminalPodMinimumAgeMs"
>;

export function updateBackupAgents(snapshot: BackupSnapshot, draft: BackupDraft): BackupStepResult {
  const result = updateAgents(snapshot, ownStep, agentDeployment(snapshot.backup));
  const isSettled = result.waits === undefined && (result.actions ?? []).every(isOfPod);
  const isSilent = areAgentsSilent(snapshot) === true;
  const sinceMs = isSettled && isSilent ? draft.facts.agentsSilent : undefined;
  const stranded = strandedAgents(snapshot, ownStep, sinceMs);
  return { ...result, actions: [...(result.actions ?? []), ...stranded] };
}

function isOfPod({ type }: BackupAction): boolean {
  return type === "deletePod";
}

/** What has to be done so that the Deployment is as it was built. */
export function updateAgents(
  snapshot: AgentsView,
  step: string,
  built: Built<Stored<Deployment> | undefined>,
): Pick<BackupStepResult, "actions" | "waits" | "status"> {
  const { deployment } = snapshot;
  if (!built.ok) {
    const status = { deploymentConfigured: false };
    return { waits: [templateWait(step, built.problem)], status };
  }
  const desired = built.value;
  const status = agentStatus(deployment, desired);
  if (deployment === undefined) {
    if (desired === undefined) return { status };
    return { status, actions: [{ type: "createDeployment", step, object: desired }] };
  }
  if (!isOwned(snapshot, deployment)) return { status, waits: [foreignWait(step, deployment)] };
  if (desired === undefined) {
    return { status, actions: [{ type: "deleteDeployment", step, basis: basisOf(deployment) }] };
  }
  if (!isCurrent(deployment, desired)) {
    return {
      status,
      actions: [{ type: "updateDeployment", step, object: merged(deployment, desired) }],
    };
  }
  const missing = missingAgents(snapshot, step, deployment);
  const waits = missing === undefined ? {} : { waits: [missing] };
  return { status, actions: terminalAgents(snapshot, step, deployment), ...waits };
}

/** A Deployment of this name that belongs to somebody else is not touched. */
function isOwned({ backup }: AgentsView, { metadata }: Stored<Deployment>): boolean {
  const { uid } = backup.metadata;
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

function foreignWait(step: string, { metadata }: Stored<Deployment>): NewWait {
  const name = metadata.name ?? "";
  return {
    step,
    reason: "BackupAgentsForeign",
    message: `The Deployment ${name} exists and does not belong to this resource`,
    object: `deployment/${name}`,
    remedy: `Delete the Deployment ${name} if nobody needs it, or give the resource another name.`,
    retryAfterMs: 60_000,
  };
}

function agentStatus(
  current: Stored<Deployment> | undefined,
  desired: Stored<Deployment> | undefined,
): { agentCount: number; deploymentConfigured: boolean } {
  const { readyReplicas = 0, updatedReplicas = 0, observedGeneration } = current?.status ?? {};
  const agentCount = Math.min(readyReplicas, updatedReplicas);
  if (current === undefined || desired === undefined) {
    return { agentCount, deploymentConfigured: current === desired };
  }
  const isObserved = observedGeneration === current.metadata.generation;
  return { agentCount, deploymentConfigured: isObserved && isCurrent(current, desired) };
}

/** The hash among the annotations stands for the whole spec. Labels must be equal, annotations may be more. */
function isCurrent(current: Stored<Deployment>, desired: Stored<Deployment>): boolean {
  const { annotations, labels } = desired.metadata;
  return (
    containsMetadata(current.metadata, { annotations }) &&
    isSameJson(current.metadata.labels ?? {}, labels ?? {})
  );
}

/** The annotations of others stay. */
function merged(current: Stored<Deployment>, desired: Stored<Deployment>): Stored<Deployment> {
  const annotations = { ...current.metadata.annotations, ...desired.metadata.annotations };
  const { resourceVersion = "", uid = "" } = current.metadata;
  return { ...desired, metadata: { ...desired.metadata, annotations, resourceVersion, uid } };
}

/** A Deployment counts a pod that ended until it is gone. */
function terminalAgents(
  snapshot: AgentsView,
  step: string,
  deployment: Stored<Deployment>,
): BackupAction[] {
  const { readyReplicas = 0, replicas = 0 } = deployment.status ?? {};
  if (readyReplicas >= replicas) return [];
  return snapshot.agentPods
    .filter(({ metadata, status }) => {
      const isEnded = status?.phase === "Failed" || status?.phase === "Succeeded";
      const madeMs = ownTimeMs(snapshot, metadata.creationTimestamp) ?? snapshot.nowMs;
      const isOld = snapshot.nowMs - madeMs >= snapshot.terminalPodMinimumAgeMs;
      return isEnded && isOld && metadata.deletionTimestamp === undefined;
    })
    .map((pod) => ({ type: "deletePod", step, basis: basisOf(pod) }));
}

/** Agents that ran when the silence began and have not spoken for so long are made anew. */
const silenceMs = 600_000;

/**
 * An agent whose cluster file names only coordinators that are gone never comes back by itself; a new pod takes the file from
 * the ConfigMap. Each silence does this once: pods that are younger than it stay.
 */
export function strandedAgents(
  snapshot: Pick<AgentsView, "agentPods" | "nowMs" | "serverAheadMs">,
  step: string,
  sinceMs: number | undefined,
): BackupAction[] {
  if (sinceMs === undefined || !lastsFor(sinceMs, silenceMs, snapshot.nowMs)) return [];
  return snapshot.agentPods
    .filter(({ metadata }) => {
      const madeMs = ownTimeMs(snapshot, metadata.creationTimestamp) ?? snapshot.nowMs;
      return madeMs < sinceMs && metadata.deletionTimestamp === undefined;
    })
    .map((pod) => ({ type: "deletePod", step, basis: basisOf(pod) }));
}

function missingAgents(
  { backup }: AgentsView,
  step: string,
  deployment: Stored<Deployment>,
): NewWait | undefined {
  const wanted = agentCountOf(backup.spec);
  const { readyReplicas = 0, updatedReplicas = 0 } = deployment.status ?? {};
  const ready = Math.min(readyReplicas, updatedReplicas);
  if (ready >= wanted) return undefined;
  const name = deployment.metadata.name ?? "";
  return {
    step,
    reason: "BackupAgentsNotReady",
    message: `${ready} of ${wanted} agents of the Deployment ${name} are ready`,
    object: `deployment/${name}`,
    remedy: `Look at \`kubectl describe deployment ${name}\` and at its pods.`,
    retryAfterMs: 60_000,
  };
}
