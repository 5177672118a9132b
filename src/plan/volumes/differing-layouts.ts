// A database that was lost in the middle of a change of the image type, or of servers per pod: claims of one class say that data
// lies in different places, and servers all look where the spec says. Rules: spec/adoption.md [ADO20].
import { isAdopting } from "../../api/adoption.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { counted } from "../../model/counted.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";
import { layoutOnClaim } from "../view/disk-layout.ts";
import { nameList } from "../wait.ts";
import { subjectOf } from "./adoption.ts";

export function layoutWarnings(snapshot: Snapshot): PlanWarning[] {
  const { adoptable = [], cluster } = snapshot;
  if (!isAdopting(cluster)) return [];
  const told = adoptable.filter((claim) => layoutOnClaim(claim) !== undefined);
  const classes = Map.groupBy(told, (claim) => subjectOf(snapshot, claim).processClass);
  const parts = [...classes].flatMap(([processClass, claims]) => {
    const places = Map.groupBy(claims, (claim) => placeOf(layoutOnClaim(claim) ?? ""));
    if (places.size < 2) return [];
    const texts = [...places].map(([place, those]) => `${place} on ${namesOf(those)}`);
    return [`${processClass}: ${texts.join(", ")}`];
  });
  if (parts.length === 0) return [];
  const message =
    `Volume claims say that data of one class lies in different places: ${parts.join("; ")}. ` +
    "No one spec.imageType, with as many servers per pod, finds all of it: a change of one of them was under way.";
  return [{ reason: "DiskLayoutsDiffer", message }];
}

function namesOf(claims: readonly Stored<PersistentVolumeClaim>[]): string {
  return nameList(claims.map(({ metadata }) => metadata.name ?? ""));
}

function placeOf(layout: string): string {
  return layout === "root" ? "at the root" : `in ${counted(Number(layout), "folder")}`;
}
