// What is wrong with a service beyond its addresses, which are judged when they are given out. [KAS42]
import { append } from "../env/long-lists.ts";
import { arrayAt, objectAt, stringAt, type JsonObject } from "./json.ts";
import { nameProblems, validateLabels } from "./object-metadata.ts";
import { ipErrors } from "./service-addresses.ts";
import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type FieldError,
} from "./status.ts";
import { portNameProblems } from "./validate-pod-parts.ts";
import { isPort } from "./validate-pod-spec.ts";

const portRange = "must be between 1 and 65535, inclusive";
const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

export function validateService(service: JsonObject): FieldError[] {
  const spec = objectAt(service, "spec");
  const type = stringAt(spec, "type");
  const errors: FieldError[] = [];
  if (!types.includes(type)) errors.push(fieldNotSupported("spec.type", spec["type"], types));
  const ports = arrayAt(spec, "ports");
  const isHeadless = spec["clusterIP"] === "None";
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") {
    errors.push(fieldRequired("spec.ports"));
  }
  if (type === "ExternalName") append(errors, externalNameErrors(spec));
  append(errors, portErrors(ports, type));
  append(errors, validateLabels(spec["selector"], "spec.selector"));
  for (const [index, address] of arrayAt(spec, "externalIPs").entries()) {
    append(errors, ipErrors(String(address), `spec.externalIPs[${index}]`));
  }
  append(errors, enumerationErrors(spec, "sessionAffinity", ["ClientIP", "None"]));
  append(errors, trafficErrors(spec, type));
  return errors;
}

function externalNameErrors(spec: JsonObject): FieldError[] {
  const name = stringAt(spec, "externalName");
  if (stringAt(spec, "clusterIP") !== "" || arrayAt(spec, "clusterIPs").length > 0) {
    return [fieldForbidden("spec.clusterIPs", "may not be set for ExternalName services")];
  }
  if (name === "") return [fieldRequired("spec.externalName")];
  return nameProblems("subdomain", name.replace(/\.$/, "")).map((detail) =>
    fieldInvalid("spec.externalName", name, detail),
  );
}

function portErrors(ports: readonly unknown[], type: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  ports.forEach((item, index) => {
    const port = objectAt(item);
    const path = `spec.ports[${index}]`;
    const name = stringAt(port, "name");
    if (name === "" && ports.length > 1) errors.push(fieldRequired(`${path}.name`));
    if (name !== "") {
      for (const detail of nameProblems("label", name)) {
        errors.push(fieldInvalid(`${path}.name`, name, detail));
      }
      if (names.has(name)) errors.push(fieldDuplicate(`${path}.name`, name));
    }
    names.add(name);
    if (!isPort(port["port"])) {
      errors.push(fieldInvalid(`${path}.port`, port["port"] ?? 0, portRange));
    }
    const protocols = ["SCTP", "TCP", "UDP"];
    if (!protocols.includes(stringAt(port, "protocol"))) {
      errors.push(fieldNotSupported(`${path}.protocol`, port["protocol"], protocols));
    }
    append(errors, targetPortErrors(port["targetPort"], `${path}.targetPort`));
    if (type === "ClusterIP" && (port["nodePort"] ?? 0) !== 0) {
      const detail = "may not be used when `type` is 'ClusterIP'";
      errors.push(fieldForbidden(`${path}.nodePort`, detail));
    }
    const key = `${String(port["protocol"])}/${String(port["port"])}`;
    if (numbers.has(key)) {
      errors.push(fieldDuplicate(path, { port: port["port"], protocol: port["protocol"] }));
    }
    numbers.add(key);
  });
  return errors;
}

function targetPortErrors(target: unknown, path: string): FieldError[] {
  if (typeof target === "string") {
    return portNameProblems(target).map((detail) => fieldInvalid(path, target, detail));
  }
  if (target === undefined || isPort(target)) return [];
  return [fieldInvalid(path, target, portRange)];
}

function trafficErrors(spec: JsonObject, type: string): FieldError[] {
  const errors = enumerationErrors(spec, "internalTrafficPolicy", ["Cluster", "Local"]);
  const external = spec["externalTrafficPolicy"];
  if (external === undefined) return errors;
  const hasOutside =
    type === "NodePort" || type === "LoadBalancer" || arrayAt(spec, "externalIPs").length > 0;
  if (hasOutside) {
    append(errors, enumerationErrors(spec, "externalTrafficPolicy", ["Cluster", "Local"]));
  } else {
    const detail = "may only be set for externally-accessible services";
    errors.push(fieldInvalid("spec.externalTrafficPolicy", external, detail));
  }
  return errors;
}

function enumerationErrors(
  spec: JsonObject,
  key: string,
  supported: readonly string[],
): FieldError[] {
  const value = spec[key];
  if (value === undefined || supported.includes(String(value))) return [];
  return [fieldNotSupported(`spec.${key}`, value, supported)];
}
