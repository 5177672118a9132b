// Persistent volume claims and volumes: defaults, protection finalizers, and what may change. [KAS41]
import { append } from "../env/long-lists.ts";
import { timeText } from "./decode.ts";
import { setDefault } from "./defaults-pod.ts";
import {
  arrayAt,
  cloneJson,
  ensureObject,
  isJsonObject,
  jsonEqual,
  objectAt,
  stringAt,
  type JsonObject,
} from "./json.ts";
import type { KindRules, RuleContext } from "./kind.ts";
import { nameProblems } from "./object-metadata.ts";
import { compareQuantities } from "../model/quantity.ts";
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  forbidden,
  type FieldError,
} from "./status.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const claimProtection = "kubernetes.io/pvc-protection";

export const volumeClaimRules: KindRules = {
  fields: { name: (claim) => stringAt(claim, "metadata", "name") },
  applyDefaults: (claim) => setDefault(ensureObject(claim, "spec"), "volumeMode", "Filesystem"),
  prepareCreate(claim, context) {
    const metadata = ensureObject(claim, "metadata");
    const finalizers = arrayAt(metadata, "finalizers");
    if (!finalizers.includes(claimProtection)) {
      metadata["finalizers"] = [...finalizers, claimProtection];
    }
    const spec = ensureObject(claim, "spec");
    const defaultClass = defaultStorageClass(
      context.store.list("storage.k8s.io/storageclasses", ""),
    );
    if (defaultClass !== undefined) setDefault(spec, "storageClassName", defaultClass);
    claim["status"] = { phase: "Pending" };
  },
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  admitUpdate: admitGrowth,
};

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

function defaultStorageClass(classes: JsonObject[]): string | undefined {
  const marked = classes.filter(
    (item) => objectAt(item, "metadata", "annotations")[defaultClassAnnotation] === "true",
  );
  const created = (item: JsonObject): string => stringAt(item, "metadata", "creationTimestamp");
  // The newest default class wins; equal times are decided by name.
  marked.sort((left, right) => {
    if (created(left) !== created(right)) return created(left) < created(right) ? 1 : -1;
    return stringAt(left, "metadata", "name") < stringAt(right, "metadata", "name") ? -1 : 1;
  });
  return marked[0] === undefined ? undefined : stringAt(marked[0], "metadata", "name");
}

function validateClaim(claim: JsonObject): FieldError[] {
  const spec = objectAt(claim, "spec");
  const errors: FieldError[] = [];
  const modes = arrayAt(spec, "accessModes");
  if (modes.length === 0) {
    errors.push(fieldRequired("spec.accessModes", "at least 1 access mode is required"));
  }
  for (const mode of modes) {
    if (!accessModes.includes(String(mode))) {
      errors.push(fieldNotSupported("spec.accessModes", mode, accessModes));
    }
  }
  const storage = objectAt(spec, "resources", "requests")["storage"];
  if (storage === undefined) errors.push(fieldRequired("spec.resources[storage]"));
  else if (compareQuantities(String(storage), "0") <= 0) {
    errors.push(fieldInvalid("spec.resources[storage]", storage, "must be greater than zero"));
  }
  append(errors, classAndModeErrors(spec));
  return errors;
}

function classAndModeErrors(spec: JsonObject): FieldError[] {
  const className = stringAt(spec, "storageClassName");
  const problems = className === "" ? [] : nameProblems("subdomain", className);
  const errors = problems.map((detail) => fieldInvalid("spec.storageClassName", className, detail));
  const modes = ["Block", "Filesystem"];
  if (!modes.includes(stringAt(spec, "volumeMode"))) {
    errors.push(fieldNotSupported("spec.volumeMode", spec["volumeMode"], modes));
  }
  return errors;
}

const claimChangeRule =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName " +
  "for bound claims\n";

