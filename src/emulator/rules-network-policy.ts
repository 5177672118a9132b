// NetworkPolicies: their defaults and rules. Nothing here limits a connection: that is up to the network of a cluster. [KAS69]
import { append } from "../env/long-lists.ts";
import { setDefault } from "./defaults-pod.ts";
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { KindRules } from "./kind.ts";
import { validateLabels } from "./object-metadata.ts";
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type FieldError,
} from "./status.ts";
import { portNameProblems } from "./validate-pod-parts.ts";
import { isPort } from "./validate-pod-spec.ts";
import { isInsideBlock, parseIpBlock } from "../model/ip-block.ts";

export const networkPolicyRules: KindRules = {
  applyDefaults(policy) {
    const spec = ensureObject(policy, "spec");
    for (const rule of [...arrayAt(spec, "ingress"), ...arrayAt(spec, "egress")]) {
      for (const port of arrayAt(rule, "ports")) {
        if (isJsonObject(port)) setDefault(port, "protocol", "TCP");
      }
    }
    if (arrayAt(spec, "policyTypes").length > 0) return;
    spec["policyTypes"] = ["Ingress", ...(arrayAt(spec, "egress").length > 0 ? ["Egress"] : [])];
  },
  validate(policy) {
    const spec = objectAt(policy, "spec");
    const errors = selectorErrors(spec["podSelector"], "spec.podSelector");
    append(errors, ruleErrors(arrayAt(spec, "ingress"), "spec.ingress", "from"));
    append(errors, ruleErrors(arrayAt(spec, "egress"), "spec.egress", "to"));
    for (const [index, type] of arrayAt(spec, "policyTypes").entries()) {
      if (type === "Ingress" || type === "Egress") continue;
      errors.push(fieldNotSupported(`spec.policyTypes[${index}]`, type, ["Egress", "Ingress"]));
    }
    return errors;
  },
};

function ruleErrors(rules: readonly unknown[], path: string, peers: "from" | "to"): FieldError[] {
  return rules.flatMap((rule, index) => [
    ...arrayAt(rule, "ports").flatMap((port, place) =>
      portErrors(objectAt(port), `${path}[${index}].ports[${place}]`),
    ),
    ...arrayAt(rule, peers).flatMap((peer, place) =>
      peerErrors(objectAt(peer), `${path}[${index}].${peers}[${place}]`),
    ),
  ]);
}

const protocols = ["SCTP", "TCP", "UDP"];

function portErrors(port: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!protocols.includes(stringAt(port, "protocol"))) {
    errors.push(fieldNotSupported(`${path}.protocol`, port["protocol"], protocols));
  }
  const { port: value, endPort } = port;
  if (typeof value === "number") {
    if (!isPort(value)) {
      errors.push(fieldInvalid(`${path}.port`, value, "must be between 1 and 65535, inclusive"));
    }
    if (typeof endPort === "number") {
      if (endPort < value) {
        const detail = "must be greater than or equal to `port`";
        errors.push(fieldInvalid(`${path}.endPort`, endPort, detail));
      }
      if (!isPort(endPort)) {
        const detail = "must be between 1 and 65535, inclusive";
        errors.push(fieldInvalid(`${path}.endPort`, endPort, detail));
      }
    }
  } else if (endPort !== undefined) {
    const detail =
      "may not be specified when `port` is " +
      (value === undefined ? "not specified" : "non-numeric");
    errors.push(fieldInvalid(`${path}.endPort`, endPort, detail));
  }
  if (typeof value === "string") {
    for (const detail of portNameProblems(value)) {
      errors.push(fieldInvalid(`${path}.port`, value, detail));
    }
  }
  return errors;
}

function peerErrors(peer: JsonObject, path: string): FieldError[] {
  const kinds = ["podSelector", "namespaceSelector", "ipBlock"].filter(
    (kind) => peer[kind] !== undefined,
  );
  const errors: FieldError[] = [
    ...selectorErrors(peer["podSelector"], `${path}.podSelector`),
    ...selectorErrors(peer["namespaceSelector"], `${path}.namespaceSelector`),
    ...(peer["ipBlock"] === undefined ? [] : blockErrors(objectAt(peer, "ipBlock"), path)),
  ];
  if (kinds.length === 0) errors.push(fieldRequired(path, "must specify a peer"));
  if (kinds.length > 1 && kinds.includes("ipBlock")) {
    errors.push(fieldForbidden(path, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

const blockForm = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

function blockErrors(block: JsonObject, path: string): FieldError[] {
  const text = stringAt(block, "cidr");
  const place = `${path}.ipBlock`;
  if (text === "") return [fieldRequired(`${place}.cidr`)];
  const whole = parseIpBlock(text);
  if (whole === undefined) return [fieldInvalid(`${place}.cidr`, text, blockForm)];
  return arrayAt(block, "except").flatMap((except, index) => {
    const part = parseIpBlock(String(except));
    const field = `${place}.except[${index}]`;
    if (part === undefined) return [fieldInvalid(field, except, blockForm)];
    if (isInsideBlock(whole, part) && part.length > whole.length) return [];
    return [fieldInvalid(field, except, "must be a strict subset of `cidr`")];
  });
}

function selectorErrors(selector: unknown, path: string): FieldError[] {
  if (!isJsonObject(selector)) return [];
  const errors = validateLabels(selector["matchLabels"], `${path}.matchLabels`);
  for (const [index, item] of arrayAt(selector, "matchExpressions").entries()) {
    const place = `${path}.matchExpressions[${index}]`;
    const values = arrayAt(item, "values");
    const operator = stringAt(item, "operator");
    switch (operator) {
      case "In":
      case "NotIn":
        if (values.length === 0) {
          const detail = "must be specified when `operator` is 'In' or 'NotIn'";
          errors.push(fieldRequired(`${place}.values`, detail));
        }
        break;
      case "Exists":
      case "DoesNotExist":
        if (values.length > 0) {
          const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
          errors.push(fieldForbidden(`${place}.values`, detail));
        }
        break;
      default:
        errors.push(fieldInvalid(`${place}.operator`, operator, "not a valid selector operator"));
    }
  }
  return errors;
}
