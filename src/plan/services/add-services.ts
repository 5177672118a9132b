// Step addServices: the headless service that gives pods their names, and with publicIPSource=service one
// service for each process group. Rules: spec/plan.md [P43]-[P45].
import { append } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import { isNameOfService } from "../../build/pod-environment.ts";
import { headlessService } from "../../build/service.ts";
import type { Pod, Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hostOf } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { mergedMap, missingMetadata } from "../view/metadata-check.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";

const step = "addServices";

export function addServices(snapshot: Snapshot, draft: Draft): StepResult {
  const actions: Action[] = [];
  const names = draft.desired.headlessService ?? neededNames(snapshot, draft);
  if (names !== undefined)
    append(
      actions,
      planService(names, snapshot.services.get(names.metadata.name ?? ""), undefined),
    );
  const view = viewOf(snapshot);
  const { publicIpSource } = routingOf(draft.desired.cluster.spec);
  for (const group of publicIpSource === "service" ? draft.groups : []) {
    if (isReadyForRemoval(group)) continue;
    const wanted = draft.desired.service(group);
    if (wanted === undefined) continue;
    const { service, pod } = view.of(group);
    const isLost = service === undefined && !areMostServed(snapshot, draft);
    const resting = isLost ? restingAddress(draft, group) : undefined;
    const owner = { id: group.processGroupID, pod, restingAddress: resting };
    append(actions, planService(wanted, service, owner));
  }
  return actions.length === 0 ? nothing : { actions };
}

/** Nobody asks for names any more, and coordinators are still known by them: without the service the database is not found. */
function neededNames(snapshot: Snapshot, draft: Draft): Stored<Service> | undefined {
  const { cluster } = draft.desired;
  if (snapshot.services.has(cluster.metadata.name ?? "")) return undefined;
  const { connectionString = "" } = draft.status;
  const coordinators = snapshot.memory.onceOfText(coordinatorsOf, connectionString);
  if (!coordinators.some((address) => isNameOfService(cluster, address))) return undefined;
  const routing = { ...cluster.spec.routing, headlessService: true };
  return headlessService({ ...cluster, spec: { ...cluster.spec, routing } }) as Stored<Service>;
}

/** The process group of a service; the headless one has none. */
interface Owner {
  readonly id: string;
  readonly pod: Stored<Pod> | undefined;
  readonly restingAddress: string | undefined;
}

/**
 * Whether most coordinators are found by addresses that services have. One of the others may get another address then: the
 * database serves without it, and its own may belong to somebody else by now. While the database sleeps each is needed.
 */
function areMostServed({ services }: Snapshot, { status }: Draft): boolean {
  if (status.hibernation !== undefined) return false;
  const hosts = coordinatorsOf(status.connectionString ?? "").map(hostOf);
  const served = new Set([...services.values()].flatMap(({ spec }) => spec?.clusterIPs ?? []));
  return hosts.filter((host) => served.has(host)).length * 2 > hosts.length;
}

/** The address of a service by which a coordinator is known, also without a pod. */
export function restingAddress(
  { status }: Pick<Draft, "status">,
  { addresses = [] }: ProcessGroup,
): string | undefined {
  const coordinators = new Set(coordinatorsOf(status.connectionString ?? "").map(hostOf));
  return addresses.map(hostOf).find((host) => coordinators.has(host));
}

/** Of a service that exists only the selector and what we add to its metadata are ours. */
function planService(
  wanted: Stored<Service>,
  live: Stored<Service> | undefined,
  owner: Owner | undefined,
): Action[] {
  const name = wanted.metadata.name ?? "";
  if (live === undefined) {
    return [
      {
        type: "createService",
        step,
        object: withKnownAddress(wanted, owner),
        ...(owner === undefined ? {} : { processGroupId: owner.id }),
      },
    ];
  }
  const metadata = missingMetadata(live.metadata, {
    labels: wanted.metadata.labels ?? {},
    annotations: wanted.metadata.annotations ?? {},
  });
  if (metadata === undefined && isSameSelector(live, wanted)) return [];
  const object: Stored<Service> = {
    ...live,
    metadata: {
      ...live.metadata,
      labels: mergedMap(live.metadata.labels, wanted.metadata.labels),
      annotations: mergedMap(live.metadata.annotations, wanted.metadata.annotations),
    },
    spec: { ...live.spec, selector: wanted.spec?.selector },
  };
  const { uid = "", resourceVersion = "" } = live.metadata;
  return [{ type: "updateService", step, object, basis: { name, uid, resourceVersion } }];
}

/** A process goes on announcing the address that its pod was made with, so a lost service comes back under it. */
function withKnownAddress(wanted: Stored<Service>, owner: Owner | undefined): Stored<Service> {
  const given = owner?.pod?.metadata.annotations?.[annotationKeys.publicIp];
  const clusterIP = given ?? owner?.restingAddress;
  if (clusterIP === undefined || wanted.spec?.type !== "ClusterIP") return wanted;
  return { ...wanted, spec: { ...wanted.spec, clusterIP } };
}

function isSameSelector(live: Stored<Service>, wanted: Stored<Service>): boolean {
  const [left, right] = [live.spec?.selector ?? {}, wanted.spec?.selector ?? {}];
  const keys = Object.keys(right);
  return keys.length === Object.keys(left).length && keys.every((key) => left[key] === right[key]);
}
