// Services: cluster addresses, families, ports, and what may not change. [KAS42]
import { randomInteger } from "../env/random.ts";
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
import type { KindRules, RuleContext } from "./kind.ts";
import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type FieldError,
} from "./status.ts";
import { isPort } from "./validate-pod-spec.ts";

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
      setDefault(port, "targetPort", port["port"]);
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
    allocate(ensureObject(service, "spec"), context, undefined);
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
    allocate(spec, context, before);
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

/** Gives out cluster addresses and node ports; the addresses in use are read from the store. */
function allocate(spec: JsonObject, context: RuleContext, before: JsonObject | undefined): void {
  if (spec["type"] === "ExternalName") return;
  const wanted = arrayAt(spec, "clusterIPs")[0] ?? spec["clusterIP"];
  const first = typeof wanted === "string" && wanted !== "" ? wanted : undefined;
  const family = firstFamily(spec, first);
  const address = first ?? freeAddress(context, family);
  spec["clusterIP"] = address;
  if (arrayAt(spec, "clusterIPs").length === 0) spec["clusterIPs"] = [address];
  setDefault(spec, "ipFamilies", [family]);
  setDefault(spec, "ipFamilyPolicy", "SingleStack");
  if (spec["type"] !== "NodePort" && spec["type"] !== "LoadBalancer") return;
  const used = usedNodePorts(context);
  const beforePorts = arrayAt(before, "ports");
  arrayAt(spec, "ports").forEach((port, index) => {
    if (!isJsonObject(port) || typeof port["nodePort"] === "number") return;
    const known = objectAt(beforePorts[index])["nodePort"];
    port["nodePort"] = known ?? freeNodePort(context, used);
  });
}

function firstFamily(spec: JsonObject, address: string | undefined): string {
  const asked = arrayAt(spec, "ipFamilies")[0];
  if (typeof asked === "string") return asked;
  return address?.includes(":") ? "IPv6" : "IPv4";
}

function freeAddress(context: RuleContext, family: string): string {
  const used = new Set<string>();
  for (const [, service] of context.store.entries("/services", "")) {
    for (const address of arrayAt(service, "spec", "clusterIPs")) used.add(String(address));
  }
  for (;;) {
    const high = randomInteger(context.random, 1, 255);
    const low = randomInteger(context.random, 1, 254);
    const address =
      family === "IPv6" ? `fd00::${high.toString(16)}${low.toString(16)}` : `10.0.${high}.${low}`;
    if (!used.has(address)) return address;
  }
}

function usedNodePorts(context: RuleContext): Set<unknown> {
  const used = new Set<unknown>();
  for (const [, service] of context.store.entries("/services", "")) {
    for (const port of arrayAt(service, "spec", "ports")) used.add(objectAt(port)["nodePort"]);
  }
  return used;
}

function freeNodePort(context: RuleContext, used: Set<unknown>): number {
  for (;;) {
    const port = randomInteger(context.random, 30_000, 32_767);
    if (used.has(port)) continue;
    used.add(port);
    return port;
  }
}

function validateService(service: JsonObject): FieldError[] {
  const spec = objectAt(service, "spec");
  const errors: FieldError[] = [];
  const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
  if (!types.includes(stringAt(spec, "type"))) {
    errors.push(fieldNotSupported("spec.type", spec["type"], types));
  }
  const ports = arrayAt(spec, "ports");
  const isHeadless = spec["clusterIP"] === "None";
  if (ports.length === 0 && !isHeadless && spec["type"] !== "ExternalName") {
    errors.push(fieldRequired("spec.ports"));
  }
  if (spec["type"] === "ExternalName" && stringAt(spec, "externalName") === "") {
    errors.push(fieldRequired("spec.externalName"));
  }
  const names = new Set<string>();
  const numbers = new Set<string>();
  ports.forEach((item, index) => {
    const port = objectAt(item);
    const path = `spec.ports[${index}]`;
    const name = stringAt(port, "name");
    if (name === "" && ports.length > 1) errors.push(fieldRequired(`${path}.name`));
    if (name !== "" && names.has(name)) errors.push(fieldDuplicate(`${path}.name`, name));
    names.add(name);
    if (!isPort(port["port"])) {
      const detail = "must be between 1 and 65535, inclusive";
      errors.push(fieldInvalid(`${path}.port`, port["port"] ?? 0, detail));
    }
    const key = `${String(port["protocol"])}/${String(port["port"])}`;
    if (numbers.has(key)) {
      errors.push(fieldDuplicate(path, { port: port["port"], protocol: port["protocol"] }));
    }
    numbers.add(key);
  });
  return errors;
}
