// Fences of several instances of one database: each tells the others which fault domains it has stopped processes in, for as long as
// that lasts, and they count them as down. Rules: spec/fencing.md [FENCE14].
import { isGlobalMode } from "../../api/effective.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { zoneOfGroup } from "../safety/view.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { coordinationOf, livingPrefixes, ownPrefixOf } from "../view/shared-sets.ts";
import { nameList } from "../wait.ts";

/** Process groups by fault domain. */
type Fences = Readonly<Record<string, readonly string[]>>;

/** What the others are to know, when they know something else. */
export function fencesNews(
  snapshot: Snapshot,
  draft: Draft,
  prefix: string,
  isLeaving: boolean,
): { fences?: string } {
  const { fences: known } = coordinationOf(snapshot) ?? {};
  if (known === undefined) return {};
  const before = known.get(prefix) ?? "";
  const wanted = isLeaving ? "" : fencesText(snapshot, draft, before);
  return before === wanted ? {} : { fences: wanted };
}

/** One whose fence was taken back is told of until its processes report again. */
function fencesText(snapshot: Snapshot, { groups }: Draft, before: string): string {
  const told = new Set(Object.values(fencesOfText(before)).flat());
  const found = groups.filter((group) => {
    if (isMarkedForRemoval(group)) return false;
    if (hasCondition(group, "Fenced")) return true;
    return told.has(group.processGroupID) && hasCondition(group, "MissingProcesses");
  });
  if (found.length === 0) return "";
  const zones = Map.groupBy(found, (group) => zoneOfGroup(snapshot, group));
  const entries = [...zones].map(([zone, members]): [string, string[]] => [
    zone,
    members.map(({ processGroupID }) => processGroupID).sort(),
  ]);
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Text that another version wrote, and that is not understood, tells nothing. */
export function fencesOfText(text: string): Fences {
  let value: unknown;
  try {
    value = JSON.parse(text === "" ? "{}" : text);
  } catch {
    return {};
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).flatMap(([zone, ids]) => {
      if (!Array.isArray(ids)) return [];
      return [[zone, ids.filter((id): id is string => typeof id === "string")]];
    }),
  );
}

/** Fault domains that other instances hold down, with the reason as a clause. */
export function fencedElsewhere(
  view: Pick<Snapshot, "cluster" | "database" | "knowledge" | "memory">,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const { fences } = view.knowledge.coordination ?? {};
  if (fences === undefined || fences.size === 0 || !isGlobalMode(view.cluster.spec)) return found;
  const living = livingPrefixes(view);
  for (const [prefix, text] of fences) {
    if (prefix === ownPrefixOf(view) || !living.has(prefix)) continue;
    for (const [zone, ids] of Object.entries(fencesOfText(text))) {
      if (ids.length > 0) found.set(zone, `instance ${prefix} has fenced ${nameList(ids)}`);
    }
  }
  return found;
}
