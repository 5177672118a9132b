// The columns that kubectl get shows for each built-in kind.
import { arrayAt, objectAt, stringAt, valueAt, type JsonObject } from "./json.ts";
import { podReady, podRestarts, podStatus } from "./table-of-pods.ts";
import { ageSince } from "./table-age.ts";

export interface Column {
  name: string;
  type: string;
  format?: string;
  /** 0 is shown always, 1 with -o wide. */
  priority?: number;
  cell(object: JsonObject, nowMs: number): unknown;
}

type Cell = Column["cell"];

const text = (name: string, cell: Cell): Column => ({ name, type: "string", cell });
const whole = (name: string, cell: Cell): Column => ({ name, type: "integer", cell });
const wide = (name: string, cell: Cell): Column => ({ name, type: "string", priority: 1, cell });
const at =
  (...path: string[]): Cell =>
  (object) =>
    stringAt(object, ...path);
const orNone =
  (...path: string[]): Cell =>
  (object) =>
    stringAt(object, ...path) || "<none>";
const orUnset =
  (...path: string[]): Cell =>
  (object) =>
    stringAt(object, ...path) || "<unset>";
const count =
  (...path: string[]): Cell =>
  (object) =>
    Number(valueAt(object, ...path) ?? 0);

const name: Column = { ...text("Name", at("metadata", "name")), format: "name" };
const age = text("Age", (object, nowMs) =>
  ageSince(stringAt(object, "metadata", "creationTimestamp"), nowMs),
);
const createdAt: Column = {
  name: "Created At",
  type: "date",
  cell: at("metadata", "creationTimestamp"),
};

