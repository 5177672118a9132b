// Defaults of a pod's spec, for pods and for the templates of workloads.
import {
  arrayAt,
  ensureObject,
  isJsonObject,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";

export function setDefault(object: JsonObject, key: string, value: unknown): void {
  if (object[key] === undefined) object[key] = value;
}

export function defaultPodSpec(spec: JsonObject, isTemplate: boolean): void {
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "securityContext", {});
  setDefault(spec, "schedulerName", "default-scheduler");
  if (!isTemplate) setDefault(spec, "enableServiceLinks", true);
  const account = stringAt(spec, "serviceAccountName") || stringAt(spec, "serviceAccount");
  for (const key of ["serviceAccountName", "serviceAccount"]) {
    if (account !== "" && spec[key] !== account) spec[key] = account;
  }
  for (const volume of objects(spec, "volumes")) defaultVolume(volume);
  for (const group of ["initContainers", "containers"]) {
    for (const container of objects(spec, group)) {
      defaultContainer(container, spec["hostNetwork"] === true, isTemplate);
    }
  }
}

function objects(parent: JsonObject, key: string): JsonObject[] {
  return arrayAt(parent, key).filter(isJsonObject);
}

function defaultContainer(container: JsonObject, isOnHost: boolean, isTemplate: boolean): void {
  const image = stringAt(container, "image");
  setDefault(container, "imagePullPolicy", isLatest(image) ? "Always" : "IfNotPresent");
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "resources", {});
  if (!isTemplate) requestWhatIsLimited(ensureObject(container, "resources"));
  for (const port of objects(container, "ports")) {
    setDefault(port, "protocol", "TCP");
    if (isOnHost) setDefault(port, "hostPort", port["containerPort"]);
  }
  for (const variable of objects(container, "env")) {
    const fieldRef = objectAt(variable, "valueFrom", "fieldRef");
    if (fieldRef["fieldPath"] !== undefined) setDefault(fieldRef, "apiVersion", "v1");
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[name];
    if (isJsonObject(probe)) defaultProbe(probe);
  }
  for (const hook of ["postStart", "preStop"])
    defaultHttpGet(objectAt(container, "lifecycle", hook));
}

function requestWhatIsLimited(resources: JsonObject): void {
  const limits = resources["limits"];
  if (!isJsonObject(limits)) return;
  const requests = ensureObject(resources, "requests");
  for (const name in limits) setDefault(requests, name, limits[name]);
}

function isLatest(image: string): boolean {
  const tag = /:([^/@]+)(?:@.*)?$/.exec(image)?.[1];
  if (image.includes("@")) return tag === "latest" && !image.includes("@sha256");
  return tag === undefined || tag === "latest";
}

function defaultProbe(probe: JsonObject): void {
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
  defaultHttpGet(probe);
  const grpc = probe["grpc"];
  if (isJsonObject(grpc)) setDefault(grpc, "service", "");
}

function defaultHttpGet(handler: JsonObject): void {
  const httpGet = handler["httpGet"];
  if (!isJsonObject(httpGet)) return;
  setDefault(httpGet, "path", "/");
  setDefault(httpGet, "scheme", "HTTP");
}

function defaultVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((key) => key !== "name");
  if (sources.length === 0) volume["emptyDir"] = {};
  for (const key of ["secret", "configMap", "downwardAPI", "projected"]) {
    const source = volume[key];
    if (!isJsonObject(source)) continue;
    setDefault(source, "defaultMode", 420);
    defaultDownwardItems(source);
    for (const projection of objects(source, "sources")) {
      const token = projection["serviceAccountToken"];
      if (isJsonObject(token)) setDefault(token, "expirationSeconds", 3600);
      defaultDownwardItems(objectAt(projection, "downwardAPI"));
    }
  }
  const hostPath = volume["hostPath"];
  if (isJsonObject(hostPath)) setDefault(hostPath, "type", "");
  const claimSpec = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
  if (claimSpec["resources"] !== undefined) setDefault(claimSpec, "volumeMode", "Filesystem");
}

function defaultDownwardItems(source: JsonObject): void {
  for (const item of objects(source, "items")) {
    const fieldRef = item["fieldRef"];
    if (isJsonObject(fieldRef)) setDefault(fieldRef, "apiVersion", "v1");
  }
}
