// A pod's quality of service class, from the resources of its containers.
import { arrayAt, objectAt, stringAt, type JsonObject } from "./json.ts";
import { compareQuantities } from "../model/quantity.ts";

export function qualityOfService(spec: JsonObject): "BestEffort" | "Burstable" | "Guaranteed" {
  const containers = [...arrayAt(spec, "containers"), ...arrayAt(spec, "initContainers")];
  let isAnySet = false;
  let isGuaranteed = true;
  for (const container of containers) {
    for (const resource of ["cpu", "memory"]) {
      const request = stringAt(objectAt(container, "resources", "requests"), resource);
      const limit = stringAt(objectAt(container, "resources", "limits"), resource);
      const hasRequest = compareQuantities(request, "0") > 0;
      const hasLimit = compareQuantities(limit, "0") > 0;
      isAnySet ||= hasRequest || hasLimit;
      if (!hasLimit || (hasRequest && compareQuantities(request, limit) !== 0))
        isGuaranteed = false;
    }
  }
  if (!isAnySet) return "BestEffort";
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
