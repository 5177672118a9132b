// Kinds with few rules: leases, role bindings, storage classes.
import { setDefault } from "./defaults-pod.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  jsonEqual,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { KindRules } from "./kind.ts";
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type FieldError,
} from "./status.ts";

export const leaseRules: KindRules = {
  applyDefaults: (lease) => setDefault(lease, "spec", {}),
  validate(lease) {
    const { leaseDurationSeconds, leaseTransitions } = objectAt(lease, "spec");
    const errors: FieldError[] = [];
    if (typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0) {
      const detail = "must be greater than 0";
      errors.push(fieldInvalid("spec.leaseDurationSeconds", leaseDurationSeconds, detail));
    }
    if (typeof leaseTransitions === "number" && leaseTransitions < 0) {
      const detail = "must be greater than or equal to 0";
      errors.push(fieldInvalid("spec.leaseTransitions", leaseTransitions, detail));
    }
    return errors;
  },
};

export const roleBindingRules: KindRules = {
  applyDefaults(binding) {
    setDefault(ensureObject(binding, "roleRef"), "apiGroup", "rbac.authorization.k8s.io");
    for (const subject of arrayAt(binding, "subjects")) {
      if (!isJsonObject(subject) || subject["kind"] === "ServiceAccount") continue;
      setDefault(subject, "apiGroup", "rbac.authorization.k8s.io");
    }
  },
  validateUpdate(binding, old) {
    if (jsonEqual(binding["roleRef"], old["roleRef"])) return [];
    return [fieldInvalid("roleRef", binding["roleRef"], "field is immutable")];
  },
  validate: (binding) => roleKindErrors(binding, ["Role", "ClusterRole"]),
};

export const clusterRoleBindingRules: KindRules = {
  ...roleBindingRules,
  validate: (binding) => roleKindErrors(binding, ["ClusterRole"]),
};

function roleKindErrors(binding: JsonObject, kinds: readonly string[]): FieldError[] {
  const kind = stringAt(binding, "roleRef", "kind");
  return kinds.includes(kind) ? [] : [fieldNotSupported("roleRef.kind", kind, kinds)];
}

export const roleRules: KindRules = {
  applyDefaults: (role) => setDefault(role, "rules", null),
  validate: (role) =>
    arrayAt(role, "rules").flatMap((rule, index) =>
      arrayAt(rule, "verbs").length > 0
        ? []
        : [fieldRequired(`rules[${index}].verbs`, "verbs must contain at least one value")],
    ),
};

export const storageClassRules: KindRules = {
  applyDefaults(storageClass) {
    setDefault(storageClass, "reclaimPolicy", "Delete");
    setDefault(storageClass, "volumeBindingMode", "Immediate");
  },
  validate(storageClass) {
    const errors: FieldError[] = [];
    if (stringAt(storageClass, "provisioner") === "") errors.push(fieldRequired("provisioner"));
    const policy = storageClass["reclaimPolicy"];
    const policies = ["Delete", "Retain"];
    if (!policies.includes(String(policy))) {
      errors.push(fieldNotSupported("reclaimPolicy", policy, policies));
    }
    const mode = storageClass["volumeBindingMode"];
    const modes = ["Immediate", "WaitForFirstConsumer"];
    if (!modes.includes(String(mode))) {
      errors.push(fieldNotSupported("volumeBindingMode", mode, modes));
    }
    return errors;
  },
  validateUpdate(storageClass, old) {
    const errors: FieldError[] = [];
    if (!jsonEqual(storageClass["parameters"], old["parameters"])) {
      errors.push(fieldForbidden("parameters", "updates to parameters are forbidden."));
    }
    for (const key of ["provisioner", "reclaimPolicy", "volumeBindingMode"]) {
      if (storageClass[key] !== old[key]) {
        errors.push(fieldInvalid(key, storageClass[key], "field is immutable"));
      }
    }
    return errors;
  },
};
