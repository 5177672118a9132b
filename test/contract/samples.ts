// Small objects that many contract cases start from.
import { jsonOf } from "./target.ts";
import type { Json } from "./target.ts";

export function configMap(name: string, data: Json = { a: "1" }, metadata: Json = {}): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function pod(name: string, spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    // Without the token's volume, whose name is random.
    spec: {
      containers: [{ name: "main", image: "example/image:1" }],
      automountServiceAccountToken: false,
      ...spec,
    },
  };
}

export function deployment(name: string, spec: Json = {}): Json {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "example/image:1" }] },
      },
      ...spec,
    },
  };
}

export function service(name: string, spec: Json = {}): Json {
  const ports = [{ name: "client", port: 4500 }];
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports, ...spec } };
}

export function claim(name: string, spec: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...spec,
    },
  };
}

export function volume(name: string, spec: Json = {}, labels: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, labels },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "disk.example.com", volumeHandle: name },
      ...spec,
    },
  };
}

export function node(name: string, labels: Json = {}, capacity: Json = {}, spec: Json = {}): Json {
  const resources = { cpu: "4", memory: "8Gi", pods: "110", ...capacity };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec,
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
    },
  };
}

export function ownerOf(owner: Json, extra: Json = {}): Json {
  const metadata = jsonOf(owner["metadata"]);
  return {
    apiVersion: owner["apiVersion"],
    kind: owner["kind"],
    name: metadata["name"],
    uid: metadata["uid"],
    ...extra,
  };
}
