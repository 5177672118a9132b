// Compares an object's labels and annotations with the wanted ones. Only containment counts: what others
// added stays. Rules: spec/plan.md [P19], [P20], [P63].
import { annotationKeys } from "../../build/labels.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import type { MetadataPatch } from "../action.ts";

export interface WantedMetadata {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

/** What must be merged into the object's metadata; undefined when it holds everything. */
export function missingMetadata(
  actual: Pick<ObjectMeta, "labels" | "annotations">,
  wanted: WantedMetadata,
): MetadataPatch | undefined {
  const labels = missingEntries(actual.labels, wanted.labels);
  const annotations = missingEntries(actual.annotations, wanted.annotations);
  if (labels === undefined && annotations === undefined) return undefined;
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function missingEntries(
  actual: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  let missing: Record<string, string> | undefined;
  for (const key of Object.keys(wanted)) {
    const value = wanted[key];
    if (value === undefined || actual?.[key] === value) continue;
    missing ??= {};
    missing[key] = value;
  }
  return missing;
}

/** A patch that would only note the pod's node can wait for one that is made anyway. */
export function isOnlyNode(patch: MetadataPatch): boolean {
  const keys = Object.keys(patch.annotations ?? {});
  return patch.labels === undefined && keys.length === 1 && keys[0] === annotationKeys.currentNode;
}

/** Both patches in one; the second wins where both name a key. */
export function mergedPatch(first: MetadataPatch, second: MetadataPatch): MetadataPatch {
  const labels = { ...first.labels, ...second.labels };
  const annotations = { ...first.annotations, ...second.annotations };
  const ownerReferences = second.ownerReferences ?? first.ownerReferences;
  return {
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

// Two maps of labels or annotations in one; absent when both are empty.
export function mergedMap(
  base: Readonly<Record<string, string>> | undefined,
  over: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const merged = { ...base, ...over };
  return Object.keys(merged).length === 0 ? undefined : merged;
}
