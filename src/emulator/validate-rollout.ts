// How a deployment replaces its pods: strategy and times. [KAS44]
import { isJsonObject, objectAt, type JsonObject } from "./json.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported, type FieldError } from "./status.ts";

const notNegative = "must be greater than or equal to 0";
const percentRule =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or " +
  "'93%', regex used for validation is '[0-9]+%')";

export function validateRollout(spec: JsonObject): FieldError[] {
  return [
    ...strategyErrors(objectAt(spec, "strategy")),
    ...negativeErrors(spec, "minReadySeconds"),
    ...negativeErrors(spec, "revisionHistoryLimit"),
    ...negativeErrors(spec, "progressDeadlineSeconds"),
    ...deadlineErrors(spec),
  ];
}

export function negativeErrors(spec: JsonObject, key: string): FieldError[] {
  const value = spec[key];
  if (typeof value !== "number" || value >= 0) return [];
  return [fieldInvalid(`spec.${key}`, value, notNegative)];
}

function deadlineErrors(spec: JsonObject): FieldError[] {
  const deadline = spec["progressDeadlineSeconds"];
  if (typeof deadline !== "number" || deadline > Number(spec["minReadySeconds"] ?? 0)) return [];
  const detail = "must be greater than minReadySeconds";
  return [fieldInvalid("spec.progressDeadlineSeconds", deadline, detail)];
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const rolling = strategy["rollingUpdate"];
  switch (strategy["type"]) {
    case "RollingUpdate":
      return rollingErrors(objectAt(rolling));
    case "Recreate":
      if (!isJsonObject(rolling)) return [];
      return [
        fieldForbidden(
          "spec.strategy.rollingUpdate",
          "may not be specified when strategy `type` is 'Recreate'",
        ),
      ];
    default: {
      // The value is shown as the server holds it, with the names of its own structures.
      const shown = {
        Type: strategy["type"],
        RollingUpdate: isJsonObject(rolling)
          ? {
              MaxUnavailable: rolling["maxUnavailable"] ?? 0,
              MaxSurge: rolling["maxSurge"] ?? 0,
            }
          : null,
      };
      return [fieldNotSupported("spec.strategy", shown, ["Recreate", "RollingUpdate"])];
    }
  }
}

function rollingErrors(rolling: JsonObject): FieldError[] {
  const path = "spec.strategy.rollingUpdate";
  const { maxUnavailable = 0, maxSurge = 0 } = rolling;
  const errors = [
    ...amountErrors(maxUnavailable, `${path}.maxUnavailable`),
    ...amountErrors(maxSurge, `${path}.maxSurge`),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    const detail = "may not be 0 when `maxSurge` is 0";
    errors.push(fieldInvalid(`${path}.maxUnavailable`, maxUnavailable, detail));
  }
  if (typeof maxUnavailable === "string" && Number.parseInt(maxUnavailable, 10) > 100) {
    const detail = "must not be greater than 100%";
    errors.push(fieldInvalid(`${path}.maxUnavailable`, maxUnavailable, detail));
  }
  return errors;
}

function amountErrors(amount: unknown, path: string): FieldError[] {
  if (typeof amount === "string") {
    return /^[0-9]+%$/.test(amount) ? [] : [fieldInvalid(path, amount, percentRule)];
  }
  return Number(amount) < 0 ? [fieldInvalid(path, amount, notNegative)] : [];
}

function isZero(amount: unknown): boolean {
  return typeof amount === "string" ? Number.parseInt(amount, 10) === 0 : amount === 0;
}
