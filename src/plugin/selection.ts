// Which process groups a person means: by name of pod or process group, by class, by condition, by labels. Pure.
// Rules: spec/plugin.md [PL20]-[PL24].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { labelsOf } from "../api/effective.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import {
  conditionTypes,
  hasCondition,
  isMarkedForRemoval,
  replacementConditions,
} from "../model/process-group.ts";
import { podNameOf } from "../model/process-group-id.ts";

export interface SelectionFlags {
  fdbCluster?: string;
  clusterLabel: string;
  processClass?: string;
  processCondition?: string[];
  matchLabels?: Record<string, string>;
  /** Of `restart`. */
  allProcesses?: boolean;
  /** Of `remove process-groups`. */
  removeAllFailed?: boolean;
}

export interface Selection {
  /** Sorted, each once. */
  readonly ids: readonly string[];
  /** Names that lead to no process group of the cluster. */
  readonly unknown: readonly string[];
}

/** Why the flags contradict each other; undefined when they can be meant. */
export function selectionMistake(
  flags: SelectionFlags,
  names: readonly string[],
): string | undefined {
  const { fdbCluster, processClass, processCondition = [], matchLabels } = flags;
  const isByFlag = [
    ["--process-class", processClass !== undefined],
    ["--process-condition", processCondition.length > 0],
    ["--match-labels", matchLabels !== undefined],
    ["--all-processes", flags.allProcesses === true],
    ["--remove-all-failed", flags.removeAllFailed === true],
  ] as const;
  const given = isByFlag.filter(([, isGiven]) => isGiven).map(([name]) => name);
  const [first, second] = given;
  if (first !== undefined && fdbCluster === undefined)
    return `${first} needs a cluster: add -c NAME`;
  if (first !== undefined && second !== undefined)
    return `${first} and ${second} exclude each other`;
  if (first !== undefined && names.length > 0) return `give names or ${first}, not both`;
  const known: readonly string[] = conditionTypes;
  const wrong = processCondition.find((type) => !known.includes(type));
  if (wrong !== undefined) {
    return `there is no condition ${wrong}; there are ${conditionTypes.join(", ")}`;
  }
  if (first === undefined && names.length === 0) {
    return "say which: names of pods, --process-class, --process-condition or --match-labels";
  }
  return undefined;
}

/** `pods` are those of the cluster. */
export function selectGroups(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
  flags: SelectionFlags,
  names: readonly string[],
): Selection {
  const groups = cluster.status?.processGroups ?? [];
  const name = cluster.metadata.name ?? "";
  const podOf = new Map(
    groups.map((group) => [
      group.processGroupID,
      podNameOf(name, group.processClass, group.processGroupID),
    ]),
  );
  const idsOf = (isMeant: (group: (typeof groups)[number]) => boolean): Selection => ({
    ids: sorted(groups.filter(isMeant).map(({ processGroupID }) => processGroupID)),
    unknown: [],
  });
  const { processClass, processCondition = [], matchLabels } = flags;
  if (flags.allProcesses === true) return idsOf(() => true);
  if (flags.removeAllFailed === true) return idsOf((group) => isFailed(group));
  if (processClass !== undefined) return idsOf((group) => group.processClass === processClass);
  if (matchLabels !== undefined) {
    const wanted = Object.entries({ ...matchLabels });
    const found = new Set(
      pods
        .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
        .map(({ metadata }) => metadata.name),
    );
    return idsOf((group) => found.has(podOf.get(group.processGroupID)));
  }
  if (processCondition.length > 0) {
    const running = new Set(
      pods.filter(({ status }) => status?.phase === "Running").map(({ metadata }) => metadata.name),
    );
    return idsOf(
      (group) =>
        running.has(podOf.get(group.processGroupID)) &&
        (group.processGroupConditions ?? []).some(({ type }) => processCondition.includes(type)),
    );
  }
  const idOf = (given: string): string | undefined =>
    podOf.has(given) ? given : [...podOf].find(([, pod]) => pod === given)?.[0];
  return {
    ids: sorted(names.flatMap((given) => idOf(given) ?? [])),
    unknown: sorted(names.filter((given) => idOf(given) === undefined)),
  };
}

/** Whether the operator itself would replace it once its condition has lasted. */
function isFailed(
  group: NonNullable<NonNullable<FoundationDBCluster["status"]>["processGroups"]>[number],
): boolean {
  if (isMarkedForRemoval(group) || hasCondition(group, "Fenced")) return false;
  return (group.processGroupConditions ?? []).some(({ type }) =>
    replacementConditions.includes(type),
  );
}

/** A label of the cluster with another value selects nothing, which nobody can mean. */
export function labelConflict(
  cluster: FoundationDBCluster,
  matchLabels: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const own = labelsOf(cluster).matchLabels;
  const key = Object.keys(matchLabels ?? {}).find(
    (each) => own[each] !== undefined && own[each] !== matchLabels?.[each],
  );
  if (key === undefined) return undefined;
  return `--match-labels ${key}=${matchLabels?.[key]} contradicts the cluster's own label ${key}=${own[key]}`;
}

/** The pods of process groups, in their order. */
export function podNamesOf(cluster: FoundationDBCluster, ids: readonly string[]): string[] {
  const groups = cluster.status?.processGroups ?? [];
  return ids.flatMap((id) => {
    const group = groups.find(({ processGroupID }) => processGroupID === id);
    if (group === undefined) return [];
    return podNameOf(cluster.metadata.name ?? "", group.processClass, id);
  });
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
