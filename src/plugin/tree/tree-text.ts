// The tree as lines, with what is wrong in colour. Rules: spec/plugin.md [VW10].
import { counted } from "../../model/counted.ts";
import { wrap } from "../explain/words.ts";
import { partsLine } from "../text/parts.ts";
import type { Part } from "../text/parts.ts";
import { rolesText } from "../text/roles.ts";
import type { Screen } from "../text/table.ts";
import type { TreeLeaf } from "./tree-leaf.ts";
import type { TreeKind, TreePlace, TreeView } from "./tree-view.ts";

const nowhere: Readonly<Record<TreeKind, string>> = {
  region: "in no region",
  datacenter: "in no datacenter",
  hall: "in no hall",
  zone: "zone not known",
  node: "on no node",
};

export function treeLines(view: TreeView, screen: Screen): string[] {
  const { namespace, cluster, total, inTrouble, silent } = view;
  const trouble = inTrouble === 0 ? "" : `, ${inTrouble} with something to tell`;
  return [
    partsLine(
      [
        { text: `${namespace}/${cluster}`, style: "bold" },
        { text: `${counted(total, "process group")}${trouble}` },
      ],
      screen,
    ),
    ...branches(view, "", screen),
    ...(silent === undefined ? [] : ["", ...wrap(`Roles are not known: ${silent}`, screen.width)]),
    ...(hasCoordinator(view) ? ["", "* is a coordinator"] : []),
  ];
}

function branches(
  { places, groups }: Pick<TreePlace, "groups" | "places">,
  indent: string,
  screen: Screen,
): string[] {
  const twigs = [
    ...places.map((place) => ({ parts: placeParts(place), place })),
    ...groups.map((leaf) => ({ parts: leafParts(leaf), place: undefined })),
  ];
  return twigs.flatMap(({ parts, place }, index) => {
    const isLast = index === twigs.length - 1;
    const line = partsLine(parts, screen, `${indent}${isLast ? "└─ " : "├─ "}`);
    if (place === undefined) return [line];
    return [line, ...branches(place, `${indent}${isLast ? "   " : "│  "}`, screen)];
  });
}

function placeParts({ kind, name, notes }: TreePlace): Part[] {
  const title: Part[] =
    name === ""
      ? [{ text: nowhere[kind], style: "yellow" }]
      : [{ text: kind, style: "dim", isTight: true }, { text: name }];
  return [...title, ...notes.map((text): Part => ({ text: `(${text})`, style: "cyan" }))];
}

function leafParts(leaf: TreeLeaf): Part[] {
  const { group, processClass, processes, troubles } = leaf;
  const duties = rolesText(leaf);
  return [
    { text: group, style: "bold" },
    ...(group.includes(processClass) ? [] : [{ text: processClass }]),
    ...(processes > 1 ? [{ text: counted(processes, "process", "processes") }] : []),
    ...(duties === "" ? [] : [{ text: duties }]),
    ...(troubles.length === 0 ? [] : [{ text: troubles.join(", "), style: "yellow" as const }]),
  ];
}

function hasCoordinator({ places, groups }: Pick<TreePlace, "groups" | "places">): boolean {
  return groups.some(({ isCoordinator }) => isCoordinator) || places.some(hasCoordinator);
}
