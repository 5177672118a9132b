// Step updateSidecarVersions: before all processes change their version at once, every sidecar gets the image of the
// new version in place and with it the new binaries; processes go on undisturbed. An upgrade that is given up takes the
// images back. Rules: spec/upgrade.md [U20]-[U29], [U37], [U59], [U89], [U94].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { withoutTag } from "../../build/images.ts";
import { annotationKeys } from "../../build/labels.ts";
import { sidecarContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { lastsFor } from "../facts.ts";
import { heldWait } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { restartEntriesWait, withdrawal } from "./upgrade-withdrawal.ts";
import { announcedVersion, canStart } from "../view/pod-binaries.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { preparationObstacle } from "./upgrade-staging.ts";
import { upgradeVerdict } from "./upgrade-verdict.ts";
import { nextWave } from "./upgrade-waves.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "updateSidecarVersions";
/** A client that comes and goes does not send sidecars back and forth. */
const giveUpMs = 60_000;

export function updateSidecarVersions(snapshot: Snapshot, draft: Draft): StepResult {
  const { spec } = snapshot.cluster;
  const running = draft.status.runningVersion ?? spec.version;
  const verdict = upgradeVerdict(snapshot, running);
  switch (verdict.kind) {
    case "allowed":
    case "needed":
      return stage(snapshot, draft, running);
    case "none":
      return takeBack(snapshot, draft, isolated(snapshot, draft), spec.version);
    case "refused":
      return takeBack(snapshot, draft, candidates(snapshot, draft), running);
    case "held": {
      const found = candidates(snapshot, draft);
      const { clientsIncompatible } = draft.facts;
      const isGivenUp = lastsFor(clientsIncompatible, giveUpMs, snapshot.nowMs);
      const isTakenBack = hasSplitPods(snapshot, found) && isGivenUp;
      return takeBack(snapshot, draft, isTakenBack ? found : [], running);
    }
    case "unknown":
    case "uncertain":
      return bringAnnounced(snapshot, draft, running);
    default:
      return nothing;
  }
}

/**
 * What is announced stays so while nobody tells who the clients are, or who runs what: a pod that was made again meanwhile
 * starts no server without it. Where the database waits for just these, nobody would tell anything ever.
 */
function bringAnnounced(snapshot: Snapshot, draft: Draft, running: string): StepResult {
  const announced = announcedVersion(snapshot) ?? "";
  if (!preparedVersions(snapshot, running).includes(announced)) return nothing;
  const found = candidates(snapshot, draft).filter(
    ({ pod }) => canStart(snapshot, pod, announced) === false,
  );
  return changeImages(snapshot, draft, found, announced);
}

interface Candidate {
  group: ProcessGroup;
  pod: Stored<Pod>;
}

function candidates(snapshot: Snapshot, draft: Draft): Candidate[] {
  return draft.groups.flatMap((group) => {
    if (hasCondition(group, "ResourcesTerminating")) return [];
    const pod = viewOf(snapshot).of(group).pod;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    return [{ group, pod }];
  });
}

function hasSplitPods(snapshot: Snapshot, found: readonly Candidate[]): boolean {
  return found.some(({ pod }) => shapeOfPod(snapshot, pod).imageType === "split");
}

/**
 * Pods that are right but for a sidecar of another version, as an upgrade that was taken back leaves them. Where another
 * program rewrites the names of images, the operator does not fight it.
 */
function isolated(snapshot: Snapshot, draft: Draft): Candidate[] {
  return candidates(snapshot, draft).filter(({ group, pod }) => {
    const hash = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    if (hash !== draft.desired.pod(group)?.specHash) return false;
    const live = viewOf(snapshot).of(group).shape?.sidecarImage ?? "";
    const wanted = draft.desired.sidecarImage(group, pod);
    return live === wanted || withoutTag(live) === withoutTag(wanted);
  });
}

function stage(snapshot: Snapshot, draft: Draft, running: string): StepResult {
  const entries = restartEntriesWait(snapshot);
  if (entries !== undefined) return { waits: [entries] };
  const found = candidates(snapshot, draft);
  const isBegun = found.some(
    ({ group, pod }) =>
      shapeOfPod(snapshot, pod).sidecarImage === draft.desired.sidecarImage(group, pod),
  );
  const obstacle = isBegun ? undefined : startObstacle(snapshot, running, found);
  if (obstacle !== undefined)
    return { waits: [heldWait(step, obstacle, "The upgrade is about to be prepared")] };
  return changeImages(snapshot, draft, found, snapshot.cluster.spec.version);
}

/**
 * The sidecar of a split pod names the new binaries at once, so that a process which restarts meanwhile is lost to the
 * others. That time is kept short: it begins when the restart itself would be allowed.
 */
function startObstacle(
  snapshot: Snapshot,
  running: string,
  found: readonly Candidate[],
): Hold | undefined {
  if (!hasSplitPods(snapshot, found)) return undefined;
  return preparationObstacle(snapshot, running);
}

/** Instances that share the database must not count on process groups that went back. */
function takeBack(
  snapshot: Snapshot,
  draft: Draft,
  found: readonly Candidate[],
  version: string,
): StepResult {
  const running = draft.status.runningVersion ?? snapshot.cluster.spec.version;
  const result = changeImages(snapshot, draft, found, version);
  if (result.actions === undefined && preparedVersions(snapshot, running).length === 0)
    return result;
  return withdrawal(snapshot, draft.groups, running) ?? result;
}

function changeImages(
  snapshot: Snapshot,
  draft: Draft,
  found: readonly Candidate[],
  version: string,
): StepResult {
  const changes = found.flatMap(({ group, pod }) => {
    const image = draft.desired.sidecarImage(group, pod, version);
    return image === "" ? [] : [{ group, pod, image }];
  });
  const connectionString = draft.status.connectionString ?? "";
  const actions = nextWave(snapshot, connectionString, changes).map(
    ({ group, pod, image }): Action => {
      const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
      const basis = { name, uid, resourceVersion };
      const container = sidecarContainerName;
      const processGroupId = group.processGroupID;
      return { type: "updatePodImage", step, basis, container, image, processGroupId };
    },
  );
  if (actions.length === 0) return nothing;
  const count = actions.length === 1 ? "one sidecar" : `${actions.length} sidecars`;
  const message = `Changing ${count} to version ${version}`;
  return { actions, events: [{ type: "Normal", reason: "SidecarUpgraded", message }] };
}
