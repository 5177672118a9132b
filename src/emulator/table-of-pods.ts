// The words for a pod's state in kubectl get pods: what its containers wait for or ended with.
import { arrayAt, objectAt, stringAt, type JsonObject } from "./json.ts";
import { ageSince } from "./table-age.ts";

export function podReady(pod: JsonObject): string {
  const statuses = arrayAt(pod, "status", "containerStatuses");
  const running = statuses.filter(
    (status) =>
      objectAt(status)["ready"] === true && objectAt(status, "state")["running"] !== undefined,
  );
  return `${running.length}/${arrayAt(pod, "spec", "containers").length}`;
}

export function podStatus(pod: JsonObject): string {
  const isDeleting = stringAt(pod, "metadata", "deletionTimestamp") !== "";
  const reason = stringAt(pod, "status", "reason");
  if (isDeleting) return reason === "NodeLost" ? "Unknown" : "Terminating";
  return initProblem(pod) ?? containerProblem(pod) ?? (reason || stringAt(pod, "status", "phase"));
}

function initProblem(pod: JsonObject): string | undefined {
  const statuses = arrayAt(pod, "status", "initContainerStatuses");
  const total = arrayAt(pod, "spec", "initContainers").length;
  for (const [index, status] of statuses.entries()) {
    const { terminated, waiting } = objectAt(status, "state");
    if (terminated !== undefined && objectAt(terminated)["exitCode"] === 0) continue;
    if (terminated !== undefined) return `Init:${endWord(objectAt(terminated))}`;
    const word = stringAt(waiting, "reason");
    if (word !== "" && word !== "PodInitializing") return `Init:${word}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
}

function endWord(terminated: JsonObject): string {
  const reason = stringAt(terminated, "reason");
  if (reason !== "") return reason;
  const signal = terminated["signal"];
  return typeof signal === "number" && signal !== 0
    ? `Signal:${signal}`
    : `ExitCode:${String(terminated["exitCode"])}`;
}

function containerProblem(pod: JsonObject): string | undefined {
  const statuses = arrayAt(pod, "status", "containerStatuses");
  let problem: string | undefined;
  let hasRunning = false;
  // The first container's problem counts, so the list is read from its end.
  for (const status of statuses.toReversed()) {
    const { waiting, terminated, running } = objectAt(status, "state");
    const waitingReason = stringAt(waiting, "reason");
    if (waitingReason !== "") problem = waitingReason;
    else if (terminated !== undefined) problem = endWord(objectAt(terminated));
    else if (objectAt(status)["ready"] === true && running !== undefined) hasRunning = true;
  }
  if (problem !== "Completed" || !hasRunning) return problem;
  return isPodReady(pod) ? "Running" : "NotReady";
}

function isPodReady(pod: JsonObject): boolean {
  return arrayAt(pod, "status", "conditions").some(
    (condition) =>
      stringAt(condition, "type") === "Ready" && stringAt(condition, "status") === "True",
  );
}

export function podRestarts(pod: JsonObject, nowMs: number): string {
  let restarts = 0;
  let last = "";
  for (const status of arrayAt(pod, "status", "containerStatuses")) {
    restarts += Number(objectAt(status)["restartCount"] ?? 0);
    const finished = stringAt(status, "lastState", "terminated", "finishedAt");
    if (finished > last) last = finished;
  }
  return restarts === 0 || last === ""
    ? String(restarts)
    : `${restarts} (${ageSince(last, nowMs)} ago)`;
}
