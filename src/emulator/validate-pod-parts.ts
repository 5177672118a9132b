// Rules for the parts of a pod that users write into templates and get wrong: probes, tolerations,
// affinity, spread constraints, downward fields. [KC61]
import { append } from "../env/long-lists.ts";
import { arrayAt, isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import { nameProblems, qualifiedNameProblems } from "./object-metadata.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired, type FieldError } from "./status.ts";

const portRange = "must be between 1 and 65535, inclusive";
const userRange = "must be between 0 and 2147483647, inclusive";
const downwardField =
  /^(metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['.+'\])|spec\.(nodeName|serviceAccountName)|status\.(phase|hostIPs?|podIPs?))$/;
const handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
const nodeOperators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

/** What concerns the pod as a whole. */
export function validatePodParts(spec: JsonObject, path: string): FieldError[] {
  return [
    ...nameErrors(spec, "nodeName", "subdomain", path),
    ...nameErrors(spec, "hostname", "label", path),
    ...nameErrors(spec, "subdomain", "label", path),
    ...eachOf(spec, "volumes", path, claimErrors),
    ...eachOf(spec, "tolerations", path, tolerationErrors),
    ...eachOf(spec, "topologySpreadConstraints", path, spreadErrors),
    ...nodeAffinityErrors(
      objectAt(spec, "affinity", "nodeAffinity"),
      `${path}.affinity.nodeAffinity`,
    ),
    ...["podAffinity", "podAntiAffinity"].flatMap((kind) =>
      podAffinityErrors(objectAt(spec, "affinity", kind), `${path}.affinity.${kind}`),
    ),
  ];
}

function nameErrors(
  spec: JsonObject,
  key: string,
  form: "subdomain" | "label",
  path: string,
): FieldError[] {
  const name = stringAt(spec, key);
  if (name === "") return [];
  return nameProblems(form, name).map((detail) => fieldInvalid(`${path}.${key}`, name, detail));
}

/** What concerns one container beyond its name and image. */
export function validateContainerParts(container: JsonObject, path: string): FieldError[] {
  return [
    ...eachOf(container, "ports", path, portErrors),
    ...eachOf(container, "env", path, variableErrors),
    ...["livenessProbe", "readinessProbe", "startupProbe"].flatMap((kind) =>
      probeErrors(container[kind], `${path}.${kind}`),
    ),
    ...["runAsUser", "runAsGroup"].flatMap((key) =>
      userErrors(objectAt(container, "securityContext")[key], `${path}.securityContext.${key}`),
    ),
  ];
}

function eachOf(
  parent: JsonObject,
  key: string,
  path: string,
  check: (item: JsonObject, path: string) => FieldError[],
): FieldError[] {
  return arrayAt(parent, key).flatMap((item, index) =>
    check(objectAt(item), `${path}.${key}[${index}]`),
  );
}

function claimErrors(volume: JsonObject, path: string): FieldError[] {
  if (!isJsonObject(volume["persistentVolumeClaim"])) return [];
  if (stringAt(volume, "persistentVolumeClaim", "claimName") !== "") return [];
  return [fieldRequired(`${path}.persistentVolumeClaim.claimName`)];
}

function portErrors(port: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = stringAt(port, "name");
  for (const detail of name === "" ? [] : portNameProblems(name)) {
    errors.push(fieldInvalid(`${path}.name`, name, detail));
  }
  const hostPort = port["hostPort"] ?? 0;
  if (hostPort !== 0 && !isWithin(hostPort, 1, 65535)) {
    errors.push(fieldInvalid(`${path}.hostPort`, hostPort, portRange));
  }
  return errors;
}

export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) {
    problems.push("must not begin or end with a hyphen");
  }
  return problems;
}

function variableErrors(variable: JsonObject, path: string): FieldError[] {
  const reference = objectAt(variable, "valueFrom")["fieldRef"];
  if (!isJsonObject(reference)) return [];
  const field = `${path}.valueFrom.fieldRef.fieldPath`;
  const fieldPath = stringAt(reference, "fieldPath");
  if (fieldPath === "") return [fieldRequired(field)];
  if (downwardField.test(fieldPath)) return [];
  const detail = `error converting fieldPath: field label not supported: ${fieldPath}`;
  return [fieldInvalid(field, fieldPath, detail)];
}

