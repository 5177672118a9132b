// Whether a restart would give a process another zone, hall or datacenter than it has. FoundationDB may then keep data
// where its policy forbids it, so such a process group is replaced. A hall given to a process that has none is no such
// change. Rules: spec/halls.md [HALL13], [HALL14].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { faultDomainOf, processSettingsOf } from "../../api/effective.ts";
import { nodeLabelVariable } from "../../api/localities.ts";
import { renderArgument } from "../../build/command-line.ts";
import { localityArguments } from "../../build/locality-arguments.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Node, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { zoneVariableOf } from "../../model/fault-domain.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import { hallOf, hasCondition, isPacked } from "../../model/process-group.ts";
import type { Desired } from "../view/desired.ts";
import { substitutionsOf } from "../view/pod-configuration.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

const names: readonly (readonly [key: string, name: string])[] = [
  [localityKeys.zone, "zone"],
  [localityKeys.dataHall, "data hall"],
  [localityKeys.dataCenter, "datacenter"],
];

/** As a clause; undefined when every locality would stay. A value that only a new pod can tell counts as another one. */
export function localityChange(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): string | undefined {
  const processes = processesOfPod(snapshot, group, pod);
  if (processes.length === 0) return undefined;
  const wanted = wantedLocalities(snapshot, desired, group, pod);
  for (const [key, name] of names) {
    const next = wanted.get(key) ?? "";
    for (const process of processes) {
      const present = localityOf(process, key);
      if (present === "" || present === next) continue;
      if (next.startsWith("$") && !hasCondition(group, "IncorrectPodSpec")) continue;
      return `its ${name} would change from ${present} to ${next === "" ? "none" : next}`;
    }
  }
  return undefined;
}

/** Whether its processes tell another zone, hall or datacenter, or none, than they would after a restart. */
export function hasOtherLocality(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): boolean {
  const processes = processesOfPod(snapshot, group, pod);
  if (processes.length === 0) return false;
  const wanted = wantedLocalities(snapshot, desired, group, pod);
  return names.some(([key]) => {
    const next = wanted.get(key) ?? "";
    return !next.startsWith("$") && processes.some((process) => localityOf(process, key) !== next);
  });
}

/** What the pod before this one left in the status says nothing about it. */
function processesOfPod(
  snapshot: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
): readonly StatusProcess[] {
  const { nodeName = "" } = pod.spec ?? {};
  if (nodeName === "") return [];
  return viewOf(snapshot)
    .of(group)
    .processes.filter((process) => localityOf(process, localityKeys.machine) === nodeName);
}

interface Surroundings {
  readonly node: Stored<Node> | undefined;
  readonly substitutions: Readonly<Record<string, string>> | undefined;
}

/** What a new process in the place of the pod would say; a variable that nobody can tell stays visible as `$NAME`. */
function wantedLocalities(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): ReadonlyMap<string, string> {
  const { node } = viewOf(snapshot).of(group);
  const { values: substitutions } = substitutionsOf(snapshot, pod);
  const { processGroupID, processClass, distributionKey } = group;
  const from = [processGroupID, processClass, distributionKey, hallOf(group), node, substitutions];
  return desired.localities(pod, from, () =>
    localitiesIn({ node, substitutions }, desired, group, pod),
  );
}

function localitiesIn(
  surroundings: Surroundings,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): ReadonlyMap<string, string> {
  const { spec } = desired.cluster;
  const parameters = processSettingsOf(spec, group.processClass).customParameters ?? [];
  const values = variables(surroundings, desired, group, pod);
  const zoneSource = isPacked(group) ? "FDB_ZONE_ID" : zoneVariableOf(faultDomainOf(spec));
  const texts = [
    `--locality_zoneid=${values[zoneSource] ?? `$${zoneSource}`}`,
    ...localityArguments(spec, parameters).map((argument) => renderArgument(argument, 1, values)),
  ];
  const given = parameters.map((parameter) => {
    const [name = "", ...rest] = parameter.split("=");
    const value = rest.join("=").trim();
    const source = value.replaceAll(/^\$+|\$+$/g, "");
    return `--${name.trim()}=${value.startsWith("$") ? (values[source] ?? value) : value}`;
  });
  const found = new Map<string, string>();
  for (const text of [...texts, ...given]) {
    const match = /^--locality_(\w+)=(.*)$/.exec(text);
    if (match?.[1] !== undefined) found.set(match[1], match[2] ?? "");
  }
  return found;
}

/** What the pod reports, labels of its node, and over both what a new pod on the same node would be given. */
function variables(
  { node, substitutions }: Surroundings,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): Record<string, string> {
  const { nodeName = "" } = pod.spec ?? {};
  const values: Record<string, string> = {};
  const labels = node?.metadata.labels ?? {};
  for (const [key, value] of Object.entries(labels)) values[nodeLabelVariable(key)] = value;
  Object.assign(values, substitutions);
  const containers = desired.pod(group)?.object.spec?.containers ?? [];
  const main = containers.find(({ name }) => name === mainContainerName);
  for (const { name, value, valueFrom } of main?.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    if (path === "spec.nodeName") values[name] = nodeName;
    else if (path === "metadata.name") values[name] = pod.metadata.name ?? "";
    else if (value !== undefined && !value.includes("$(")) values[name] = value;
  }
  return values;
}
