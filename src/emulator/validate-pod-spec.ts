// The rules for a pod's spec that matter here: names, images, ports, mounts, resources, enumerations.
import { append } from "../env/long-lists.ts";
import { arrayAt, isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import { nameProblems } from "./object-metadata.ts";
import { compareQuantities, nanosOf } from "../model/quantity.ts";
import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  type FieldError,
} from "./status.ts";
import { validateContainerParts, validatePodParts } from "./validate-pod-parts.ts";

export function validatePodSpec(spec: JsonObject, path: string, isTemplate: boolean): FieldError[] {
  const errors: FieldError[] = [];
  validateVolumes(arrayAt(spec, "volumes"), `${path}.volumes`, errors);
  const volumes = new Set(arrayAt(spec, "volumes").map((volume) => stringAt(volume, "name")));
  const names = new Set<string>();
  const containers = arrayAt(spec, "containers");
  if (containers.length === 0) errors.push(fieldRequired(`${path}.containers`));
  for (const key of ["containers", "initContainers"]) {
    arrayAt(spec, key).forEach((container, index) => {
      const containerPath = `${path}.${key}[${index}]`;
      append(errors, validateContainer(objectAt(container), containerPath, volumes, names));
    });
  }
  checkEnumeration(errors, spec, `${path}.restartPolicy`, ["Always", "OnFailure", "Never"]);
  if (isTemplate && spec["restartPolicy"] !== "Always" && spec["restartPolicy"] !== undefined) {
    errors.push(fieldNotSupported(`${path}.restartPolicy`, spec["restartPolicy"], ["Always"]));
  }
  checkEnumeration(errors, spec, `${path}.dnsPolicy`, [
    ...["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
  ]);
  append(errors, imageErrors(arrayAt(spec, "containers"), `${path}.containers`));
  append(errors, validatePodParts(spec, path));
  return errors;
}

function checkEnumeration(
  errors: FieldError[],
  parent: JsonObject,
  path: string,
  supported: readonly string[],
): void {
  const value = parent[path.slice(path.lastIndexOf(".") + 1)];
  if (value === undefined || supported.includes(String(value))) return;
  errors.push(fieldNotSupported(path, value, supported));
}

/** The order in which the real server looks at a volume's sources; the first one found is right. */
const sourceOrder = [
  ...["emptyDir", "hostPath", "gitRepo", "secret", "nfs", "persistentVolumeClaim", "downwardAPI"],
  ...["configMap", "projected", "csi", "ephemeral", "image"],
];

function validateVolumes(volumes: unknown[], path: string, errors: FieldError[]): void {
  const names = new Set<string>();
  volumes.forEach((volume, index) => {
    const name = stringAt(volume, "name");
    if (name === "") errors.push(fieldRequired(`${path}[${index}].name`));
    else checkLabelName(errors, `${path}[${index}].name`, name);
    const sources = Object.keys(objectAt(volume)).filter((key) => key !== "name");
    sources.sort((left, right) => sourceOrder.indexOf(left) - sourceOrder.indexOf(right));
    for (const extra of sources.slice(1)) {
      const detail = "may not specify more than 1 volume type";
      errors.push(fieldForbidden(`${path}[${index}].${extra}`, detail));
    }
    if (names.has(name)) errors.push(fieldDuplicate(`${path}[${index}].name`, name));
    // A volume with other mistakes is not counted as seen, but may be mounted all the same.
    if (sources.length <= 1) names.add(name);
  });
}

function checkLabelName(errors: FieldError[], path: string, name: string): void {
  for (const problem of nameProblems("label", name)) errors.push(fieldInvalid(path, name, problem));
}

function validateContainer(
  container: JsonObject,
  path: string,
  volumes: ReadonlySet<string>,
  names: Set<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = stringAt(container, "name");
  if (name === "") errors.push(fieldRequired(`${path}.name`));
  else checkLabelName(errors, `${path}.name`, name);
  if (name !== "" && names.has(name)) errors.push(fieldDuplicate(`${path}.name`, name));
  names.add(name);
  const image = stringAt(container, "image");
  if (image === "") errors.push(fieldRequired(`${path}.image`));
  validatePorts(arrayAt(container, "ports"), `${path}.ports`, errors);
  validateEnvironment(arrayAt(container, "env"), `${path}.env`, errors);
  validateMounts(arrayAt(container, "volumeMounts"), `${path}.volumeMounts`, volumes, errors);
  checkEnumeration(errors, container, `${path}.imagePullPolicy`, [
    "Always",
    "IfNotPresent",
    "Never",
  ]);
  validateResources(objectAt(container, "resources"), `${path}.resources`, errors);
  append(errors, validateContainerParts(container, path));
  return errors;
}

function imageErrors(containers: unknown[], path: string): FieldError[] {
  return containers.flatMap((container, index) => {
    const image = stringAt(container, "image");
    if (image.trim() === image) return [];
    const detail = "must not have leading or trailing whitespace";
    return [fieldInvalid(`${path}[${index}].image`, image, detail)];
  });
}

function validatePorts(ports: unknown[], path: string, errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const { containerPort, name } = objectAt(port);
    if (containerPort === undefined || containerPort === 0) {
      errors.push(fieldRequired(`${path}[${index}].containerPort`));
    } else if (!isPort(containerPort)) {
      errors.push(
        fieldInvalid(
          `${path}[${index}].containerPort`,
          containerPort,
          "must be between 1 and 65535, inclusive",
        ),
      );
    }
    if (typeof name === "string") {
      if (names.has(name)) errors.push(fieldDuplicate(`${path}[${index}].name`, name));
      names.add(name);
    }
    checkEnumeration(errors, objectAt(port), `${path}[${index}].protocol`, ["SCTP", "TCP", "UDP"]);
  });
}

