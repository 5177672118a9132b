// The environment of a container: literal values, references to other variables, the downward API,
// ConfigMaps and Secrets. Pure. Carries rules KUBELET17 and KUBELET18.
import type {
  ConfigMap,
  Container,
  EnvVarSource,
  Pod,
  ResourceFieldSelector,
  Secret,
} from "../kube/generated/types.ts";
import { quantityValue } from "./scheduler-quantity.ts";

export interface EnvironmentSources {
  readonly pod: Pod;
  readonly podIps: readonly string[];
  readonly hostIp: string;
  configMap(name: string): ConfigMap | undefined;
  secret(name: string): Secret | undefined;
}

export type Environment = Readonly<Record<string, string>>;

export function resolveEnvironment(
  container: Container,
  sources: EnvironmentSources,
): { value: Environment } | { problem: string } {
  const { pod } = sources;
  const environment: Record<string, string> = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOSTNAME: pod.spec?.hostname ?? pod.metadata.name ?? "",
  };
  for (const from of container.envFrom ?? []) {
    const { configMapRef, secretRef, prefix = "" } = from;
    const data =
      configMapRef === undefined
        ? secretRef && secretData(sources.secret(secretRef.name ?? ""))
        : sources.configMap(configMapRef.name ?? "")?.data;
    if (data === undefined && (configMapRef?.optional ?? secretRef?.optional) !== true) {
      return {
        problem: missing(
          configMapRef === undefined ? "secret" : "configmap",
          configMapRef?.name ?? secretRef?.name,
        ),
      };
    }
    for (const [key, value] of Object.entries(data ?? {})) environment[prefix + key] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (valueFrom === undefined) {
      environment[name] = expandVariables(value ?? "", environment);
      continue;
    }
    const found = readSource(valueFrom, container, sources);
    if (found !== undefined && "problem" in found) return found;
    if (found !== undefined) environment[name] = found.value;
  }
  return { value: environment };
}

/**
 * $(NAME) becomes the variable's value, $$(NAME) the text $(NAME); unknown names stay as they are.
 */
export function expandVariables(text: string, environment: Environment): string {
  if (!text.includes("$")) return text;
  return text.replaceAll(/\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g, (whole, name?: string) => {
    if (whole === "$$") return "$";
    return (name === undefined ? undefined : environment[name]) ?? whole;
  });
}

export function secretData(secret: Secret | undefined): Record<string, string> | undefined {
  if (secret === undefined) return undefined;
  const decode = (text: string): string => Buffer.from(text, "base64").toString("utf8");
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, decode(value)]),
  );
}

type Found = { value: string } | { problem: string } | undefined;

function readSource(
  source: EnvVarSource,
  container: Container,
  sources: EnvironmentSources,
): Found {
  const { fieldRef, configMapKeyRef, secretKeyRef, resourceFieldRef } = source;
  if (fieldRef !== undefined) return readField(fieldRef.fieldPath, sources);
  if (resourceFieldRef !== undefined) return readResource(resourceFieldRef, container);
  if (configMapKeyRef !== undefined) {
    const map = sources.configMap(configMapKeyRef.name ?? "");
    return readKey("configmap", configMapKeyRef, map && (map.data ?? {}), sources.pod);
  }
  if (secretKeyRef !== undefined) {
    const data = secretData(sources.secret(secretKeyRef.name ?? ""));
    return readKey("secret", secretKeyRef, data, sources.pod);
  }
  return { problem: "an environment variable has an unknown source" };
}

function readKey(
  kind: string,
  reference: { name?: string; key: string; optional?: boolean },
  data: Readonly<Record<string, string>> | undefined,
  pod: Pod,
): Found {
  const value = data?.[reference.key];
  if (value !== undefined) return { value };
  if (reference.optional === true) return undefined;
  if (data === undefined) return { problem: missing(kind, reference.name) };
  const where = `${kind === "secret" ? "Secret" : "ConfigMap"} ${pod.metadata.namespace}/${reference.name}`;
  return { problem: `couldn't find key ${reference.key} in ${where}` };
}

function missing(kind: string, name: string | undefined): string {
  return `${kind} "${name ?? ""}" not found`;
}

/** The downward API. */
export function readField(fieldPath: string, sources: EnvironmentSources): Found {
  const { pod, podIps, hostIp } = sources;
  const keyed = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(fieldPath);
  if (keyed !== null) {
    const map = keyed[1] === "labels" ? pod.metadata.labels : pod.metadata.annotations;
    return { value: map?.[keyed[2] ?? ""] ?? "" };
  }
  const values: Readonly<Record<string, string | undefined>> = {
    "metadata.name": pod.metadata.name,
    "metadata.namespace": pod.metadata.namespace,
    "metadata.uid": pod.metadata.uid,
    "spec.nodeName": pod.spec?.nodeName,
    "spec.serviceAccountName": pod.spec?.serviceAccountName ?? "default",
    "status.podIP": podIps[0] ?? "",
    "status.podIPs": podIps.join(","),
    "status.hostIP": hostIp,
    "status.hostIPs": hostIp,
  };
  const value = values[fieldPath];
  return value === undefined ? { problem: `unsupported fieldPath: ${fieldPath}` } : { value };
}

function readResource(selector: ResourceFieldSelector, container: Container): Found {
  const [list, ...rest] = selector.resource.split(".");
  const name = rest.join(".");
  const resources = list === "limits" ? container.resources?.limits : container.resources?.requests;
  const amount = quantityValue(resources?.[name]);
  const divisor = quantityValue(selector.divisor) || 1;
  return { value: String(Math.ceil(amount / divisor)) };
}
