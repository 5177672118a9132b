// How a volume claim differs from the one that its process group should have. A claim that only asks for less than it should
// grows in place, so that no pod is replaced and no data moves. Rules: spec/volumes.md [VOL1]-[VOL4].
import { automationOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import { volumeClaimSpecHash } from "../../build/spec-hash.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { compareQuantities } from "../../model/quantity.ts";
import type { ActionFailure, Snapshot } from "../snapshot.ts";
import type { Desired, DesiredObject } from "../view/desired.ts";
import { isSameJson } from "../view/same-json.ts";

type Claim = Stored<PersistentVolumeClaim>;

/**
 * "cannotGrow": the API server says that volumes of its class cannot be made larger. "tooLarge": no volume can be made
 * smaller. "other": it differs in more than its size, or people want new volumes.
 */
export type ClaimDifference = "none" | "toGrow" | "cannotGrow" | "tooLarge" | "other";

/** What is looked at of a snapshot. */
type View = Pick<Snapshot, "pvcs" | "failures" | "memory">;

export function claimDifference(
  view: View,
  desired: Desired,
  claim: Claim,
  wanted: DesiredObject<Claim>,
): ClaimDifference {
  const found = desired.claimDifference(claim, wanted, () =>
    differenceInSize(desired, claim, wanted),
  );
  if (found !== "toGrow") return found;
  const { unable } = view.memory.once(refusedGrowth, view);
  return unable.has(storageClassOf(claim)) ? "cannotGrow" : found;
}

function differenceInSize(
  desired: Desired,
  claim: Claim,
  { object, specHash }: DesiredObject<Claim>,
): Exclude<ClaimDifference, "cannotGrow"> {
  const made = claim.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  // A claim without the note of its specification was not made by an operator.
  if (made === undefined || made === specHash) return "none";
  if (automationOf(desired.cluster.spec).volumeSizeChange === "Replace") return "other";
  // A claim without a volume keeps no data, and what it asks for is fixed.
  if (claim.status?.phase !== "Bound") return "other";
  const [has, wants] = [requestOf(claim), requestOf(object)];
  const isSizeAlone = volumeClaimSpecHash(withRequest(object, has)) === made;
  if (!isSizeAlone && !isGrownByHand(claim, object)) return "other";
  return compareQuantities(wants, has) < 0 ? "tooLarge" : "toGrow";
}

/**
 * Somebody changed the size of the claim itself, so that the note does not tell what it was made from: then it must be all
 * that the template says, its storage class among it.
 */
function isGrownByHand({ spec = {} }: Claim, { spec: wanted = {} }: Claim): boolean {
  const { resources: _, ...rest } = wanted;
  if (rest.storageClassName === undefined) return false;
  const live: Readonly<Record<string, unknown>> = { ...spec };
  return Object.entries(rest).every(([key, value]) => isSameJson(live[key], value));
}

/** How much it asks for. */
export function requestOf({ spec }: Claim): string {
  return String(spec?.resources?.requests?.["storage"] ?? "0");
}

function withRequest({ spec = {} }: Claim, storage: string): NonNullable<Claim["spec"]> {
  const { resources } = spec;
  return {
    ...spec,
    resources: { ...resources, requests: { ...resources?.requests, storage } },
  };
}

function storageClassOf({ spec }: Claim): string {
  return spec?.storageClassName ?? "";
}

/** Whether the API server has taken a larger request, and the volume does not have that size yet. */
export function isGrowing(claim: Claim): boolean {
  const has = claim.status?.capacity?.["storage"];
  const wants = requestOf(claim);
  // At rest every claim is looked at in every pass, and nearly all have just what they ask for.
  if (has === undefined || String(has) === wants) return false;
  return compareQuantities(wants, String(has)) > 0;
}

interface RefusedGrowth {
  /** The classes whose volumes cannot grow. */
  readonly unable: ReadonlySet<string>;
  /** The claims that were tried. */
  readonly tried: ReadonlySet<string>;
}

/** The words with which the API server refuses a claim whose class has no `allowVolumeExpansion`. */
const unableText = /must support resize/;

export function isGrowthRefusal({ claimName, message }: ActionFailure): boolean {
  return claimName !== undefined && unableText.test(message);
}

/** One claim speaks for all claims of its class. */
export function refusedGrowth({ pvcs, failures }: View): RefusedGrowth {
  const tried = new Set<string>();
  const unable = new Set<string>();
  for (const failure of failures) {
    if (!isGrowthRefusal(failure)) continue;
    const { claimName = "" } = failure;
    const claim = pvcs.get(claimName);
    if (claim === undefined) continue;
    tried.add(claimName);
    unable.add(storageClassOf(claim));
  }
  return { unable, tried };
}
