// The halls that process groups may go to, and the zones that each of them offers: what the nodes say within the user's
// own wishes, not what is alive right now. Rules: spec/halls.md [HALL3], [HALL4], [HALL12].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { faultDomainOf, processSettingsOf } from "../../api/effective.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import type { HallSpread } from "../../api/hall-spread.ts";
import { localityOf } from "../../api/localities.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesNodeSelector } from "../../kube/selector.ts";
import { findRepellingTaint, isCordonedFor } from "../../kube/tolerations.ts";
import {
  defaultFaultDomainKey,
  kubernetesClusterKey,
  topologyKeyOf,
} from "../../model/fault-domain.ts";
import { localityKeys, localityOf as localityIn, processesOf } from "../../model/locality.ts";
import { parseProcessGroupId } from "../../model/process-group-id.ts";
import { hallOf, isMarkedForRemoval } from "../../model/process-group.ts";
import { isNodeReady } from "../safety/view.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { zoneCount, zonesPerHallMin } from "../safety/hall-policy.ts";
import type { Draft } from "../step.ts";
import type { NewWait } from "../wait.ts";

export type HallsOffered =
  | { readonly ok: true; readonly halls: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly remedy: string };

/** Undefined when the operator does not spread over halls. */
export function hallsOffered(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
  processClass: string,
): HallsOffered | undefined {
  const spread = hallSpreadOf(snapshot.cluster.spec);
  if (spread === undefined) return undefined;
  if (spread.values.length > 0) return { ok: true, halls: spread.values };
  const nodes = nodesFor(snapshot, processClass);
  if (nodes === undefined) return unknown(spread);
  const found = sorted(nodes.flatMap((node) => node.metadata.labels?.[spread.topologyKey] || []));
  const { hallsNeeded } = spread;
  if (found.length === hallsNeeded) return { ok: true, halls: found };
  const used = sorted(
    groups.filter((group) => !isMarkedForRemoval(group)).flatMap((group) => hallOf(group) || []),
  );
  if (hallsNeeded === undefined) {
    const all = found.length > 0 ? found : used;
    return all.length > 0 ? { ok: true, halls: all } : wrongNumber(spread, found);
  }
  // A zone of nodes that is added does not stop a running cluster, nor does one whose nodes are gone.
  const isSettled = used.length === hallsNeeded && used.every((hall) => found.includes(hall));
  if (found.length > hallsNeeded && isSettled) return { ok: true, halls: used };
  const both = sorted([...found, ...used]);
  if (found.length < hallsNeeded && both.length === hallsNeeded) return { ok: true, halls: both };
  // Other resources of the database may have the other halls.
  const all = sorted([...both, ...hallsElsewhere(snapshot, spread, groups)]);
  if (found.length > 0 && found.length < hallsNeeded && all.length === hallsNeeded) {
    return { ok: true, halls: both };
  }
  return wrongNumber(spread, found);
}

/** Halls in which the database shows processes that are certainly of another resource: their ids have another prefix. */
function hallsElsewhere(
  snapshot: Snapshot,
  spread: HallSpread,
  groups: readonly ProcessGroup[],
): string[] {
  const status = databaseStatus(snapshot);
  if (status === undefined) return [];
  const prefix = snapshot.cluster.spec.processGroupIDPrefix ?? "";
  const own = new Set(groups.map((group) => group.processGroupID));
  return snapshot.memory.once(processesOf, status).flatMap((process) => {
    const id = localityIn(process, localityKeys.instance);
    const parts = parseProcessGroupId(id);
    if (parts === undefined || parts.prefix === prefix || own.has(id)) return [];
    return process.excluded === true ? [] : localityIn(process, spread.key) || [];
  });
}

function unknown(spread: HallSpread): HallsOffered {
  return {
    ok: false,
    problem: `the values of ${spread.key} are unknown: this operator may not look at nodes`,
    remedy: "Name the values in spec.localities[].values, or allow the operator to list nodes.",
  };
}

function wrongNumber(spread: HallSpread, found: readonly string[]): HallsOffered {
  const needed = spread.hallsNeeded ?? 1;
  const names = found.length === 0 ? "" : `: ${found.join(", ")}`;
  const isTooMany = found.length > needed;
  return {
    ok: false,
    problem:
      `exactly ${needed} values of ${spread.key} are needed, and the nodes that may be used ` +
      `have ${found.length} (label ${spread.topologyKey})${names}`,
    remedy: isTooMany
      ? "Choose among them with spec.localities[].values, or with a nodeAffinity in the pod template."
      : "Add nodes with other values of the label, or correct the nodeAffinity of the pod template. Where other " +
        "resources of the database have the other halls, give each its own with spec.localities[].value.",
  };
}

