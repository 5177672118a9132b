// Step addPods: a pod for every process group that has none. A pod is made with all its metadata, so that it
// needs no second write. Rules: spec/plan.md [P47]-[P50], [P98], [P118], [P119], spec/safety.md [S106].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { withFamilyEntry } from "../../build/family-entry.ts";
import { fenceAnnotations } from "../../build/fence.ts";
import { annotationKeys } from "../../build/labels.ts";
import { hasCondition, isReadyForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import type { Desired } from "../view/desired.ts";
import { desiredWith, specOnVolume } from "../volumes/desired-on-volume.ts";
import { quarantineWait } from "../volumes/quarantine.ts";
import { isReserved } from "../view/reserved-ids.ts";
import { isWithoutPod } from "./early-pods.ts";
import {
  isConfigMapMisleading,
  misleadingWait,
  needsClusterFile,
} from "./misleading-config-map.ts";
import { keptFamily } from "../services/family-of-service.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { viewOf } from "../view/cluster-view.ts";
import { fenceWish } from "../view/fence.ts";
import type { Draft, StepResult } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "addPods";
/** So many are built in one pass: those of a large cluster take turns with the passes of others. */
const podsMaximum = 500;

export function addPods(snapshot: Snapshot, draft: Draft): StepResult {
  const needsServiceIp = routingOf(snapshot.cluster.spec).publicIpSource === "service";
  const actions: Action[] = [];
  const withoutAddress: string[] = [];
  const misled: string[] = [];
  const isMisleading = isConfigMapMisleading(snapshot, draft);
  const waits: NewWait[] = [];
  const view = viewOf(snapshot);
  for (const group of draft.groups) {
    if (isReadyForRemoval(group)) continue;
    const { pod, podName, service } = view.of(group);
    if (pod !== undefined) continue;
    if (actions.length >= podsMaximum) break;
    if (isWithoutPod(snapshot, group)) continue;
    if (volumeProblem(snapshot, group)?.isUnusable === true) continue;
    if (isReserved(snapshot, group.processGroupID, group.processClass)) {
      waits.push(quarantineWait(step, group));
      continue;
    }
    if (isMisleading && needsClusterFile(group)) {
      misled.push(podName);
      continue;
    }
    const serviceIp = needsServiceIp ? clusterIpOf(service) : undefined;
    if (needsServiceIp && serviceIp === undefined) {
      withoutAddress.push(podName);
      continue;
    }
    const action = createPod(snapshot, draft, group, serviceIp);
    if (action !== undefined) actions.push(action);
    else waits.push(templateWait(draft, group));
  }
  if (misled.length > 0) waits.unshift(misleadingWait(misled));
  if (withoutAddress.length > 0) waits.push(serviceAddressWait(withoutAddress));
  return { actions, waits: waits.slice(0, 1) };
}

/** All pods of a template fail alike, so the first one speaks for them. */
function templateWait(draft: Draft, group: ProcessGroup): NewWait {
  const problem = draft.desired.podProblem(group);
  return {
    step,
    reason: "PodTemplateUnusable",
    message: `No pod can be built for ${group.processClass}: ${problem?.field} is ${problem?.value}`,
    retryAfterMs: 600_000,
    remedy: problem?.remedy ?? "Correct the pod template.",
  };
}

function createPod(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  serviceIp: string | undefined,
): Action | undefined {
  const family = keptFamily(snapshot, group, viewOf(snapshot).of(group).service);
  const desired = desiredOf(snapshot, draft, group, family);
  const built = desired.pod(group);
  if (built === undefined) return undefined;
  const object = family === undefined ? built.object : withFamilyEntry(built.object, family);
  const annotations = {
    ...object.metadata.annotations,
    [annotationKeys.lastAppliedConfigMap]: desired.configHashOfNewPod(group),
    ...(serviceIp === undefined ? {} : { [annotationKeys.publicIp]: serviceIp }),
    // The servers of a fenced process group stay stopped, also in another pod.
    ...(isFencedFor(snapshot, group) ? fenceAnnotations : {}),
  };
  const pod = { ...object, metadata: { ...object.metadata, annotations } };
  return { type: "createPod", step, object: pod, processGroupId: group.processGroupID };
}

function isFencedFor(snapshot: Snapshot, group: ProcessGroup): boolean {
  return hasCondition(group, "Fenced") && fenceWish(snapshot, group) === "spec";
}

/** On a volume with data, and behind a service, the pod is made as it was, though the spec wants another one. */
function desiredOf(
  snapshot: Snapshot,
  { desired }: Draft,
  group: ProcessGroup,
  podIPFamily: 4 | 6 | undefined,
): Desired {
  const spec = specOnVolume(snapshot, desired, group);
  if (podIPFamily === undefined) return desiredWith(snapshot, desired, spec);
  const { routing } = snapshot.cluster.spec;
  return desiredWith(snapshot, desired, { ...spec, routing: { ...routing, podIPFamily } });
}

function clusterIpOf(service: Stored<Service> | undefined): string | undefined {
  const ip = service?.spec?.clusterIP;
  return ip === undefined || ip === "" || ip === "None" ? undefined : ip;
}

function serviceAddressWait(podNames: readonly string[]): NewWait {
  return {
    step,
    reason: "ServiceAddressMissing",
    message: `No address has been given to the services of ${nameList(podNames)} yet`,
    retryAfterMs: 15_000,
  };
}
