// CustomResourceDefinitions: names, versions and schemas as far as the server must refuse them itself. [KAS50]
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
import { fieldInvalid, fieldNotSupported, fieldRequired, type FieldError } from "./status.ts";
import { ruleCompilationErrors } from "./validate-crd-rules.ts";

export const instanceCleanup = "customresourcecleanup.apiextensions.k8s.io";

export const crdRules: KindRules = {
  finalizersOnDelete: [instanceCleanup],
  applyDefaults(definition) {
    const spec = ensureObject(definition, "spec");
    const names = ensureObject(spec, "names");
    const kind = stringAt(names, "kind");
    if (kind !== "") {
      setDefault(names, "singular", kind.toLowerCase());
      setDefault(names, "listKind", `${kind}List`);
    }
    setDefault(ensureObject(spec, "conversion"), "strategy", "None");
  },
  prepareCreate(definition) {
    const versions = arrayAt(definition, "spec", "versions").filter(isJsonObject);
    const stored = versions.filter((version) => version["storage"] === true);
    definition["status"] = {
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: stored.map((version) => version["name"]),
    };
  },
  validate: validateDefinition,
  validateUpdate(definition, old) {
    const errors: FieldError[] = [];
    for (const path of [["group"], ["names", "kind"], ["names", "plural"], ["scope"]]) {
      const after = stringAt(definition, "spec", ...path);
      if (after === stringAt(old, "spec", ...path)) continue;
      errors.push(fieldInvalid(`spec.${path.join(".")}`, after, "field is immutable"));
    }
    return errors;
  },
};

function validateDefinition(definition: JsonObject): FieldError[] {
  const spec = objectAt(definition, "spec");
  const errors: FieldError[] = [];
  const group = stringAt(spec, "group");
  const plural = stringAt(spec, "names", "plural");
  const name = stringAt(definition, "metadata", "name");
  if (name !== `${plural}.${group}`) {
    errors.push(fieldInvalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`));
  }
  if (group === "") errors.push(fieldRequired("spec.group"));
  if (plural === "") errors.push(fieldRequired("spec.names.plural"));
  if (stringAt(spec, "names", "kind") === "") errors.push(fieldRequired("spec.names.kind"));
  const scopes = ["Cluster", "Namespaced"];
  if (!scopes.includes(stringAt(spec, "scope"))) {
    errors.push(fieldNotSupported("spec.scope", stringAt(spec, "scope"), scopes));
  }
  const versions = arrayAt(spec, "versions").filter(isJsonObject);
  versions.forEach((version, index) => {
    const schema = objectAt(version, "schema")["openAPIV3Schema"];
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    if (!isJsonObject(schema)) errors.push(fieldRequired(path));
    else if (schema["type"] !== "object") {
      const detail = "must be object at the root";
      errors.push(fieldInvalid(`${path}.type`, schema["type"] ?? "", detail));
    } else append(errors, ruleCompilationErrors(schema, path));
  });
  if (versions.filter((version) => version["storage"] === true).length !== 1) {
    const detail = "must have exactly one version marked as storage version";
    errors.push(fieldInvalid("spec.versions", arrayAt(spec, "versions"), detail));
  }
  return errors;
}