/** By hall, the zones in which pods of the class could run; undefined when that cannot be known from nodes. */
export function zonesOffered(
  snapshot: Snapshot,
  processClass: string,
): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  const { spec } = snapshot.cluster;
  const spread = hallSpreadOf(spec);
  const zoneOf = zoneReader(snapshot);
  const nodes = nodesFor(snapshot, processClass);
  if (spread === undefined || zoneOf === undefined || nodes === undefined) return undefined;
  const halls = new Map<string, Set<string>>();
  for (const node of nodes) {
    const hall = node.metadata.labels?.[spread.topologyKey] ?? "";
    const zone = zoneOf(node);
    if (hall === "" || zone === "") continue;
    const zones = halls.get(hall) ?? new Set<string>();
    halls.set(hall, zones.add(zone));
  }
  return halls;
}

/** The zones of a hall in which new pods of the class could start right now; none when nodes do not tell it. */
export function openZones(
  snapshot: Snapshot,
  processClass: string,
  hall: string,
): ReadonlySet<string> {
  const spread = hallSpreadOf(snapshot.cluster.spec);
  const zoneOf = zoneReader(snapshot);
  const nodes = nodesFor(snapshot, processClass) ?? [];
  if (zoneOf === undefined) return new Set();
  const template = processSettingsOf(snapshot.cluster.spec, processClass).podTemplate;
  // Where the operator does not choose the hall, all nodes that the resource allows are of its own.
  const open = nodes.filter(
    (node) =>
      isNodeReady(node) &&
      !isCordonedFor(template ?? {}, node) &&
      findRepellingTaint(template ?? {}, node) === undefined &&
      (spread === undefined || node.metadata.labels?.[spread.topologyKey] === hall),
  );
  return new Set(open.flatMap((node) => zoneOf(node) || []));
}

/** How a node names the zone of its pods; undefined when nodes do not tell it. */
function zoneReader(snapshot: Snapshot): ((node: Stored<Node>) => string) | undefined {
  const { spec } = snapshot.cluster;
  const faultDomain = faultDomainOf(spec);
  if (faultDomain.key === kubernetesClusterKey) return () => faultDomain.value || "cluster";
  const isFromPod = localityOf(spec, "zoneid")?.source === "envValue";
  const topologyKey = topologyKeyOf(faultDomain);
  if (topologyKey === undefined || isFromPod) return undefined;
  return ({ metadata }) => {
    const label = metadata.labels?.[topologyKey] ?? "";
    return label === "" && topologyKey === defaultFaultDomainKey ? (metadata.name ?? "") : label;
  };
}

/** Nodes that the pod template of a class allows, ready or not. */
function nodesFor(
  { cluster, placementNodes }: Snapshot,
  processClass: string,
): readonly Stored<Node>[] | undefined {
  if (placementNodes === undefined) return undefined;
  const template = processSettingsOf(cluster.spec, processClass).podTemplate?.spec;
  const { nodeSelector = {}, affinity } = template ?? {};
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const wanted = Object.entries(nodeSelector);
  if (wanted.length === 0 && required === undefined) return placementNodes;
  return placementNodes.filter(
    (node) =>
      wanted.every(([key, value]) => node.metadata.labels?.[key] === value) &&
      matchesNodeSelector(required, node),
  );
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

// What is missing for the halls of a mode, in so many words. Rules: spec/halls.md [HALL12].
const step = "addProcessGroups";

/** What is missing for the halls of the wanted mode, one wait for all of it. */
export function hallWaits(snapshot: Snapshot, draft: Draft): NewWait[] {
  const spread = hallSpreadOf(snapshot.cluster.spec);
  if (spread === undefined) return [];
  const { mode } = redundancyOf(draft.desired.configuration.redundancy_mode);
  for (const processClass of Object.keys(draft.desired.counts)) {
    const offered = hallsOffered(snapshot, draft.groups, processClass);
    if (offered === undefined) return [];
    if (!offered.ok) return [hallWait(`${mode}: ${offered.problem}`, offered.remedy)];
    if (spread.hallsNeeded === undefined) continue;
    const zones = zonesOffered(snapshot, processClass);
    if (zones === undefined) continue;
    const lacks = offered.halls.flatMap((hall) => {
      const count = zones.get(hall)?.size ?? 0;
      if (count >= zonesPerHallMin) return [];
      return `hall ${hall} has ${zoneCount(count)}, at least ${zonesPerHallMin} needed`;
    });
    if (lacks.length === 0) continue;
    const remedy = "Add nodes in other fault domains of the hall named.";
    return [hallWait(`${mode}: ${lacks.join("; ")}`, remedy)];
  }
  return [];
}

function hallWait(message: string, remedy: string): NewWait {
  return { step, reason: "HallsMissing", message, remedy, retryAfterMs: 15_000 };
}
