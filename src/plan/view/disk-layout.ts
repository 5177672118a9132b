// Where the data of a process group lies on its volume: at the root for a split pod with one server, otherwise in a folder
// for each server. A pod that is made anew on a volume must find what lies there, whatever the spec says by then; a group
// whose layout is not wanted any more is replaced, and its data moves. Rules: spec/plan.md [P98].
import type {
  ClusterSpec,
  ClusterStatus,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import { imageTypeOf, serversPerPod } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { ConfigMap, PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { serversPerPodMaximum } from "../../model/limits.ts";
import { isStateful, processClasses } from "../../model/process-class.ts";

export interface DiskLayout {
  readonly imageType: "split" | "unified";
  readonly servers: number;
}

/** "root" or the number of folders. */
function nameOf({ imageType, servers }: DiskLayout): string {
  return imageType === "split" && servers <= 1 ? "root" : String(servers);
}

export function wantedLayout(spec: ClusterSpec, processClass: string): DiskLayout {
  return { imageType: imageTypeOf(spec), servers: serversPerPod(spec, processClass) };
}

export function isSameLayout(left: DiskLayout, right: DiskLayout): boolean {
  return nameOf(left) === nameOf(right);
}

/** The layout that its pod must have; undefined when it is the wanted one or not known. */
export function keptLayout(spec: ClusterSpec, group: ProcessGroup): DiskLayout | undefined {
  const { diskLayout, processClass } = group;
  const wanted = wantedLayout(spec, processClass);
  if (diskLayout === undefined || diskLayout === nameOf(wanted)) return undefined;
  if (diskLayout === "root") return { imageType: "split", servers: 1 };
  const servers = Number(diskLayout);
  return { imageType: servers === 1 ? "unified" : wanted.imageType, servers };
}

/** Written on a claim when it is made, so that it is known although the status is lost. */
export function layoutOfNewClaim(spec: ClusterSpec, group: ProcessGroup): string {
  return nameOf(keptLayout(spec, group) ?? wantedLayout(spec, group.processClass));
}

/** Undefined where nothing was written on the claim, or somebody has spoiled it. */
export function layoutOnClaim(
  claim: Stored<PersistentVolumeClaim> | undefined,
): string | undefined {
  const text = claim?.metadata.annotations?.[annotationKeys.diskLayout] ?? "";
  const isCount = /^[1-9]\d*$/.test(text) && Number(text) <= serversPerPodMaximum;
  return text === "root" || isCount ? text : undefined;
}

/**
 * Of a database that comes back from its disks: what the claim says counts, whatever pod there is by now. Where the claim says
 * nothing, the spec does.
 */
export function withLayoutOfClaim(
  spec: ClusterSpec,
  group: ProcessGroup,
  claim: Stored<PersistentVolumeClaim> | undefined,
): ProcessGroup {
  if (claim === undefined || !isStateful(group.processClass)) return group;
  const told = layoutOnClaim(claim);
  const isWanted = told === nameOf(wantedLayout(spec, group.processClass));
  return withLayout(group, isWanted ? undefined : told);
}

/** Whether the data on its claim was written where its pod does not look. */
export function looksElsewhere(
  pod: DiskLayout | undefined,
  claim: Stored<PersistentVolumeClaim> | undefined,
): boolean {
  const written = layoutOnClaim(claim);
  return pod !== undefined && written !== undefined && written !== nameOf(pod);
}

/** By class. */
export type LayoutContext = ReadonlyMap<
  string,
  {
    readonly wanted: string;
    /** The only one that there was, as it was stored last. */
    readonly last: string | undefined;
    /** Pods of the class have, or should have, several of them now. */
    readonly isMixed: boolean;
    /** Ids of the process groups of a database that was seen: those without a note are as all were. */
    readonly seen: ReadonlySet<string>;
  }
>;

/** `stored` is the status as it was stored last, `observed` as it is seen now. The ConfigMap remembers a status that was lost. */
export function layoutContext(
  spec: ClusterSpec,
  stored: ClusterStatus | undefined,
  observed: ClusterStatus | undefined,
  configMap?: ConfigMap,
): LayoutContext {
  const remembered = stored?.imageTypes === undefined ? kindsIn(spec, configMap) : stored;
  const groups = stored?.configured === true ? (stored.processGroups ?? []) : [];
  const seen = new Set(groups.map(({ processGroupID }) => processGroupID));
  const entries = processClasses.filter(isStateful).map((processClass) => {
    const before = layoutsIn(remembered, processClass);
    const [last] = before.size === 1 ? before : [];
    const wanted = nameOf(wantedLayout(spec, processClass));
    const isMixed = layoutsIn(observed, processClass).size > 1;
    return [processClass, { wanted, last, isMixed, seen }] as const;
  });
  return new Map(entries);
}

/**
 * Written down while it is in doubt: when the pod is not as wanted, or several kinds of pods exist. What its claim says counts
 * where there is no pod and the status does not tell.
 */
export function withDiskLayout(
  context: LayoutContext,
  group: ProcessGroup,
  pod: DiskLayout | undefined,
  claim: Stored<PersistentVolumeClaim> | undefined,
): ProcessGroup {
  const layouts = context.get(group.processClass);
  if (layouts === undefined) return group;
  const told = layouts.seen.has(group.processGroupID) ? layouts.last : undefined;
  const known =
    pod === undefined
      ? (group.diskLayout ?? told ?? layoutOnClaim(claim) ?? layouts.last)
      : nameOf(pod);
  return withLayout(group, known === layouts.wanted && !layouts.isMixed ? undefined : known);
}

function withLayout(group: ProcessGroup, diskLayout: string | undefined): ProcessGroup {
  if (diskLayout === group.diskLayout) return group;
  const { diskLayout: _, ...rest } = group;
  return diskLayout === undefined ? rest : { ...rest, diskLayout };
}

/** What pods of the class have, or should have. */
function layoutsIn(status: ClusterStatus | undefined, processClass: string): ReadonlySet<string> {
  const { imageTypes = [], storageServersPerDisk, logServersPerDisk } = status ?? {};
  const counts = (processClass === "storage" ? storageServersPerDisk : logServersPerDisk) ?? [1];
  const layouts = imageTypes.flatMap((imageType) =>
    counts.map((servers) =>
      nameOf({ imageType: imageType === "split" ? "split" : "unified", servers }),
    ),
  );
  return new Set(layouts);
}

/**
 * The kinds of pods that a ConfigMap has entries for. One for unified pods is the same however many servers they have: then
 * it is as many as the spec says.
 */
function kindsIn(spec: ClusterSpec, configMap: ConfigMap | undefined): ClusterStatus {
  const imageTypes = new Set<string>();
  const servers = { storage: new Set<number>(), log: new Set<number>() };
  for (const key of Object.keys(configMap?.data ?? {})) {
    const [, processClass, json, count = "1"] =
      /^fdbmonitor-conf-(storage|log)(-json)?(?:-density-(\d+))?/.exec(key) ?? [];
    if (processClass !== "storage" && processClass !== "log") continue;
    imageTypes.add(json === undefined ? "split" : "unified");
    servers[processClass].add(
      json === undefined ? Number(count) : serversPerPod(spec, processClass),
    );
  }
  return {
    imageTypes: [...imageTypes],
    storageServersPerDisk: [...servers.storage],
    logServersPerDisk: [...servers.log],
  };
}