export const columnsByKind: Readonly<Record<string, Column[]>> = {
  Pod: [
    ...[
      name,
      text("Ready", podReady),
      text("Status", podStatus),
      text("Restarts", podRestarts),
      age,
    ],
    ...[wide("IP", orNone("status", "podIP")), wide("Node", orNone("spec", "nodeName"))],
    wide("Nominated Node", orNone("status", "nominatedNodeName")),
    wide("Readiness Gates", readinessGates),
  ],
  Node: [
    ...[name, text("Status", nodeStatus), text("Roles", nodeRoles), age],
    text("Version", at("status", "nodeInfo", "kubeletVersion")),
    wide("Internal-IP", (node) => nodeAddress(node, "InternalIP")),
    wide("External-IP", (node) => nodeAddress(node, "ExternalIP")),
    wide("OS-Image", (node) => stringAt(node, "status", "nodeInfo", "osImage") || "<unknown>"),
    wide(
      "Kernel-Version",
      (node) => stringAt(node, "status", "nodeInfo", "kernelVersion") || "<unknown>",
    ),
    wide("Container-Runtime", containerRuntime),
  ],
  PersistentVolumeClaim: [
    ...[
      name,
      text("Status", terminatingOr("status", "phase")),
      text("Volume", at("spec", "volumeName")),
    ],
    text("Capacity", (claim) =>
      stringAt(claim, "spec", "volumeName") === ""
        ? ""
        : stringAt(claim, "status", "capacity", "storage"),
    ),
    text("Access Modes", (claim) =>
      stringAt(claim, "spec", "volumeName") === ""
        ? ""
        : modes(arrayAt(claim, "status", "accessModes")),
    ),
    text("StorageClass", at("spec", "storageClassName")),
    ...[text("VolumeAttributesClass", orUnset("spec", "volumeAttributesClassName")), age],
    wide("VolumeMode", orUnset("spec", "volumeMode")),
  ],
  PersistentVolume: [
    ...[name, text("Capacity", at("spec", "capacity", "storage"))],
    text("Access Modes", (volume) => modes(arrayAt(volume, "spec", "accessModes"))),
    text("Reclaim Policy", at("spec", "persistentVolumeReclaimPolicy")),
    ...[text("Status", terminatingOr("status", "phase")), text("Claim", volumeClaim)],
    text("StorageClass", at("spec", "storageClassName")),
    text("VolumeAttributesClass", orUnset("spec", "volumeAttributesClassName")),
    ...[text("Reason", at("status", "reason")), age],
    wide("VolumeMode", orUnset("spec", "volumeMode")),
  ],
  ConfigMap: [
    name,
    text("Data", (object) => members(object, "data") + members(object, "binaryData")),
    age,
  ],
  Secret: [name, text("Type", at("type")), text("Data", (object) => members(object, "data")), age],
  Service: [
    ...[name, text("Type", at("spec", "type")), text("Cluster-IP", orNone("spec", "clusterIP"))],
    ...[text("External-IP", externalIp), text("Port(s)", servicePorts), age],
    wide("Selector", (service) => pairs(objectAt(service, "spec", "selector"))),
  ],
  ServiceAccount: [name, age],
  Namespace: [name, text("Status", at("status", "phase")), age],
  Endpoints: [name, text("Endpoints", endpoints), age],
  Event: [
    ...[text("Last Seen", eventLastSeen), text("Type", at("type")), text("Reason", at("reason"))],
    ...[text("Object", eventObject), wide("Subobject", at("involvedObject", "fieldPath"))],
    ...[wide("Source", eventSource), text("Message", eventMessage)],
    ...[wide("First Seen", eventFirstSeen), wide("Count", (event) => eventCount(event))],
    { ...wide("Name", at("metadata", "name")), format: "name" },
  ],
  Deployment: [
    name,
    text("Ready", (object) => `${numberAt(object, "status", "readyReplicas")}/${desired(object)}`),
    text("Up-to-date", count("status", "updatedReplicas")),
    ...[text("Available", count("status", "availableReplicas")), age],
    ...templateColumns(),
  ],
  ReplicaSet: [
    ...[name, whole("Desired", desired), whole("Current", count("status", "replicas"))],
    ...[whole("Ready", count("status", "readyReplicas")), age],
    ...templateColumns(),
  ],
  Lease: [name, text("Holder", at("spec", "holderIdentity")), age],
  PodDisruptionBudget: [
    ...[name, text("Min Available", orAbsent("spec", "minAvailable"))],
    text("Max Unavailable", orAbsent("spec", "maxUnavailable")),
    ...[whole("Allowed Disruptions", count("status", "disruptionsAllowed")), age],
  ],
  NetworkPolicy: [name, text("Pod-Selector", podSelector), age],
  StorageClass: [
    ...[
      { ...text("Name", storageClassName), format: "name" },
      text("Provisioner", at("provisioner")),
    ],
    ...[
      text("ReclaimPolicy", at("reclaimPolicy")),
      text("VolumeBindingMode", at("volumeBindingMode")),
    ],
    ...[text("AllowVolumeExpansion", (object) => object["allowVolumeExpansion"] === true), age],
  ],
  Role: [name, createdAt],
  ClusterRole: [name, createdAt],
  RoleBinding: bindingColumns(),
  ClusterRoleBinding: bindingColumns(),
  CustomResourceDefinition: [
    ...[name, text("Scope", at("spec", "scope")), text("Versions", crdVersions), createdAt],
    ...[wide("Group", at("spec", "group")), wide("Kind", at("spec", "names", "kind"))],
    wide("ShortNames", (object) => arrayAt(object, "spec", "names", "shortNames").join(",")),
    { name: "Established", type: "boolean", priority: 1, cell: isEstablished },
  ],
};

function numberAt(object: JsonObject, ...path: string[]): number {
  return Number(valueAt(object, ...path) ?? 0);
}

function desired(object: JsonObject): number {
  return numberAt(object, "spec", "replicas");
}

function members(object: JsonObject, key: string): number {
  return Object.keys(objectAt(object, key)).length;
}

function orAbsent(...path: string[]): Cell {
  return (object) => String(valueAt(object, ...path) ?? "N/A");
}

function terminatingOr(...path: string[]): Cell {
  return (object) =>
    stringAt(object, "metadata", "deletionTimestamp") === ""
      ? stringAt(object, ...path)
      : "Terminating";
}

function pairs(values: JsonObject): string {
  const keys = Object.keys(values).sort();
  return keys.length === 0
    ? "<none>"
    : keys.map((key) => `${key}=${String(values[key])}`).join(",");
}

