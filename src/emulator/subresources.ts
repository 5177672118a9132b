// Subresources that are actions: binding a pod to its node, evicting it, finalizing a namespace. [KAS43]
import { alphanumerics, randomText } from "../env/random.ts";
import { noteDerived } from "./decode-body.ts";
import { timeText } from "./decode.ts";
import { deleteObject, isBeingDeleted, readDeleteRequest } from "./delete.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  objectAt,
  openCopy,
  stringAt,
  type JsonObject,
} from "./json.ts";
import { matchesLabels, objectSelector } from "./selectors.ts";
import type { ServerContext, Target, WriteOptions } from "./server-context.ts";
import { badRequest, conflict, StatusError } from "./status.ts";
import { existing } from "./write.ts";

const success = (): JsonObject => ({
  ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
});

export function bindPod(
  server: ServerContext,
  target: Target,
  body: unknown,
  options: WriteOptions,
): JsonObject {
  const nodeName = stringAt(body, "target", "name");
  if (nodeName === "") {
    throw new StatusError(500, "", "target.name: Required value");
  }
  const live = existing(server, target);
  const bound = stringAt(live, "spec", "nodeName");
  const { kind, name, namespace } = target;
  if (isBeingDeleted(live)) {
    throw conflict(
      { group: "", plural: "pods/binding" },
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (bound !== "") {
    const why = `pod ${name} is already assigned to node "${bound}"`;
    throw conflict({ group: "", plural: "pods/binding" }, name, why);
  }
  const pod = openCopy(live);
  ensureObject(pod, "spec")["nodeName"] = nodeName;
  const annotations = objectAt(body, "metadata", "annotations");
  if (Object.keys(annotations).length > 0) {
    const metadata = ensureObject(pod, "metadata");
    metadata["annotations"] = { ...objectAt(metadata, "annotations"), ...annotations };
  }
  const conditions = arrayAt(pod, "status", "conditions").filter(
    (condition) => stringAt(condition, "type") !== "PodScheduled",
  );
  conditions.push({
    ...{ type: "PodScheduled", status: "True", lastProbeTime: null },
    lastTransitionTime: timeText(server.clock.nowMs()),
  });
  ensureObject(pod, "status")["conditions"] = conditions;
  if (options.isDryRun) return success();
  const stored = server.store.put(kind.storageKey, namespace, name, pod);
  if (Object.keys(annotations).length === 0) noteDerived(live, stored);
  return success();
}

/** Deletes a pod unless a disruption budget that selects it has none to spare. */
export function evictPod(
  server: ServerContext,
  target: Target,
  body: unknown,
  given: WriteOptions,
): JsonObject {
  const { name, namespace } = target;
  const evicted = stringAt(body, "metadata", "name");
  if (evicted !== "" && evicted !== name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const deletion = readDeleteRequest(objectAt(body, "deleteOptions"), {});
  const isDryRun = given.isDryRun || deletion.isDryRun;
  const options = { ...given, isDryRun };
  const pod = existing(server, target);
  const phase = stringAt(pod, "status", "phase");
  const needsNoBudget =
    phase === "Succeeded" || phase === "Failed" || phase === "Pending" || isBeingDeleted(pod);
  if (!needsNoBudget) takeFromBudget(server, namespace, pod, options);
  if (!isDryRun && !isBeingDeleted(pod)) noteEviction(server, target, pod);
  deleteObject(server, target, deletion, options);
  return success();
}

/** What the pod is deleted for, for whoever looks at it while it goes. */
function noteEviction(server: ServerContext, { kind, namespace, name }: Target, live: JsonObject) {
  const pod = openCopy(live);
  const conditions = arrayAt(pod, "status", "conditions").filter(
    (condition) => stringAt(condition, "type") !== "DisruptionTarget",
  );
  conditions.push({
    ...{ type: "DisruptionTarget", status: "True", lastProbeTime: null },
    ...{ reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
    lastTransitionTime: timeText(server.clock.nowMs()),
  });
  ensureObject(pod, "status")["conditions"] = conditions;
  noteDerived(live, server.store.put(kind.storageKey, namespace, name, pod));
}

const budgetsKey = "policy/poddisruptionbudgets";

function takeFromBudget(
  server: ServerContext,
  namespace: string,
  pod: JsonObject,
  options: WriteOptions,
): void {
  const labels = objectAt(pod, "metadata", "labels");
  const budgets = server.store.list(budgetsKey, namespace).filter((budget) => {
    const selector = objectAt(budget, "spec")["selector"];
    return isJsonObject(selector) && matchesLabels(objectSelector(selector), labels);
  });
  if (budgets.length > 1) {
    throw new StatusError(
      500,
      "",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const budget = budgets[0];
  if (budget === undefined || isUnreadyAllowed(budget, pod)) return;
  const status = objectAt(budget, "status");
  const budgetName = stringAt(budget, "metadata", "name");
  checkBudget(budget, status, budgetName);
  if (options.isDryRun) return;
  const changed = openCopy(budget);
  const changedStatus = ensureObject(changed, "status");
  changedStatus["disruptionsAllowed"] = Number(status["disruptionsAllowed"]) - 1;
  changedStatus["disruptedPods"] = {
    ...objectAt(changedStatus, "disruptedPods"),
    [stringAt(pod, "metadata", "name")]: timeText(server.clock.nowMs()),
  };
  noteDerived(budget, server.store.put(budgetsKey, namespace, budgetName, changed));
}

/** Pods that are not ready may go when the budget says so, or when it is met without them. */
function isUnreadyAllowed(budget: JsonObject, pod: JsonObject): boolean {
  const ready = arrayAt(pod, "status", "conditions").find(
    (condition) => stringAt(condition, "type") === "Ready",
  );
  if (stringAt(ready, "status") === "True") return false;
  if (stringAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = objectAt(budget, "status");
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

function checkBudget(budget: JsonObject, status: JsonObject, name: string): void {
  const generation = Number(objectAt(budget, "metadata")["generation"] ?? 0);
  const cannot = "Cannot evict pod as it would violate the pod's disruption budget.";
  if (Number(status["observedGeneration"] ?? 0) < generation) {
    throw tooMany(
      cannot,
      `The disruption budget ${name} is still being processed by the server.`,
      10,
    );
  }
  if (Number(status["disruptionsAllowed"] ?? 0) > 0) return;
  const desired = String(status["desiredHealthy"] ?? 0);
  const current = String(status["currentHealthy"] ?? 0);
  throw tooMany(
    cannot,
    `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`,
    undefined,
  );
}

function tooMany(
  message: string,
  cause: string,
  retryAfterSeconds: number | undefined,
): StatusError {
  const details = { causes: [{ reason: "DisruptionBudget", message: cause }] };
  return new StatusError(429, "TooManyRequests", message, {
    ...details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** A token for a service account. It opens nothing: the server knows only its own token. */
export function requestToken(server: ServerContext, target: Target, body: unknown): JsonObject {
  existing(server, target);
  const seconds = Number(objectAt(body, "spec")["expirationSeconds"] ?? 3600);
  const now = server.clock.nowMs();
  const { name, namespace } = target;
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timeText(now) },
    spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: seconds },
    status: {
      token: `emulated.${randomText(server.random, 40, alphanumerics)}`,
      expirationTimestamp: timeText(now + seconds * 1000),
    },
  };
}

/** Sets a namespace's finalizers; without any, a terminating namespace is gone. */
export function finalizeNamespace(
  server: ServerContext,
  target: Target,
  body: JsonObject,
): JsonObject {
  const live = existing(server, target);
  const namespace = openCopy(live);
  const finalizers = arrayAt(body, "spec", "finalizers");
  const spec = ensureObject(namespace, "spec");
  if (finalizers.length === 0) delete spec["finalizers"];
  else spec["finalizers"] = finalizers;
  const { storageKey } = target.kind;
  if (finalizers.length === 0 && isBeingDeleted(namespace)) {
    return server.store.remove(storageKey, "", target.name, namespace);
  }
  return server.store.put(storageKey, "", target.name, namespace);
}
