// PodDisruptionBudgets: the figures that are always shown, and their rules.
import { objectAt, type JsonObject } from "./json.ts";
import type { KindRules } from "./kind.ts";
import { fieldInvalid, type FieldError } from "./status.ts";

export const disruptionBudgetRules: KindRules = {
  prepareCreate(budget) {
    budget["status"] = emptyFigures();
  },
  validate(budget) {
    const spec = objectAt(budget, "spec");
    const errors: FieldError[] = [];
    if (spec["minAvailable"] !== undefined && spec["maxUnavailable"] !== undefined) {
      const detail = "minAvailable and maxUnavailable cannot be both set";
      errors.push(fieldInvalid("spec", spec, detail));
    }
    for (const key of ["minAvailable", "maxUnavailable"]) {
      const value = spec[key];
      if (typeof value === "number" && value < 0) {
        errors.push(fieldInvalid(`spec.${key}`, value, "must be greater than or equal to 0"));
      }
      if (typeof value === "string" && !/^[0-9]+%$/.test(value)) {
        const detail =
          "a valid percent string must be a numeric string followed by an ending '%' " +
          "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        errors.push(fieldInvalid(`spec.${key}`, value, detail));
      }
    }
    return errors;
  },
};

function emptyFigures(): JsonObject {
  return { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
}
