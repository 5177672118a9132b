// Pods: defaults, admission (service account, priority, tolerations) and what may change. [KAS40]
import { append } from "../env/long-lists.ts";
import { defaultPodSpec, setDefault } from "./defaults-pod.ts";
import {
  arrayAt,
  cloneJson,
  ensureObject,
  isJsonObject,
  jsonEqual,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { KindRules, RuleContext } from "./kind.ts";
import { admitPodResize, keepAllButResources, validatePodResize } from "./pod-resize.ts";
import { qualityOfService } from "./quality-of-service.ts";
import { fieldForbidden, fieldInvalid, forbidden, type FieldError } from "./status.ts";
import { validatePodSpec } from "./validate-pod-spec.ts";

export const podRules: KindRules = {
  fields: {
    "spec.nodeName": (pod) => stringAt(pod, "spec", "nodeName"),
    "spec.restartPolicy": (pod) => stringAt(pod, "spec", "restartPolicy"),
    "spec.schedulerName": (pod) => stringAt(pod, "spec", "schedulerName"),
    "spec.serviceAccountName": (pod) => stringAt(pod, "spec", "serviceAccountName"),
    "spec.hostNetwork": (pod) => String(objectAt(pod, "spec")["hostNetwork"] === true),
    "status.phase": (pod) => stringAt(pod, "status", "phase"),
    "status.podIP": (pod) => stringAt(pod, "status", "podIP"),
    "status.podIPs": (pod) => stringAt(pod, "status", "podIP"),
    "status.nominatedNodeName": (pod) => stringAt(pod, "status", "nominatedNodeName"),
  },
  applyDefaults(pod) {
    const spec = ensureObject(pod, "spec");
    // What is frozen is the live pod's and has its defaults.
    if (!Object.isFrozen(spec)) defaultPodSpec(spec, false);
    const status = pod["status"];
    if (!isJsonObject(status)) return;
    matchAddresses(status, "podIP", "podIPs");
    matchAddresses(status, "hostIP", "hostIPs");
  },
  prepareCreate(pod, context) {
    const spec = ensureObject(pod, "spec");
    admitServiceAccount(pod, spec, context);
    setDefault(spec, "priority", 0);
    // A negative grace period, which old objects may have, counts as the shortest one.
    if (Number(spec["terminationGracePeriodSeconds"]) < 0)
      spec["terminationGracePeriodSeconds"] = 1;
    setDefault(spec, "preemptionPolicy", "PreemptLowerPriority");
    spec["tolerations"] = withNotReadyTolerations(arrayAt(spec, "tolerations"));
    pod["status"] = { phase: "Pending", qosClass: qualityOfService(spec) };
  },
  prepareUpdate(pod, old) {
    const spec = ensureObject(pod, "spec");
    for (const key of ["nodeName", "priority", "preemptionPolicy"]) {
      setDefault(spec, key, objectAt(old, "spec")[key]);
      if (spec[key] === undefined) delete spec[key];
    }
    spec["tolerations"] = withNotReadyTolerations(arrayAt(spec, "tolerations"));
  },
  validate: (pod) => validatePodSpec(objectAt(pod, "spec"), "spec", false),
  validateUpdate: validatePodUpdate,
  resize: { keep: keepAllButResources, validate: validatePodResize, admit: admitPodResize },
};

/** The single address and the first of the list say the same. */
function matchAddresses(status: JsonObject, single: string, list: string): void {
  const address = stringAt(status, single);
  const first = stringAt(arrayAt(status, list)[0], "ip");
  if (address !== "" && first !== address) status[list] = [{ ip: address }];
  else if (address === "" && first !== "") status[single] = first;
}

function admitServiceAccount(pod: JsonObject, spec: JsonObject, context: RuleContext): void {
  setDefault(spec, "serviceAccountName", "default");
  spec["serviceAccount"] = spec["serviceAccountName"];
  const namespace = stringAt(pod, "metadata", "namespace");
  const account = stringAt(spec, "serviceAccountName");
  if (context.store.get("/serviceaccounts", namespace, account) !== undefined) return;
  throw forbidden(
    { group: "", plural: "pods" },
    stringAt(pod, "metadata", "name"),
    `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`,
  );
}

const notReadyTaints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** A pod tolerates a node that is gone for five minutes, unless it says otherwise itself. */
function withNotReadyTolerations(tolerations: unknown[]): unknown[] {
  const result = [...tolerations];
  for (const key of notReadyTaints) {
    const isTolerated = tolerations.some((toleration) => {
      const tolerated = objectAt(toleration);
      const effect = stringAt(tolerated, "effect");
      const tolerates = stringAt(tolerated, "key");
      return (tolerates === key || tolerates === "") && (effect === "NoExecute" || effect === "");
    });
    if (isTolerated) continue;
    result.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  }
  return result;
}

const changeRule =
  "pod updates may not change fields other than `spec.containers[*].image`," +
  "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` " +
  "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` " +
  "(allow it to be set to 1 if it was previously negative)";

function validatePodUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  const before = objectAt(old, "spec");
  const after = objectAt(pod, "spec");
  if (jsonEqual(before, after)) return [];
  const errors: FieldError[] = [];
  const counts = ["containers", "initContainers"].filter(
    (key) => arrayAt(before, key).length !== arrayAt(after, key).length,
  );
  if (counts.length > 0) {
    return counts.map((key) =>
      fieldForbidden(`spec.${key}`, "pod updates may not add or remove containers"),
    );
  }
  append(errors, deadlineErrors(before, after));
  append(errors, tolerationErrors(before, after));
  if (!jsonEqual(unchangeable(before, after), unchangeable(after, after))) {
    errors.push(fieldForbidden("spec", `${changeRule}\n`));
  }
  return errors;
}

