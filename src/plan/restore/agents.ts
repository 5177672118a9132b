// Steps updateRestoreAgents and proveAgents: agents of the restore's own where nobody else has any, removed after it; and no
// start before agents live that speak to the database, since a restore locks it from the start on.
// Rules: spec/restore.md [RS30], [RS34]-[RS38], [RS53].
import { isOver } from "../../api/effective-restore.ts";
import { agentDeployment } from "../../build/backup-deployment.ts";
import { ownAgents, restoreDeploymentName } from "../../build/restore-agents.ts";
import { basisOf } from "../backup/action.ts";
import { strandedAgents, updateAgents } from "../backup/agents.ts";
import { nameOf } from "../backup/facts.ts";
import { versionWait } from "../backup/run-command.ts";
import type { NewWait } from "../wait.ts";
import { commandView, hasOwnAgents, isBegun, isOwnDeployment, isTemplateLost } from "./facts.ts";
import { nothing } from "./snapshot.ts";
import type { RestoreDraft, RestoreSnapshot, RestoreStepResult } from "./snapshot.ts";

export function updateRestoreAgents(
  snapshot: RestoreSnapshot,
  { facts }: RestoreDraft,
): RestoreStepResult {
  const step = "updateRestoreAgents";
  const { restore, source, cluster, deployment } = snapshot;
  const { name = "" } = restore.metadata;
  if (isOver(restore)) {
    if (deployment === undefined || !isOwnDeployment(snapshot)) return nothing;
    return { actions: [{ type: "deleteDeployment", step, basis: basisOf(deployment) }] };
  }
  if (cluster === undefined || !hasOwnAgents(snapshot)) return nothing;
  // Agents made anew without the template of the backup could not read it.
  if (isTemplateLost(snapshot)) {
    return deployment === undefined ? { waits: [templateLost(snapshot, step)] } : nothing;
  }
  const backup = ownAgents(restore, source, cluster);
  const built = agentDeployment(backup, restoreDeploymentName(name));
  const { actions = [], waits = [] } = updateAgents({ ...snapshot, backup }, step, built);
  const isSettled = waits.length === 0 && actions.length === 0;
  const sinceMs =
    isSettled && areOwnAgentsSilent(snapshot) === true ? facts.agentsSilent : undefined;
  return { actions: [...actions, ...strandedAgents(snapshot, step, sinceMs)], waits };
}

/** Of agents that were made for the restore, and may have a cluster file of a database that is gone. */
export function areOwnAgentsSilent(snapshot: RestoreSnapshot): boolean | "unknown" {
  const { restore, database } = snapshot;
  if (isOver(restore) || !hasOwnAgents(snapshot)) return false;
  if (database?.cluster?.layers?._valid !== true) return "unknown";
  return silentWait(snapshot, "") !== undefined;
}

function templateLost({ restore }: RestoreSnapshot, step: string): NewWait {
  const name = restore.spec.fromBackup ?? "";
  return {
    step,
    reason: "RestoreSourceMissing",
    message: `The restore has no agents, and there is no FoundationDBBackup ${name} any more from whose template some could be made`,
    object: `foundationdbbackup/${name}`,
    remedy: `Create ${name} again, or set spec.agents.podTemplateSpec with the credentials of the store. Deleting this resource aborts the restore.`,
    retryAfterMs: 60_000,
  };
}

/** Before the start only: an agent that is lost later is told of by `followRestore`. */
export function proveAgents(snapshot: RestoreSnapshot): RestoreStepResult {
  const step = "proveAgents";
  if (isOver(snapshot.restore) || isBegun(snapshot)) return nothing;
  const [mismatch] = mismatches(snapshot, step);
  if (mismatch !== undefined) return { waits: [mismatch], stop: true };
  const waits = [notReady(snapshot, step) ?? silentWait(snapshot, step)];
  const [wait] = waits;
  return wait === undefined ? nothing : { waits: [wait], stop: true };
}

/** Who reads of it looks at the restore, so it names the backup. */
function mismatches(snapshot: RestoreSnapshot, step: string): NewWait[] {
  return snapshot.helpers.flatMap(({ backup }) => {
    const wait = versionWait(commandView(snapshot, backup), step);
    if (wait === undefined) return [];
    const { name = "" } = backup.metadata;
    const message = `Agents of the backup ${name} would take part. ${wait.message}`;
    const remedy = `Set spec.version of the backup ${name} to the version of the database, or delete it.`;
    return [{ ...wait, message, remedy, object: `foundationdbbackup/${name}` }];
  });
}

function notReady({ deployment, helpers }: RestoreSnapshot, step: string): NewWait | undefined {
  const all = [deployment, ...helpers.map((helper) => helper.deployment)];
  const ready = all.reduce((sum, each) => sum + (each?.status?.readyReplicas ?? 0), 0);
  if (ready > 0) return undefined;
  const names = all.flatMap((each) => each?.metadata.name ?? []).join(", ");
  return {
    step,
    reason: "RestoreAgentsMissing",
    message: `No agent is ready that could do the restore${names === "" ? "" : ` (Deployment ${names})`}: it is not started, since it would lock the database and wait`,
    remedy: "Look at the pods of the agents.",
    retryAfterMs: 15_000,
  };
}

/** The document of an agent vanishes two minutes after its last word, and comes up to forty seconds after its first. */
export function silentWait({ database }: RestoreSnapshot, step: string): NewWait | undefined {
  const layers = database?.cluster?.layers;
  const document = layers?.["backup"] as { instances_running?: number } | undefined;
  if (layers?._valid === true && (document?.instances_running ?? 0) > 0) return undefined;
  return {
    step,
    reason: "RestoreAgentsSilent",
    message:
      layers?._valid === true
        ? "No backup agent speaks to the database yet"
        : "The database does not tell now whether agents speak to it",
    remedy:
      "It takes up to two minutes. If it lasts, look at the logs of the agents: they may have another version, other certificates or an old cluster file.",
    retryAfterMs: 15_000,
  };
}

export function pausedWait({ helpers }: RestoreSnapshot, step: string): NewWait {
  const pausing = helpers.find(({ backup }) => backup.spec.backupState === "Paused");
  const remedy =
    pausing === undefined
      ? "Resume them with `fdbbackup resume`."
      : `Set spec.backupState of the backup ${nameOf(pausing.backup)} to Running or Stopped.`;
  return {
    step,
    reason: "RestoreAgentsPaused",
    message:
      "All agents of the database are paused: a restore would lock the database and wait for them",
    remedy,
    retryAfterMs: 30_000,
  };
}
