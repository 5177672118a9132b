// Namespaces: their name label, phase and finalizer.
import { arrayAt, ensureObject, objectAt, stringAt } from "./json.ts";
import type { KindRules } from "./kind.ts";

export const namespaceRules: KindRules = {
  fields: {
    name: (namespace) => stringAt(namespace, "metadata", "name"),
    "status.phase": (namespace) => stringAt(namespace, "status", "phase"),
  },
  applyDefaults(namespace) {
    const metadata = ensureObject(namespace, "metadata");
    const name = stringAt(metadata, "name");
    const label = "kubernetes.io/metadata.name";
    const labels = objectAt(metadata, "labels");
    if (name !== "" && labels[label] !== name) metadata["labels"] = { ...labels, [label]: name };
  },
  prepareCreate(namespace) {
    const spec = ensureObject(namespace, "spec");
    const finalizers = arrayAt(spec, "finalizers");
    if (!finalizers.includes("kubernetes")) spec["finalizers"] = [...finalizers, "kubernetes"];
    namespace["status"] = { phase: "Active" };
  },
  prepareUpdate(namespace, old) {
    const finalizers = arrayAt(old, "spec", "finalizers");
    if (finalizers.length > 0) ensureObject(namespace, "spec")["finalizers"] = finalizers;
    else delete ensureObject(namespace, "spec")["finalizers"];
  },
};
