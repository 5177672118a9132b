// Where the data of a process group lies on its volume: at the root for a split pod with one server, otherwise in a folder
// for each server. A pod that is made anew on a volume must find what lies there, whatever the spec says by then; a group
// whose layout is not wanted any more is replaced, and its data moves. Rules: spec/plan.md [P98].
import type { Remembering } from "../../env/memory.ts";
import type {
  ClusterSpec,
  ClusterStatus,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import { imageTypeOf, serversPerPod } from "../../api/effective.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isStateful } from "../../model/process-class.ts";
import { shapeOfPod } from "./pod-shape.ts";

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

interface LayoutContext extends Remembering {
  readonly spec: ClusterSpec;
  /** As it was stored last, and as it is seen now. */
  readonly stored: ClusterStatus | undefined;
  readonly observed: ClusterStatus | undefined;
}

/** Written down while it is in doubt: when the pod is not as wanted, or several kinds of pods exist. */
export function withDiskLayout(
  context: LayoutContext,
  group: ProcessGroup,
  pod: Stored<Pod> | undefined,
): ProcessGroup {
  const { spec, stored, observed } = context;
  if (!isStateful(group.processClass)) return group;
  const before = layoutsIn(stored, group.processClass);
  const [last] = before.size === 1 ? before : [];
  const known = pod === undefined ? (group.diskLayout ?? last) : nameOf(shapeOfPod(context, pod));
  const isClear =
    known === nameOf(wantedLayout(spec, group.processClass)) &&
    layoutsIn(observed, group.processClass).size <= 1;
  const diskLayout = isClear ? undefined : known;
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
