// Which containers of which pods a person wants to read. Pure. Rules: spec/plugin.md [VW14], [VW21].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { byText } from "../../model/process-row.ts";

export interface LogChoice {
  readonly processClass?: string;
  /** Ids of process groups, or names of pods. */
  readonly processGroups?: readonly string[];
  readonly container?: string;
  readonly isAllContainers: boolean;
}

export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** What stands before its lines. */
  readonly label: string;
}

export function logSources(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
  choice: LogChoice,
): LogSource[] {
  const { processClassLabels, processGroupIdLabels } = labelsOf(cluster);
  const labelOf = ({ metadata }: Stored<Pod>, [key = ""]: readonly string[]): string =>
    metadata.labels?.[key] ?? "";
  const { processClass, processGroups = [] } = choice;
  return pods
    .filter((pod) => {
      if (processClass !== undefined && labelOf(pod, processClassLabels) !== processClass)
        return false;
      if (processGroups.length === 0) return true;
      const names = [labelOf(pod, processGroupIdLabels), pod.metadata.name ?? ""];
      return names.some((name) => processGroups.includes(name));
    })
    .toSorted((left, right) => byText(left.metadata.name ?? "", right.metadata.name ?? ""))
    .flatMap((pod) => containersOf(pod, choice));
}

function containersOf(
  { metadata, spec }: Stored<Pod>,
  { container, isAllContainers }: LogChoice,
): LogSource[] {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(
    ({ name }) => name,
  );
  const wanted = container ?? mainContainerName;
  const { name: pod = "", namespace = "" } = metadata;
  return all
    .filter((name) => isAllContainers || name === wanted)
    .map((name) => ({
      namespace,
      pod,
      container: name,
      label: name === mainContainerName ? pod : `${pod}/${name}`,
    }));
}

/** Names of all containers that these pods have, for a message. */
export function containerNames(pods: readonly Stored<Pod>[]): string[] {
  const names = pods.flatMap(({ spec }) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ name }) => name),
  );
  return [...new Set(names)].toSorted();
}