/** Tolerations may be added, and the time of an existing one may change. */
function tolerationErrors(before: JsonObject, after: JsonObject): FieldError[] {
  const kept = arrayAt(after, "tolerations");
  const withoutTime = (toleration: unknown): JsonObject => {
    const { tolerationSeconds: _, ...rest } = objectAt(toleration);
    return rest;
  };
  const isKept = (toleration: unknown): boolean =>
    kept.some((candidate) => jsonEqual(withoutTime(candidate), withoutTime(toleration)));
  if (arrayAt(before, "tolerations").every(isKept)) return [];
  return [
    fieldForbidden(
      "spec.tolerations",
      "existing toleration can not be modified except its tolerationSeconds",
    ),
  ];
}

function unchangeable(spec: JsonObject, after: JsonObject): JsonObject {
  const copy = cloneJson(spec);
  // Scheduling gates may go, one by one or all at once; none may come.
  const gates = arrayAt(spec, "schedulingGates");
  const left = arrayAt(after, "schedulingGates");
  if (left.every((gate) => gates.some((known) => jsonEqual(known, gate))))
    delete copy["schedulingGates"];
  delete copy["activeDeadlineSeconds"];
  delete copy["tolerations"];
  for (const key of ["containers", "initContainers"]) {
    for (const container of arrayAt(copy, key)) {
      if (isJsonObject(container)) delete container["image"];
    }
  }
  return copy;
}

/** A deadline may be set once and then only shrink. */
function deadlineErrors(before: JsonObject, after: JsonObject): FieldError[] {
  const [earlier, later] = [before["activeDeadlineSeconds"], after["activeDeadlineSeconds"]];
  if (typeof earlier !== "number") return [];
  const path = "spec.activeDeadlineSeconds";
  if (typeof later !== "number") {
    return [fieldInvalid(path, null, "must not update from a positive integer to nil value")];
  }
  if (later <= earlier) return [];
  return [fieldInvalid(path, later, "must be less than or equal to previous value")];
}
