// Which sidecars of split pods must be asked before more can be said. Rules: spec/plan.md [P32].
import { hasCondition } from "../../model/process-group.ts";
import { podConfigurationState, stagedBinary } from "../view/pod-configuration.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface SidecarQuestion {
  podName: string;
  /** The run of the sidecar that is asked; see PodShape. */
  run: string;
  host: string;
  useTls: boolean;
  /** Files whose presence matters. */
  files?: readonly string[];
}

/** Pods that never answered, or whose files are not the wanted ones yet. */
export function sidecarQuestions(snapshot: Snapshot, draft: Draft): SidecarQuestion[] {
  if (!(draft.status.imageTypes ?? []).includes("split")) return [];
  return draft.groups.flatMap((group) => {
    if (hasCondition(group, "ResourcesTerminating")) return [];
    const pod = viewOf(snapshot).of(group).pod;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    const shape = shapeOfPod(snapshot, pod);
    const host = shape.sidecarHost;
    if (shape.imageType !== "split" || host === undefined || !shape.isSidecarReady) return [];
    const podName = pod.metadata.name ?? "";
    const isAnswered = snapshot.sidecars.get(podName)?.kind === "answered";
    const state = podConfigurationState(snapshot, draft.desired, group, pod);
    if (isAnswered && state === "current") return [];
    const binary = stagedBinary(draft.desired, group, pod);
    const files = binary === undefined ? {} : { files: [binary] };
    return [{ podName, run: shape.sidecarRun, host, useTls: shape.usesSidecarTls, ...files }];
  });
}
