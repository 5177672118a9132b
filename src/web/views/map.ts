// The map of a cluster: the tree of `kubectl fdb tree` with its outer levels as columns, its nodes as rows and its process
// groups as tiles. Rules: spec/web.md [WEB7].
import type { Node, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isHibernated } from "../../api/hibernation.ts";
import { byText } from "../../model/process-row.ts";
import { isAboutToGo, isComingUp, isOutdatedCondition } from "../../model/group-state.ts";
import { objectTroubles } from "../../plugin/explain/objects.ts";
import { treeView } from "../../plugin/tree/tree-view.ts";
import type { TreePlace, TreeView } from "../../plugin/tree/tree-view.ts";
import { notExcludedYet, podStarts, processIsUp } from "../../plugin/tree/tree-leaf.ts";
import type { TreeInput, TreeLeaf } from "../../plugin/tree/tree-leaf.ts";
import type { MapColumn, MapModel, MapPlace, MapRow, Tile, TileState } from "../view-model.ts";

export interface MapInput extends Omit<TreeInput, "pods"> {
  /** Undefined where they may not be read. */
  readonly pods: readonly Stored<Pod>[] | undefined;
  /** Undefined where they may not be read. */
  readonly nodes: readonly Stored<Node>[] | undefined;
  /** Why there is no status of the database. */
  readonly silent?: string;
}

export function mapModel(input: MapInput): MapModel {
  const { nodes, pods = [] } = input;
  const isAsleep = isHibernated(input.cluster);
  const silent = isAsleep ? "the database sleeps" : (input.silent ?? rolesUnknown(input.status));
  const tree = treeView(
    { ...input, pods },
    {
      ...(nodes === undefined ? {} : { nodes }),
      ...(silent === undefined ? {} : { silent }),
    },
  );
  const troubles = podTroubles(pods, nodes);
  const around = { hasPods: input.pods !== undefined, isAsleep };
  const tiles = leavesOf(tree).map((leaf) => tileOf(leaf, troubles.get(leaf.pod), around));
  return {
    total: tree.total,
    inTrouble: tiles.filter(({ state }) => state !== "well" && state !== "asleep").length,
    ...(tree.silent === undefined ? {} : { silent: tree.silent }),
    columns: byKubernetesZone(columnsOf(tree).map(withKnowledge), nodes),
    kubernetesZones: zonesOf(nodes),
    tiles: Object.fromEntries(tiles.map((tile) => [tile.group, tile])),
  };
}

/** Without its coordinators a database answers, but tells of no process. */
function rolesUnknown(status: DatabaseStatus | undefined): string | undefined {
  if (status === undefined || Object.keys(status.cluster?.processes ?? {}).length > 0) return;
  return "the database does not serve, and tells of no process";
}

/** What Kubernetes says of each pod that is not well, by its name. */
export function podTroubles(
  pods: readonly Stored<Pod>[],
  nodes: readonly Stored<Node>[] | undefined,
): ReadonlyMap<string, string> {
  const found = objectTroubles({ pods, pvcs: [], nodes, events: undefined });
  return new Map(found.map(({ object, text }) => [object.slice("pod/".length), text]));
}

function leavesOf({ places, groups }: Pick<TreeView, "groups" | "places">): TreeLeaf[] {
  return [...groups, ...places.flatMap(leavesOf)];
}

function columnsOf({ places, groups }: Pick<TreeView, "groups" | "places">): MapColumn[] {
  const rest: TreePlace[] = groups.length === 0 ? [] : [{ ...nowhere, groups }];
  return columnsIn([...places, ...rest], []);
}

/** Where no process and no pod tells the fault domain, it is the one that the operator wrote down last. */
function withKnowledge(column: MapColumn): MapColumn {
  if (column.rows.some(({ node }) => node !== "")) return column;
  const places = column.places.map((place): MapPlace =>
    place.kind === "fault domain" && place.name !== "" ? { ...place, kind: "last known" } : place,
  );
  return { ...column, places };
}

const zoneLabel = "topology.kubernetes.io/zone";

function zonesOf(nodes: readonly Stored<Node>[] = []): string[] {
  const names = nodes.map(({ metadata }) => metadata.labels?.[zoneLabel] ?? "");
  return [...new Set(names)].filter((name) => name !== "").toSorted(byText);
}

/** One column for everything tells nothing: then the zones of the nodes do, where there are several. */
function byKubernetesZone(
  columns: readonly MapColumn[],
  nodes: readonly Stored<Node>[] = [],
): readonly MapColumn[] {
  const [only, ...others] = columns;
  if (only === undefined || others.length > 0) return columns;
  const zones = new Map(
    nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[zoneLabel] ?? ""]),
  );
  const rows = Map.groupBy(only.rows, ({ node }) => zones.get(node) ?? "");
  if (rows.size < 2) return columns;
  const names = [...rows.keys()].toSorted(
    (left, right) => Number(left === "") - Number(right === "") || byText(left, right),
  );
  return names.map((name) =>
    columnOf([...only.places, { kind: "Kubernetes zone", name, notes: [] }], rows.get(name) ?? []),
  );
}

