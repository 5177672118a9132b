// What is wrong with a cluster before anything is changed, so that nobody takes a preview of it for one of a cluster that is
// well. Pure. Rule PV18.
import { conditionIn } from "../kube/condition.ts";
import type { Node, Pod } from "../kube/generated/types.ts";
import { isLostOnItsWay } from "../model/group-state.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import { nameList } from "../plan/wait.ts";
import type { Picture } from "./picture.ts";

type Told = Pick<Picture, "cluster" | "objects">;

/** A process group with one of these runs, or goes as it should. */
const harmless = /^(Incorrect|Ready$|NodeDraining$|ResourcesTerminating$)/;

export function troubleBefore({ cluster, objects }: Told): string[] {
  const groups = (cluster.status?.processGroups ?? []).filter(
    (group) => !isMarkedForRemoval(group) || isLostOnItsWay(group),
  );
  const conditions = new Set<string>();
  const ill: string[] = [];
  for (const { processGroupID, processGroupConditions = [] } of groups) {
    const found = processGroupConditions
      .map(({ type }) => type)
      .filter((type) => !harmless.test(type));
    for (const type of found) conditions.add(type);
    if (found.length > 0) ill.push(processGroupID);
  }
  const used = new Set(
    (objects.filter(({ kind }) => kind === "Pod") as Pod[]).map(({ spec }) => spec?.nodeName),
  );
  const nodes = (objects.filter(({ kind }) => kind === "Node") as Node[])
    .filter(({ metadata }) => used.has(metadata?.name))
    .filter(({ status }) => conditionIn(status, "Ready")?.status !== "True")
    .map(({ metadata }) => metadata?.name ?? "")
    .toSorted();
  const types = [...conditions].toSorted().join(", ");
  return [
    ...(ill.length === 0
      ? []
      : [
          `The cluster is not well before the change: ${nameList(ill.toSorted())} (${types}). Data or roles of theirs may have fewer copies, and what happens meanwhile depends on whether they come back`,
        ]),
    ...(nodes.length === 0
      ? []
      : [
          nodes.length === 1
            ? `Node ${nodes[0]} is not ready, and stays so in the copy`
            : `Nodes ${nameList(nodes)} are not ready, and stay so in the copy`,
        ]),
  ];
}

/** Processes of the copy start with the configuration as it is now. */
export function otherArguments({ cluster }: Told): string[] {
  const ids = (cluster.status?.processGroups ?? [])
    .filter((group) => !isMarkedForRemoval(group))
    .filter(({ processGroupConditions = [] }) =>
      processGroupConditions.some(({ type }) => type === "IncorrectCommandLine"),
    )
    .map(({ processGroupID }) => processGroupID)
    .toSorted();
  if (ids.length === 0) return [];
  const [waits, has] = ids.length === 1 ? ["waits", "it has"] : ["wait", "they have"];
  return [
    `${nameList(ids)} ${waits} for a restart with new arguments; in the copy ${has} them already, and the restart is not part of what is told`,
  ];
}
