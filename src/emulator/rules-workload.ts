// Deployments and ReplicaSets: defaults and selector rules. [KAS44]
import { append } from "../env/long-lists.ts";
import { defaultPodSpec, setDefault } from "./defaults-pod.ts";
import { ensureObject, jsonEqual, objectAt, type JsonObject } from "./json.ts";
import type { KindRules } from "./kind.ts";
import { matchesLabels, objectSelector } from "./selectors.ts";
import { fieldInvalid, fieldRequired, type FieldError } from "./status.ts";
import { negativeErrors, validateRollout } from "./validate-rollout.ts";
import { validatePodSpec } from "./validate-pod-spec.ts";

export const deploymentRules: KindRules = {
  applyDefaults(deployment) {
    const spec = ensureObject(deployment, "spec");
    defaultTemplate(spec);
    setDefault(spec, "replicas", 1);
    const strategy = ensureObject(spec, "strategy");
    setDefault(strategy, "type", "RollingUpdate");
    if (strategy["type"] === "RollingUpdate") {
      const rolling = ensureObject(strategy, "rollingUpdate");
      setDefault(rolling, "maxUnavailable", "25%");
      setDefault(rolling, "maxSurge", "25%");
    }
    setDefault(spec, "revisionHistoryLimit", 10);
    setDefault(spec, "progressDeadlineSeconds", 600);
  },
  prepareCreate(deployment) {
    deployment["status"] = {};
  },
  validate: (deployment) => [
    ...validateWorkload(deployment),
    ...validateRollout(objectAt(deployment, "spec")),
  ],
  validateUpdate: validateSelectorUpdate,
};

export const replicaSetRules: KindRules = {
  fields: { "status.replicas": (set) => String(objectAt(set, "status")["replicas"] ?? 0) },
  applyDefaults(set) {
    const spec = ensureObject(set, "spec");
    defaultTemplate(spec);
    setDefault(spec, "replicas", 1);
  },
  prepareCreate(set) {
    set["status"] = { replicas: 0 };
  },
  validate: (set) => [
    ...validateWorkload(set),
    ...negativeErrors(objectAt(set, "spec"), "minReadySeconds"),
  ],
  validateUpdate: validateSelectorUpdate,
};

function defaultTemplate(spec: JsonObject): void {
  const template = ensureObject(spec, "template");
  ensureObject(template, "metadata");
  defaultPodSpec(ensureObject(template, "spec"), true);
}

function validateWorkload(object: JsonObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = negativeErrors(spec, "replicas");
  const labels = objectAt(spec, "template", "metadata")["labels"] ?? null;
  const selector = objectSelector(spec["selector"]);
  if (spec["selector"] === undefined) errors.push(fieldRequired("spec.selector"));
  else if (selector.length === 0) {
    const detail = "empty selector is invalid for deployment";
    errors.push(fieldInvalid("spec.selector", spec["selector"], detail));
  }
  if (spec["selector"] === undefined || !matchesLabels(selector, labels)) {
    const detail = "`selector` does not match template `labels`";
    errors.push(fieldInvalid("spec.template.metadata.labels", labels, detail));
  }
  append(errors, validatePodSpec(objectAt(spec, "template", "spec"), "spec.template.spec", true));
  return errors;
}

function validateSelectorUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const after = objectAt(object, "spec")["selector"];
  if (jsonEqual(after, objectAt(old, "spec")["selector"])) return [];
  return [fieldInvalid("spec.selector", after, "field is immutable")];
}
