// Everything that is known of one process group: its conditions in words, its pod and volume, its processes, what was told
// of them. Rules: spec/web.md [WEB8].
import type { FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { conditionIn } from "../../kube/condition.ts";
import type {
  ContainerStatus,
  Event,
  PersistentVolumeClaim,
  Pod,
} from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { processRows } from "../../model/process-row.ts";
import { isHibernated } from "../../api/hibernation.ts";
import { meaningOf } from "../../plugin/explain/groups.ts";
import { withPodsSeen } from "../../plugin/explain/seen-since.ts";
import { objectTroubles, recentEvents } from "../../plugin/explain/objects.ts";
import type { ToldEvent } from "../../plugin/explain/objects.ts";
import { known } from "../../plugin/known.ts";
import { removalText, treeLeaves } from "../../plugin/tree/tree-leaf.ts";
import type { Story, StoryPod, StoryVolume } from "../view-model.ts";
import { groupCommands } from "./commands.ts";
import { isOnLostNode, podTroubles, stateOf } from "./map.ts";
import type { MapInput } from "./map.ts";

export interface StoryInput extends MapInput {
  readonly pvcs: readonly Stored<PersistentVolumeClaim>[] | undefined;
  readonly events: readonly Stored<Event>[] | undefined;
}

/** Undefined when neither the resource nor the database knows it. */
export function storyOf(input: StoryInput, group: string, nowMs: number): Story | undefined {
  const { cluster, status, nodes, pods = [], pvcs = [], events } = input;
  const leaf = treeLeaves({ ...input, pods }).find((one) => one.group === group);
  if (leaf === undefined) return undefined;
  const own = cluster.status?.processGroups?.find(({ processGroupID }) => processGroupID === group);
  const pod = pods.find(({ metadata }) => metadata.name === leaf.pod && leaf.pod !== "");
  const claim = claimOf(cluster, pvcs, group, pod);
  const trouble = podTroubles(pods, nodes).get(leaf.pod);
  const { processClass, dataCenter, hall, zone: faultDomain, node } = leaf;
  const processes =
    status === undefined ? [] : processRows(status).filter((row) => row.group === group);
  return {
    ...{ group, processClass, dataCenter, hall, faultDomain, node },
    state: stateOf(leaf, trouble, {
      hasPods: input.pods !== undefined,
      isAsleep: isHibernated(cluster),
    }),
    conditions: conditionsOf(own && withPodsSeen(own, pod)),
    ...removalOf(own, processes),
    addresses: own?.addresses ?? [],
    ...(pod === undefined ? {} : { pod: podOf(pod, trouble) }),
    ...(claim === undefined ? {} : { volume: volumeOf(claim) }),
    processes,
    events: [pod, claim]
      .flatMap((object) => (object === undefined ? [] : recentEvents(object, events, nowMs)))
      .toSorted(newestFirst),
    commands: groupCommands(cluster, group, leaf.pod),
  };
}

function conditionsOf(group: ProcessGroupStatus | undefined): Story["conditions"] {
  return (group?.processGroupConditions ?? [])
    .filter(({ type }) => type !== "Ready")
    .map(({ type, timestamp }) => ({
      ...{ type, meaning: meaningOf(type) ?? "" },
      ...(timestamp === undefined ? {} : { sinceMs: timestamp * 1000 }),
    }));
}

function removalOf(
  group: ProcessGroupStatus | undefined,
  rows: Story["processes"],
): Pick<Story, "removal"> {
  if (group?.removalTimestamp === undefined) return {};
  const sinceMs = parseTime(group.removalTimestamp);
  return { removal: { text: removalText(group, rows), ...known({ sinceMs }) } };
}

function newestFirst(left: ToldEvent, right: ToldEvent): number {
  return (parseTime(right.at) ?? 0) - (parseTime(left.at) ?? 0);
}

/** By its label, or by what the pod mounts. */
function claimOf(
  cluster: FoundationDBCluster,
  pvcs: readonly Stored<PersistentVolumeClaim>[],
  group: string,
  pod: Stored<Pod> | undefined,
): Stored<PersistentVolumeClaim> | undefined {
  const idLabel = labelsOf(cluster).processGroupIdLabels[0] ?? "";
  const mounted = new Set(
    (pod?.spec?.volumes ?? []).map((volume) => volume.persistentVolumeClaim?.claimName),
  );
  return (
    pvcs.find(({ metadata }) => mounted.has(metadata.name)) ??
    pvcs.find(({ metadata }) => metadata.labels?.[idLabel] === group)
  );
}

function podOf(pod: Stored<Pod>, trouble: string | undefined): StoryPod {
  const { metadata, spec, status } = pod;
  const statuses = new Map((status?.containerStatuses ?? []).map((one) => [one.name, one]));
  return {
    name: metadata.name ?? "",
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? "Unknown") : "Terminating",
    isReady: conditionIn(status, "Ready")?.status === "True",
    ...known({ trouble, createdMs: parseTime(metadata.creationTimestamp) }),
    containers: (spec?.containers ?? []).map(({ name, image = "" }) => {
      const told = containerOf(name, image, statuses.get(name));
      if (!isOnLostNode(trouble)) return told;
      const { sinceMs: _, ...container } = told;
      return { ...container, state: `last heard of as ${told.state}` };
    }),
  };
}

function containerOf(
  name: string,
  image: string,
  status: ContainerStatus | undefined,
): StoryPod["containers"][number] {
  const { state = {}, lastState, restartCount = 0 } = status ?? {};
  const { running, waiting, terminated } = state;
  const ended = lastState?.terminated;
  const text =
    running !== undefined
      ? "running"
      : terminated !== undefined
        ? `ended with exit code ${terminated.exitCode}`
        : `waits${waiting?.reason === undefined ? "" : ` (${waiting.reason})`}`;
  return {
    ...{ name, image, state: text, restarts: restartCount },
    ...known({
      sinceMs: parseTime(running?.startedAt ?? terminated?.finishedAt),
      lastEnd: ended && {
        text: `exit code ${ended.exitCode}${ended.reason === undefined ? "" : ` (${ended.reason})`}`,
        ...known({ atMs: parseTime(ended.finishedAt) }),
      },
    }),
  };
}

function volumeOf(claim: Stored<PersistentVolumeClaim>): StoryVolume {
  const { metadata, spec, status } = claim;
  const [trouble] = objectTroubles({
    pods: [],
    pvcs: [claim],
    nodes: undefined,
    events: undefined,
  });
  const capacity = status?.capacity?.["storage"] ?? spec?.resources?.requests?.["storage"] ?? "";
  return {
    claim: metadata.name ?? "",
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? "Pending") : "Terminating",
    capacity: String(capacity),
    storageClass: spec?.storageClassName ?? "",
    ...(trouble === undefined ? {} : { trouble: trouble.text }),
  };
}
