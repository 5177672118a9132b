// Nodes: the empty parts that every node shows, and its pod address ranges.
import { arrayAt, ensureObject, objectAt, stringAt } from "./json.ts";
import { setDefault } from "./defaults-pod.ts";
import type { KindRules } from "./kind.ts";
import { fieldInvalid, fieldNotSupported } from "./status.ts";

const systemInformation = [
  ...["machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"],
  ...["kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"],
];

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const nodeRules: KindRules = {
  fields: {
    "spec.unschedulable": (node) => String(objectAt(node, "spec")["unschedulable"] === true),
  },
  applyDefaults(node) {
    setDefault(node, "spec", {});
    const status = ensureObject(node, "status");
    const capacity = status["capacity"];
    if (capacity !== undefined) setDefault(status, "allocatable", capacity);
    setDefault(status, "daemonEndpoints", { kubeletEndpoint: { Port: 0 } });
    const information = ensureObject(status, "nodeInfo");
    for (const name of systemInformation) setDefault(information, name, "");
  },
  validate(node) {
    const taints = arrayAt(node, "spec", "taints");
    return taints.flatMap((taint, index) => {
      const effect = stringAt(taint, "effect");
      if (taintEffects.includes(effect)) return [];
      return [fieldNotSupported(`metadata.taints[${index}].effect`, effect, taintEffects)];
    });
  },
  validateUpdate(node, old) {
    const before = stringAt(old, "spec", "providerID");
    const after = stringAt(node, "spec", "providerID");
    if (before === "" || before === after) return [];
    return [fieldInvalid("spec.providerID", null, "field cannot be modified once set")];
  },
};
