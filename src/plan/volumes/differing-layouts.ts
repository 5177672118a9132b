// A database that was lost in the middle of a change of the image type, or of servers per pod: claims of one class say that data
// lies in different places, and servers all look where the spec says. Rules: spec/adoption.md [ADO20].
import { isAdopting } from "../../api/adoption.ts";
import { counted } from "../../model/counted.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";
import { layoutOnClaim } from "../view/disk-layout.ts";
import { nameList } from "../wait.ts";
import { subjectOf } from "./adoption.ts";

export function layoutWarnings(snapshot: Snapshot): PlanWarning[] {
  const { adoptable = [], cluster } = snapshot;
  if (!isAdopting(cluster)) return [];
  const classes = new Map<string, Map<string, string[]>>();
  for (const claim of adoptable) {
    const layout = layoutOnClaim(claim);
    if (layout === undefined) continue;
    const { processClass } = subjectOf(snapshot, claim);
    const layouts = classes.get(processClass) ?? new Map<string, string[]>();
    const names = [...(layouts.get(layout) ?? []), claim.metadata.name ?? ""];
    classes.set(processClass, layouts.set(layout, names));
  }
  const parts = [...classes].filter(([, layouts]) => layouts.size > 1).map(textOf);
  if (parts.length === 0) return [];
  const message =
    `Volume claims say that data of one class lies in different places: ${parts.join("; ")}. ` +
    "No one spec.imageType, with as many servers per pod, finds all of it: a change of one of them was under way.";
  return [{ reason: "DiskLayoutsDiffer", message }];
}

function textOf([processClass, layouts]: [string, ReadonlyMap<string, readonly string[]>]): string {
  const places = [...layouts].map(([layout, names]) => `${placeOf(layout)} on ${nameList(names)}`);
  return `${processClass}: ${places.join(", ")}`;
}

function placeOf(layout: string): string {
  return layout === "root" ? "at the root" : `in ${counted(Number(layout), "folder")}`;
}
