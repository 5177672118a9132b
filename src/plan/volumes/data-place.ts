// Where a pod keeps the data of its process group: which volume, mounted where. A pod template may put something else in the
// place of the volume `data`; a pod that is made anew in place would then start without its data, and a copy would be lost
// with each. Rules: spec/removal.md [R100], [R101].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Remembering } from "../../env/memory.ts";
import { mounts } from "../../build/pod-volumes.ts";
import type { Pod, PodTemplateSpec } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isStateful, neverKeepsData } from "../../model/process-class.ts";
import { isSameJson } from "../view/same-json.ts";

const [dataVolume, dataPath] = mounts.data;

interface DataPlace {
  /** That of the data itself; undefined when it lies in the file system of the container. */
  readonly claimName: string | undefined;
  readonly volume: string | undefined;
  readonly mountPath: string | undefined;
  readonly subPath: string | undefined;
}

/** The mount that the data directory is in is the one with the longest path. */
function dataPlaceOf(pod: Stored<Pod>): DataPlace {
  const main = pod.spec?.containers.find(({ name }) => name === mainContainerName);
  const [mount] = (main?.volumeMounts ?? [])
    .filter(({ mountPath }) => `${dataPath}/`.startsWith(`${mountPath.replace(/\/+$/, "")}/`))
    .toSorted((left, right) => right.mountPath.length - left.mountPath.length);
  const volume = pod.spec?.volumes?.find(({ name }) => name === mount?.name);
  return {
    claimName: volume?.persistentVolumeClaim?.claimName,
    volume: mount?.name,
    mountPath: mount?.mountPath,
    subPath: mount?.subPath ?? mount?.subPathExpr,
  };
}

/** Why a pod that is made anew in place would not find its data, as a clause; undefined when it would, or has none. */
export function dataPlaceChange(
  { memory }: Remembering,
  processClass: string,
  pod: Stored<Pod>,
  wanted: Stored<Pod>,
): string | undefined {
  if (neverKeepsData(processClass)) return undefined;
  const before = memory.once(dataPlaceOf, pod);
  const after = memory.once(dataPlaceOf, wanted);
  if (!isSameJson(before, after)) return "its pod template keeps the data in another place";
  return before.claimName === undefined ? "its data lies in its pod alone" : undefined;
}

/** Whether its data is on its claim, and a pod that is made as wanted would not use it. */
export function isDataLeftBehind(group: ProcessGroup, wanted: Stored<Pod>): boolean {
  if (group.volumeClaim === undefined || !isStateful(group.processClass)) return false;
  const { claimName, mountPath, subPath } = dataPlaceOf(wanted);
  return claimName === undefined || mountPath !== dataPath || subPath !== undefined;
}

/** The same with the volume for the data where the operator puts it. */
export function withUsualDataPlace(spec: ClusterSpec): ClusterSpec {
  const processes = Object.fromEntries(
    Object.entries(spec.processes ?? {}).map(([key, settings]) => {
      const { podTemplate } = settings;
      return podTemplate === undefined
        ? [key, settings]
        : [key, { ...settings, podTemplate: withoutDataVolume(podTemplate) }];
    }),
  );
  return { ...spec, processes };
}

function withoutDataVolume(template: PodTemplateSpec): PodTemplateSpec {
  if (template.spec === undefined) return template;
  const { volumes, containers } = template.spec;
  return {
    ...template,
    spec: {
      ...template.spec,
      ...(volumes && { volumes: volumes.filter(({ name }) => name !== dataVolume) }),
      containers: containers.map((container) =>
        container.name === mainContainerName && container.volumeMounts !== undefined
          ? { ...container, volumeMounts: container.volumeMounts.filter(isElsewhere) }
          : container,
      ),
    },
  };
}

function isElsewhere({ name, mountPath }: { name: string; mountPath: string }): boolean {
  return name !== dataVolume && !`${dataPath}/`.startsWith(`${mountPath.replace(/\/+$/, "")}/`);
}