/** As a selector is written on a command line, sorted by key. */
function podSelector(policy: JsonObject): string {
  const selector = objectAt(policy, "spec", "podSelector");
  const labels = Object.entries(objectAt(selector, "matchLabels")).map(
    ([key, value]) => [key, `${key}=${String(value)}`] as const,
  );
  const expressions = arrayAt(selector, "matchExpressions").map((item) => {
    const key = stringAt(item, "key");
    const values = arrayAt(item, "values").map(String).sort().join(",");
    const texts: Readonly<Record<string, string>> = {
      In: `${key} in (${values})`,
      NotIn: `${key} notin (${values})`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    return [key, texts[stringAt(item, "operator")] ?? key] as const;
  });
  const all = [...labels, ...expressions].sort(([one], [other]) => (one < other ? -1 : 1));
  return all.length === 0 ? "<none>" : all.map(([, told]) => told).join(",");
}

const modeLetters: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(list: unknown[]): string {
  const given = new Set(list.map(String));
  return Object.keys(modeLetters)
    .filter((mode) => given.has(mode))
    .map((mode) => modeLetters[mode])
    .join(",");
}

function volumeClaim(volume: JsonObject): string {
  const claim = objectAt(volume, "spec", "claimRef");
  const claimName = stringAt(claim, "name");
  return claimName === "" ? "" : `${stringAt(claim, "namespace")}/${claimName}`;
}

function readinessGates(pod: JsonObject): string {
  const gates = arrayAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  const passed = gates.filter((gate) =>
    arrayAt(pod, "status", "conditions").some(
      (condition) =>
        stringAt(condition, "type") === stringAt(gate, "conditionType") &&
        stringAt(condition, "status") === "True",
    ),
  );
  return `${passed.length}/${gates.length}`;
}

function nodeStatus(node: JsonObject): string {
  const ready = arrayAt(node, "status", "conditions").find(
    (condition) => stringAt(condition, "type") === "Ready",
  );
  const words =
    ready === undefined
      ? ["Unknown"]
      : [stringAt(ready, "status") === "True" ? "Ready" : "NotReady"];
  if (valueAt(node, "spec", "unschedulable") === true) words.push("SchedulingDisabled");
  return words.join(",");
}

function nodeRoles(node: JsonObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.keys(objectAt(node, "metadata", "labels"));
  const roles = labels
    .filter((label) => label.startsWith(prefix))
    .map((label) => label.slice(prefix.length));
  return roles.length === 0 ? "<none>" : roles.sort().join(",");
}

function nodeAddress(node: JsonObject, type: string): string {
  const found = arrayAt(node, "status", "addresses").find(
    (address) => stringAt(address, "type") === type,
  );
  return stringAt(found, "address") || "<none>";
}

function containerRuntime(node: JsonObject): string {
  return stringAt(node, "status", "nodeInfo", "containerRuntimeVersion") || "<unknown>";
}

function externalIp(service: JsonObject): string {
  const listed = arrayAt(service, "spec", "externalIPs").map(String);
  switch (stringAt(service, "spec", "type")) {
    case "LoadBalancer": {
      const given = arrayAt(service, "status", "loadBalancer", "ingress").map(
        (ingress) => stringAt(ingress, "ip") || stringAt(ingress, "hostname"),
      );
      const all = [...given, ...listed];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return stringAt(service, "spec", "externalName");
    default:
      return listed.length === 0 ? "<none>" : listed.join(",");
  }
}

function servicePorts(service: JsonObject): string {
  const ports = arrayAt(service, "spec", "ports").map((item) => {
    const { port, nodePort, protocol } = objectAt(item);
    const number = typeof nodePort === "number" ? `${String(port)}:${nodePort}` : String(port);
    return `${number}/${String(protocol)}`;
  });
  return ports.length === 0 ? "<none>" : ports.join(",");
}

function endpoints(object: JsonObject): string {
  const all = arrayAt(object, "subsets").flatMap((subset) =>
    arrayAt(subset, "addresses").flatMap((address) =>
      arrayAt(subset, "ports").map(
        (port) => `${stringAt(address, "ip")}:${numberAt(objectAt(port), "port")}`,
      ),
    ),
  );
  if (all.length === 0) return "<none>";
  return all.length <= 3
    ? all.join(",")
    : `${all.slice(0, 3).join(",")} + ${all.length - 3} more...`;
}

/** The two groups name the same members differently. */
const eitherText = (event: JsonObject, ...paths: string[][]): string =>
  paths.map((path) => stringAt(event, ...path)).find((value) => value !== "") ?? "";

function eventLastSeen(event: JsonObject, nowMs: number): string {
  const last = eitherText(
    event,
    ["series", "lastObservedTime"],
    ["lastTimestamp"],
    ["deprecatedLastTimestamp"],
  );
  if (last !== "") return ageSince(last, nowMs);
  return eventFirstSeen(event, nowMs);
}

function eventFirstSeen(event: JsonObject, nowMs: number): string {
  const first = eitherText(event, ["firstTimestamp"], ["deprecatedFirstTimestamp"], ["eventTime"]);
  return ageSince(first, nowMs);
}

function eventObject(event: JsonObject): string {
  const about =
    event["involvedObject"] === undefined
      ? objectAt(event, "regarding")
      : objectAt(event, "involvedObject");
  const kind = stringAt(about, "kind").toLowerCase();
  return `${kind}/${stringAt(about, "name")}`;
}

function eventSource(event: JsonObject): string {
  const source =
    event["source"] === undefined ? objectAt(event, "deprecatedSource") : objectAt(event, "source");
  const component =
    stringAt(source, "component") ||
    eitherText(event, ["reportingComponent"], ["reportingController"]);
  const host = stringAt(source, "host") || stringAt(event, "reportingInstance");
  return [component, host].filter((part) => part !== "").join(", ");
}

function eventMessage(event: JsonObject): string {
  return eitherText(event, ["message"], ["note"]).trim();
}

function eventCount(event: JsonObject): number {
  const series = valueAt(event, "series", "count");
  return Number(series ?? event["count"] ?? event["deprecatedCount"] ?? 1) || 1;
}

function templateColumns(): Column[] {
  const containers = (object: JsonObject): unknown[] =>
    arrayAt(object, "spec", "template", "spec", "containers");
  return [
    wide("Containers", (object) =>
      containers(object)
        .map((item) => stringAt(item, "name"))
        .join(","),
    ),
    wide("Images", (object) =>
      containers(object)
        .map((item) => stringAt(item, "image"))
        .join(","),
    ),
    wide("Selector", (object) => pairs(objectAt(object, "spec", "selector", "matchLabels"))),
  ];
}

function bindingColumns(): Column[] {
  const subjects = (object: JsonObject, kind: string): string =>
    arrayAt(object, "subjects")
      .filter((subject) => stringAt(subject, "kind") === kind)
      .map((subject) =>
        kind === "ServiceAccount"
          ? `${stringAt(subject, "namespace")}/${stringAt(subject, "name")}`
          : stringAt(subject, "name"),
      )
      .join(", ");
  return [
    name,
    text(
      "Role",
      (object) => `${stringAt(object, "roleRef", "kind")}/${stringAt(object, "roleRef", "name")}`,
    ),
    age,
    wide("Users", (object) => subjects(object, "User")),
    wide("Groups", (object) => subjects(object, "Group")),
    wide("ServiceAccounts", (object) => subjects(object, "ServiceAccount")),
  ];
}

function storageClassName(object: JsonObject): string {
  const annotation = "storageclass.kubernetes.io/is-default-class";
  const isDefault = objectAt(object, "metadata", "annotations")[annotation] === "true";
  return `${stringAt(object, "metadata", "name")}${isDefault ? " (default)" : ""}`;
}

function crdVersions(object: JsonObject): string {
  return arrayAt(object, "spec", "versions")
    .map((version) => {
      const { name: versionName, storage } = objectAt(version);
      return `${String(versionName)}${storage === true ? "(storage)" : ""}`;
    })
    .join(",");
}

function isEstablished(object: JsonObject): boolean {
  return arrayAt(object, "status", "conditions").some(
    (condition) =>
      stringAt(condition, "type") === "Established" && stringAt(condition, "status") === "True",
  );
}
