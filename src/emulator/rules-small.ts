// Kinds with few rules: leases, role bindings, storage classes.
import { setDefault } from "./defaults-pod.ts";
import { arrayAt, ensureObject, isJsonObject, jsonEqual, objectAt } from "./json.ts";
import type { KindRules } from "./kind.ts";
import { fieldForbidden, fieldInvalid, type FieldError } from "./status.ts";

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
    return [fieldInvalid("roleRef", binding["roleRef"], "cannot change roleRef")];
  },
};

export const storageClassRules: KindRules = {
  applyDefaults(storageClass) {
    setDefault(storageClass, "reclaimPolicy", "Delete");
    setDefault(storageClass, "volumeBindingMode", "Immediate");
  },
  validateUpdate(storageClass, old) {
    const errors: FieldError[] = [];
    for (const key of ["parameters", "provisioner"]) {
      if (!jsonEqual(storageClass[key], old[key])) {
        errors.push(fieldForbidden(key, `updates to ${key} are forbidden.`));
      }
    }
    for (const key of ["reclaimPolicy", "volumeBindingMode"]) {
      if (storageClass[key] !== old[key]) {
        errors.push(fieldInvalid(key, storageClass[key], "field is immutable"));
      }
    }
    return errors;
  },
};