function validateClaimUpdate(claim: JsonObject, old: JsonObject): FieldError[] {
  const before = cloneJson(objectAt(old, "spec"));
  const after = cloneJson(objectAt(claim, "spec"));
  const requests = (spec: JsonObject): JsonObject => objectAt(spec, "resources", "requests");
  const sizeBefore = String(requests(before)["storage"] ?? "0");
  const sizeAfter = String(requests(after)["storage"] ?? "0");
  const isBound = stringAt(old, "status", "phase") === "Bound";
  // A binder may set the volume and the class of a claim that had none.
  for (const key of ["volumeName", "storageClassName"]) {
    if (before[key] === undefined) delete after[key];
  }
  if (isBound) {
    delete before["volumeAttributesClassName"];
    delete after["volumeAttributesClassName"];
    ensureObject(ensureObject(before, "resources"), "requests")["storage"] = sizeAfter;
  }
  const errors: FieldError[] = [];
  if (!jsonEqual(before, after)) errors.push(fieldForbidden("spec", claimChangeRule));
  if (isBound && compareQuantities(sizeAfter, sizeBefore) < 0) {
    const capacity = stringAt(old, "status", "capacity", "storage");
    if (capacity === "" || compareQuantities(sizeAfter, capacity) <= 0) {
      errors.push(
        fieldForbidden(
          "spec.resources.requests.storage",
          "field can not be less than status.capacity",
        ),
      );
    }
  }
  return errors;
}

/** A claim grows only where its class says that its volumes can. [KAS68] */
function admitGrowth(claim: JsonObject, old: JsonObject, context: RuleContext): void {
  const sizeOf = (object: JsonObject): string =>
    String(objectAt(object, "spec", "resources", "requests")["storage"] ?? "0");
  if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
  const name = stringAt(claim, "spec", "storageClassName");
  const storageClass = context.store.get("storage.k8s.io/storageclasses", "", name);
  if (name !== "" && objectAt(storageClass)["allowVolumeExpansion"] === true) return;
  throw forbidden(
    { group: "", plural: "persistentvolumeclaims" },
    stringAt(claim, "metadata", "name"),
    "only dynamically provisioned pvc can be resized and " +
      "the storageclass that provisions the pvc must support resize",
  );
}

/** Members of a volume's spec that are no source. */
const volumeFields = new Set([
  ...["capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"],
  ...["mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName"],
]);

export const volumeRules: KindRules = {
  fields: { name: (volume) => stringAt(volume, "metadata", "name") },
  applyDefaults(volume) {
    const spec = ensureObject(volume, "spec");
    setDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
    setDefault(spec, "volumeMode", "Filesystem");
    const hostPath = spec["hostPath"];
    if (isJsonObject(hostPath)) setDefault(hostPath, "type", "");
  },
  prepareCreate(volume, context) {
    const metadata = ensureObject(volume, "metadata");
    const finalizers = arrayAt(metadata, "finalizers");
    const protection = "kubernetes.io/pv-protection";
    if (!finalizers.includes(protection)) metadata["finalizers"] = [...finalizers, protection];
    volume["status"] = {
      phase: "Pending",
      lastPhaseTransitionTime: timeText(context.clock.nowMs()),
    };
  },
  validate(volume) {
    const spec = objectAt(volume, "spec");
    const errors: FieldError[] = [];
    if (arrayAt(spec, "accessModes").length === 0) errors.push(fieldRequired("spec.accessModes"));
    if (objectAt(spec, "capacity")["storage"] === undefined) {
      errors.push(fieldNotSupported("spec.capacity", {}, ["storage"]));
    }
    const hasSource = Object.keys(spec).some((key) => !volumeFields.has(key));
    if (!hasSource) errors.push(fieldRequired("spec", "must specify a volume type"));
    const policies = ["Delete", "Recycle", "Retain"];
    if (!policies.includes(stringAt(spec, "persistentVolumeReclaimPolicy"))) {
      const policy = spec["persistentVolumeReclaimPolicy"];
      errors.push(fieldNotSupported("spec.persistentVolumeReclaimPolicy", policy, policies));
    }
    append(errors, classAndModeErrors(spec));
    return errors;
  },
};