function probeErrors(probe: unknown, path: string): FieldError[] {
  if (!isJsonObject(probe)) return [];
  const errors: FieldError[] = [];
  if (!handlers.some((handler) => isJsonObject(probe[handler]))) {
    errors.push(fieldRequired(path, "must specify a handler type"));
  }
  for (const handler of ["httpGet", "tcpSocket"]) {
    const port = objectAt(probe, handler)["port"];
    if (typeof port === "number" && !isWithin(port, 1, 65535)) {
      errors.push(fieldInvalid(`${path}.${handler}.port`, port, portRange));
    }
  }
  const numbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds"];
  for (const key of [...numbers, "successThreshold", "failureThreshold"]) {
    const value = probe[key];
    if (typeof value === "number" && value < 0) {
      errors.push(fieldInvalid(`${path}.${key}`, value, "must be greater than or equal to 0"));
    }
  }
  return errors;
}

function userErrors(id: unknown, path: string): FieldError[] {
  if (id === undefined || isWithin(id, 0, 2_147_483_647)) return [];
  return [fieldInvalid(path, id, userRange)];
}

function tolerationErrors(toleration: JsonObject, path: string): FieldError[] {
  const field = `${path}.operator`;
  const operator = stringAt(toleration, "operator");
  const errors: FieldError[] = [];
  if (stringAt(toleration, "key") === "" && operator !== "Exists") {
    const detail =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldInvalid(field, operator, detail));
  }
  const value = stringAt(toleration, "value");
  if (operator === "Exists" && value !== "") {
    errors.push(fieldInvalid(field, value, "value must be empty when `operator` is 'Exists'"));
  } else if (!["", "Equal", "Exists"].includes(operator)) {
    errors.push(fieldNotSupported(field, operator, ["Equal", "Exists"]));
  }
  return errors;
}

function spreadErrors(constraint: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const maxSkew = constraint["maxSkew"] ?? 0;
  if (Number(maxSkew) <= 0) {
    errors.push(fieldInvalid(`${path}.maxSkew`, maxSkew, "must be greater than zero"));
  }
  if (stringAt(constraint, "topologyKey") === "") {
    errors.push(fieldRequired(`${path}.topologyKey`, "can not be empty"));
  }
  const modes = ["DoNotSchedule", "ScheduleAnyway"];
  const mode = stringAt(constraint, "whenUnsatisfiable");
  if (!modes.includes(mode)) {
    errors.push(fieldNotSupported(`${path}.whenUnsatisfiable`, mode, modes));
  }
  return errors;
}

function nodeAffinityErrors(affinity: JsonObject, path: string): FieldError[] {
  const errors = eachOf(affinity, preferred, path, (term, termPath) => [
    ...weightErrors(term, termPath),
    ...nodeTermErrors(objectAt(term, "preference"), `${termPath}.preference`),
  ]);
  const selector = affinity[required];
  if (!isJsonObject(selector)) return errors;
  const terms = `${path}.${required}.nodeSelectorTerms`;
  if (arrayAt(selector, "nodeSelectorTerms").length === 0) {
    errors.push(fieldRequired(terms, "must have at least one node selector term"));
  }
  append(errors, eachOf(selector, "nodeSelectorTerms", `${path}.${required}`, nodeTermErrors));
  return errors;
}

function nodeTermErrors(term: JsonObject, path: string): FieldError[] {
  return eachOf(term, "matchExpressions", path, (expression, expressionPath) => {
    const operator = stringAt(expression, "operator");
    if (nodeOperators.includes(operator)) return [];
    const detail = "not a valid selector operator";
    return [fieldInvalid(`${expressionPath}.operator`, operator, detail)];
  });
}

function podAffinityErrors(affinity: JsonObject, path: string): FieldError[] {
  return [
    ...eachOf(affinity, required, path, topologyErrors),
    ...eachOf(affinity, preferred, path, (term, termPath) => [
      ...weightErrors(term, termPath),
      ...topologyErrors(objectAt(term, "podAffinityTerm"), `${termPath}.podAffinityTerm`),
    ]),
  ];
}

function topologyErrors(term: JsonObject, path: string): FieldError[] {
  const field = `${path}.topologyKey`;
  const key = stringAt(term, "topologyKey");
  const errors = key === "" ? [fieldRequired(field, "can not be empty")] : [];
  for (const detail of qualifiedNameProblems(key)) errors.push(fieldInvalid(field, key, detail));
  return errors;
}

function weightErrors(term: JsonObject, path: string): FieldError[] {
  const weight = term["weight"] ?? 0;
  if (isWithin(weight, 1, 100)) return [];
  return [fieldInvalid(`${path}.weight`, weight, "must be in the range 1-100")];
}

function isWithin(value: unknown, from: number, to: number): boolean {
  return Number.isInteger(value) && Number(value) >= from && Number(value) <= to;
}