export function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65535;
}

function validateEnvironment(variables: unknown[], path: string, errors: FieldError[]): void {
  variables.forEach((variable, index) => {
    const { name, value, valueFrom } = objectAt(variable);
    if (typeof name !== "string" || name === "")
      errors.push(fieldRequired(`${path}[${index}].name`));
    if (isJsonObject(valueFrom) && typeof value === "string" && value !== "") {
      errors.push(
        fieldInvalid(
          `${path}[${index}].valueFrom`,
          "",
          "may not be specified when `value` is not empty",
        ),
      );
    }
  });
}

function validateMounts(
  mounts: unknown[],
  path: string,
  volumes: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const paths = new Set<string>();
  mounts.forEach((mount, index) => {
    const name = stringAt(mount, "name");
    const mountPath = stringAt(mount, "mountPath");
    if (name === "") errors.push(fieldRequired(`${path}[${index}].name`));
    else if (!volumes.has(name)) {
      errors.push(fieldNotFound(`${path}[${index}].name`, name));
    }
    if (mountPath === "") errors.push(fieldRequired(`${path}[${index}].mountPath`));
    if (paths.has(mountPath)) {
      errors.push(fieldInvalid(`${path}[${index}].mountPath`, mountPath, "must be unique"));
    }
    paths.add(mountPath);
  });
}

function validateResources(resources: JsonObject, path: string, errors: FieldError[]): void {
  const limits = objectAt(resources, "limits");
  const requests = objectAt(resources, "requests");
  checkAmounts(limits, `${path}.limits`, errors);
  for (const name of Object.keys(requests).sort()) {
    checkAmounts({ [name]: requests[name] }, `${path}.requests`, errors);
    const limit = limits[name];
    const request = String(requests[name]);
    if (limit === undefined || compareQuantities(request, String(limit)) <= 0) continue;
    const detail = `must be less than or equal to ${name} limit of ${String(limit)}`;
    errors.push(fieldInvalid(`${path}.requests`, request, detail));
  }
}

function checkAmounts(amounts: JsonObject, path: string, errors: FieldError[]): void {
  for (const name of Object.keys(amounts).sort()) {
    const amount = String(amounts[name]);
    if (nanosOf(amount) >= 0n) continue;
    errors.push(fieldInvalid(`${path}[${name}]`, amount, "must be greater than or equal to 0"));
  }
}
