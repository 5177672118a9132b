// Services: defaults and what may not change. [KAS42]
import { setDefault } from "./defaults-pod.ts";
import { arrayAt, ensureObject, isJsonObject, jsonEqual, objectAt, stringAt } from "./json.ts";
import type { KindRules } from "./kind.ts";
import { allocateAddresses } from "./service-addresses.ts";
import { fieldInvalid, type FieldError } from "./status.ts";
import { validateService } from "./validate-service.ts";

export const serviceRules: KindRules = {
  fields: {
    "spec.clusterIP": (service) => stringAt(service, "spec", "clusterIP"),
    "spec.type": (service) => stringAt(service, "spec", "type"),
  },
  applyDefaults(service) {
    const spec = ensureObject(service, "spec");
    setDefault(spec, "type", "ClusterIP");
    setDefault(spec, "sessionAffinity", "None");
    if (spec["sessionAffinity"] === "ClientIP") {
      const config = ensureObject(ensureObject(spec, "sessionAffinityConfig"), "clientIP");
      setDefault(config, "timeoutSeconds", 10800);
    }
    for (const port of arrayAt(spec, "ports")) {
      if (!isJsonObject(port)) continue;
      setDefault(port, "protocol", "TCP");
      if (!port["targetPort"]) port["targetPort"] = port["port"];
    }
    const type = spec["type"];
    if (type === "NodePort" || type === "LoadBalancer") {
      setDefault(spec, "externalTrafficPolicy", "Cluster");
    }
    if (type === "LoadBalancer") setDefault(spec, "allocateLoadBalancerNodePorts", true);
    if (type !== "ExternalName") setDefault(spec, "internalTrafficPolicy", "Cluster");
    for (const ingress of arrayAt(service, "status", "loadBalancer", "ingress")) {
      if (isJsonObject(ingress) && ingress["ip"] !== undefined)
        setDefault(ingress, "ipMode", "VIP");
    }
  },
  prepareCreate(service, context) {
    ensureObject(service, "spec");
    allocateAddresses(service, context, undefined);
    service["status"] = { loadBalancer: {} };
  },
  prepareUpdate(service, old, context) {
    const spec = ensureObject(service, "spec");
    const before = objectAt(old, "spec");
    if (spec["type"] !== "ExternalName" && before["type"] !== "ExternalName") {
      for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
        if (spec[key] === undefined && before[key] !== undefined) spec[key] = before[key];
      }
    }
    if (
      spec["clusterIP"] !== before["clusterIP"] &&
      jsonEqual(spec["clusterIPs"], before["clusterIPs"])
    ) {
      if (stringAt(spec, "clusterIP") === "") delete spec["clusterIPs"];
      else spec["clusterIPs"] = [spec["clusterIP"]];
    }
    allocateAddresses(service, context, old);
  },
  validate: validateService,
  validateUpdate(service, old) {
    const before = objectAt(old, "spec");
    const after = objectAt(service, "spec");
    const isBound = before["type"] !== "ExternalName" && after["type"] !== "ExternalName";
    const errors: FieldError[] = [];
    const address = stringAt(before, "clusterIP");
    if (isBound && address !== "" && after["clusterIP"] !== address) {
      errors.push(
        fieldInvalid("spec.clusterIPs[0]", arrayAt(after, "clusterIPs"), "may not change once set"),
      );
    }
    return errors;
  },
};