const nowhere: TreePlace = { kind: "node", name: "", notes: [], places: [], groups: [] };

/** Places whose children are nodes, or which have no children, are columns. */
function columnsIn(places: readonly TreePlace[], outer: readonly MapPlace[]): MapColumn[] {
  const nodes = places.filter(({ kind }) => kind === "node");
  const columns: MapColumn[] = places.flatMap((place) => {
    if (place.kind === "node") return [];
    const { kind, name, notes } = place;
    const path: MapPlace[] = [
      ...outer,
      { kind: kind === "zone" ? "fault domain" : kind, name, notes },
    ];
    const inside = columnsIn(place.places, path);
    const own =
      place.groups.length === 0
        ? []
        : [columnOf(path, [rowOf({ ...nowhere, groups: place.groups })])];
    return [...inside, ...own];
  });
  return nodes.length === 0 ? columns : [...columns, columnOf(outer, nodes.map(rowOf))];
}

function columnOf(places: readonly MapPlace[], rows: readonly MapRow[]): MapColumn {
  return { id: places.map(({ kind, name }) => `${kind}=${name}`).join("/"), places, rows };
}

function rowOf({ name, notes, groups }: TreePlace): MapRow {
  return { node: name, notes, groups: groups.map(({ group }) => group) };
}

interface Around {
  readonly hasPods: boolean;
  readonly isAsleep: boolean;
}

function tileOf(leaf: TreeLeaf, podTrouble: string | undefined, around: Around): Tile {
  const { group, processClass, roles, isCoordinator, processes } = leaf;
  const state = stateOf(leaf, podTrouble, around);
  // What the state stands for comes first: where there is little room, only that is told.
  const isDeciding = (text: string): boolean =>
    state === "starting" ? isStarting(text) : state !== "outdated" && !isOutdatedCondition(text);
  const isOfPod = state === "failing" && cannotStart(podTrouble);
  const ofPod = podTrouble === undefined ? [] : [podTrouble];
  const first = [...(isOfPod ? ofPod : []), ...leaf.troubles.filter(isDeciding)];
  const others = leaf.troubles.filter((text) => !isDeciding(text));
  const troubles = [...first, ...others, ...(isOfPod ? [] : ofPod)];
  return { group, processClass, roles, isCoordinator, processes, troubles, state };
}

function isStarting(text: string): boolean {
  return isComingUp(text) || text === podStarts || text === processIsUp;
}

/** A pod that does not start by waiting. */
function cannotStart(podTrouble = ""): boolean {
  return /^(no node|container |ended for good)/.test(podTrouble);
}

/** Lost before its data was moved: that it leaves is no comfort. */
function isLostOnItsWay(
  { troubles, hasReported }: Pick<TreeLeaf, "hasReported" | "troubles">,
  podTrouble: string | undefined,
): boolean {
  const isUnseen = hasReported && troubles.includes("MissingProcesses");
  return troubles.includes(notExcludedYet) && (isUnseen || isOnLostNode(podTrouble));
}

/** Nobody has heard of the pod since its node was last heard of. */
export function isOnLostNode(podTrouble = ""): boolean {
  return / is not ready \(/.test(podTrouble);
}

/** As `groupState` has it, with what the pod and the database tell. */
export function stateOf(
  leaf: Pick<TreeLeaf, "hasReported" | "pod" | "troubles">,
  podTrouble: string | undefined,
  { hasPods, isAsleep }: Around,
): TileState {
  const { troubles, pod, hasReported } = leaf;
  if (troubles.includes("not of this resource")) return "foreign";
  if (isAsleep && pod === "") return "asleep";
  const isLeaving = troubles.some(
    (text) => text.startsWith("leaves") || text === "ResourcesTerminating",
  );
  if (isLeaving) return isLostOnItsWay(leaf, podTrouble) ? "failing" : "leaving";
  if (troubles.some(isStarting)) return cannotStart(podTrouble) ? "failing" : "starting";
  if (troubles.some((text) => !isOutdatedCondition(text) && !isAboutToGo(text))) {
    const isHeldUp = cannotStart(podTrouble) || isOnLostNode(podTrouble);
    return hasReported || isHeldUp ? "failing" : "starting";
  }
  // The operator has not written it down yet.
  if (podTrouble !== undefined)
    return podTrouble.startsWith("being deleted") ? "starting" : "failing";
  if (troubles.some(isAboutToGo)) return "leaving";
  if (troubles.length > 0) return "outdated";
  return pod === "" && hasPods ? "starting" : "well";
}
