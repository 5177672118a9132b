// The environment of containers.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../kube/generated/types.ts";
import { expandVariables, resolveEnvironment } from "./kubelet-environment.ts";
import type { EnvironmentSources } from "./kubelet-environment.ts";

const sources: EnvironmentSources = {
  pod: {
    metadata: {
      name: "p",
      namespace: "ns",
      uid: "u",
      labels: { "a/b": "label" },
      annotations: { "foundationdb.org/public-ip": "10.96.0.1" },
    },
    spec: { containers: [], nodeName: "node1", hostname: "host" },
  },
  podIps: ["10.1.0.1", "fd00::1"],
  hostIp: "10.0.0.1",
  configMap: (name) => (name === "map" ? { metadata: {}, data: { key: "mapped" } } : undefined),
  secret: (name) => (name === "hidden" ? { metadata: {}, data: { key: "dmFsdWU=" } } : undefined),
};

function resolve(container: Partial<Container>) {
  return resolveEnvironment({ name: "main", ...container }, sources);
}

const field = (name: string, fieldPath: string) => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});

test("[KUBELET17] the downward API", () => {
  const environment = resolve({
    env: [
      field("NAME", "metadata.name"),
      field("NAMESPACE", "metadata.namespace"),
      field("UID", "metadata.uid"),
      field("LABEL", "metadata.labels['a/b']"),
      field("ADDRESS", "metadata.annotations['foundationdb.org/public-ip']"),
      field("ABSENT", "metadata.annotations['none']"),
      field("NODE", "spec.nodeName"),
      field("IP", "status.podIP"),
      field("IPS", "status.podIPs"),
      field("HOST", "status.hostIP"),
      { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
    ],
    resources: { limits: { cpu: "1500m" } },
  });
  assert.ok("value" in environment);
  const { PATH: _path, ...rest } = environment.value;
  assert.deepEqual(rest, {
    HOSTNAME: "host",
    NAME: "p",
    NAMESPACE: "ns",
    UID: "u",
    LABEL: "label",
    ADDRESS: "10.96.0.1",
    ABSENT: "",
    NODE: "node1",
    IP: "10.1.0.1",
    IPS: "10.1.0.1,fd00::1",
    HOST: "10.0.0.1",
    CPU: "2",
  });
});

test("[KUBELET18] references to earlier variables, ConfigMaps and Secrets", () => {
  const environment = resolve({
    envFrom: [
      { prefix: "M_", configMapRef: { name: "map" } },
      { configMapRef: { name: "no", optional: true } },
    ],
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "$(A)-$(LATER)-$$(A)" },
      { name: "LATER", value: "2" },
      { name: "MAP", valueFrom: { configMapKeyRef: { name: "map", key: "key" } } },
      { name: "SECRET", valueFrom: { secretKeyRef: { name: "hidden", key: "key" } } },
      { name: "MAYBE", valueFrom: { secretKeyRef: { name: "no", key: "key", optional: true } } },
    ],
  });
  assert.ok("value" in environment);
  const { A, B, MAP, SECRET, MAYBE, M_key } = environment.value;
  assert.deepEqual(
    [A, B, MAP, SECRET, MAYBE, M_key],
    ["1", "1-$(LATER)-$(A)", "mapped", "value", undefined, "mapped"],
  );
  const shell = "log-$(date '+%Y').log $(A)";
  assert.equal(expandVariables(shell, environment.value), "log-$(date '+%Y').log 1");
});

test("[KUBELET18] what cannot be found is a problem", () => {
  const problem = (container: Partial<Container>): string => {
    const result = resolve(container);
    return "problem" in result ? result.problem : "";
  };
  const fromMap = (name: string, key: string) => ({
    env: [{ name: "X", valueFrom: { configMapKeyRef: { name, key } } }],
  });
  assert.equal(problem(fromMap("no", "key")), 'configmap "no" not found');
  assert.equal(problem(fromMap("map", "no")), "couldn't find key no in ConfigMap ns/map");
  assert.equal(problem({ envFrom: [{ secretRef: { name: "no" } }] }), 'secret "no" not found');
  assert.equal(
    problem({ env: [field("X", "status.riddle")] }),
    "unsupported fieldPath: status.riddle",
  );
});
