// `kubectl fdb tree`: regions, datacenters, halls, zones, nodes and process groups, each level only where it tells something.
// Pure. Rules: spec/plugin.md [VW9], [VW10].
import { conditionIn } from "../../kube/condition.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { StatusRegion } from "../../model/database-status.ts";
import { byText } from "../../model/process-row.ts";
import { treeLeaves } from "./tree-leaf.ts";
import type { TreeInput, TreeLeaf } from "./tree-leaf.ts";

export type TreeKind = "region" | "datacenter" | "hall" | "zone" | "node";

export interface TreePlace {
  readonly kind: TreeKind;
  /** Empty where nobody knows it. */
  readonly name: string;
  readonly notes: readonly string[];
  readonly places: readonly TreePlace[];
  readonly groups: readonly TreeLeaf[];
}

export interface TreeView {
  readonly cluster: string;
  readonly namespace: string;
  /** Why the roles are not shown. */
  readonly silent?: string;
  readonly total: number;
  readonly inTrouble: number;
  readonly places: readonly TreePlace[];
  /** Where there is no place at all to be told. */
  readonly groups: readonly TreeLeaf[];
}

export interface TreeMore {
  readonly silent?: string;
  /** Undefined where they may not be read. */
  readonly nodes?: readonly Stored<Node>[];
}

interface Level {
  readonly kind: TreeKind;
  readonly valueOf: (leaf: TreeLeaf) => string;
  readonly notesOf: (name: string) => string[];
}

export function treeView(input: TreeInput, { silent, nodes = [] }: TreeMore): TreeView {
  const { cluster, status } = input;
  const leaves = treeLeaves(input);
  const configuration = status?.cluster?.configuration ?? cluster.spec.databaseConfiguration;
  const regions = (configuration?.regions ?? []) as readonly StatusRegion[];
  const levels = levelsOf(leaves, regions, status?.cluster?.active_primary_dc, nodes);
  const { places, groups } = inside(leaves, levels);
  return {
    cluster: cluster.metadata.name ?? "",
    namespace: cluster.metadata.namespace ?? "",
    ...(silent === undefined ? {} : { silent }),
    total: leaves.length,
    inTrouble: leaves.filter(({ troubles }) => troubles.length > 0).length,
    places,
    groups,
  };
}

function levelsOf(
  leaves: readonly TreeLeaf[],
  regions: readonly StatusRegion[],
  primary: string | undefined,
  nodes: readonly Stored<Node>[],
): Level[] {
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? "", node]));
  const all: Level[] = [
    {
      kind: "region",
      valueOf: ({ dataCenter }) => regionOf(regions, dataCenter)?.name ?? "",
      notesOf: () => [],
    },
    {
      kind: "datacenter",
      valueOf: ({ dataCenter }) => dataCenter,
      notesOf: (name) => [
        ...(name !== "" && name === primary && regions.length > 0 ? ["primary"] : []),
        ...(regionOf(regions, name)?.isSatellite === true ? ["satellite"] : []),
      ],
    },
    { kind: "hall", valueOf: ({ hall }) => hall, notesOf: () => [] },
    { kind: "zone", valueOf: ({ zone }) => zone, notesOf: () => [] },
    {
      kind: "node",
      valueOf: ({ node }) => node,
      notesOf: (name) => nodeNotes(byName.get(name)),
    },
  ];
  return all.filter((level) => {
    if (!leaves.some((leaf) => level.valueOf(leaf) !== "")) return false;
    return level.kind !== "zone" || !repeatsOthers(leaves);
  });
}

/** Zones that are the nodes or the pods under another name tell nothing. */
function repeatsOthers(leaves: readonly TreeLeaf[]): boolean {
  const known = leaves.filter(({ zone }) => zone !== "");
  const placed = known.filter(({ node }) => node !== "");
  return (
    (placed.length > 0 && placed.every(({ zone, node }) => zone === node)) ||
    known.every(({ zone, pod, group }) => zone === pod || zone.endsWith(group))
  );
}

function regionOf(
  regions: readonly StatusRegion[],
  dataCenter: string,
): { name: string; isSatellite: boolean } | undefined {
  for (const { datacenters } of regions) {
    const found = datacenters.find(({ id }) => id === dataCenter);
    if (found === undefined) continue;
    const mains = datacenters.filter(({ satellite }) => satellite !== 1).map(({ id }) => id);
    return { name: mains.join(", "), isSatellite: found.satellite === 1 };
  }
  return undefined;
}

function nodeNotes(node: Stored<Node> | undefined): string[] {
  if (node === undefined) return [];
  const ready = conditionIn(node.status, "Ready");
  return [
    ...(ready === undefined || ready.status === "True" ? [] : ["not ready"]),
    ...(node.spec?.unschedulable === true ? ["cordoned"] : []),
  ];
}

function inside(
  leaves: readonly TreeLeaf[],
  [level, ...deeper]: readonly Level[],
): Pick<TreePlace, "groups" | "places"> {
  if (level === undefined) return { places: [], groups: leaves };
  const byName = Map.groupBy(leaves, level.valueOf);
  const names = [...byName.keys()].toSorted(
    // What has no place comes last.
    (left, right) => Number(left === "") - Number(right === "") || byText(left, right),
  );
  return {
    places: names.map((name) => ({
      kind: level.kind,
      name,
      notes: level.notesOf(name),
      ...inside(byName.get(name) ?? [], deeper),
    })),
    groups: [],
  };
}
