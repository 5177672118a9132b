// The proof that coordinators which do not answer are stopped for good, and not merely out of reach: one that still runs elsewhere
// would go on with a database of its own. Nothing but Kubernetes is asked. Pure. Rules: spec/plugin.md [PL78].
import type { FoundationDBCluster, ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { isNameOfService } from "../build/pod-environment.ts";
import { conditionIn } from "../kube/condition.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { hostOf } from "../model/address.ts";
import { podNameOf, volumeClaimNameOf } from "../model/process-group-id.ts";
import { normalCluster } from "../build/normalise.ts";

export interface Surroundings {
  readonly cluster: FoundationDBCluster;
  /** All of the cluster, whatever their phase. */
  readonly pods: readonly Stored<Pod>[];
  readonly claims: ReadonlyMap<string, Stored<PersistentVolumeClaim>>;
  readonly nodes: readonly Stored<Node>[];
  /** Of the whole Kubernetes cluster; undefined when nobody may look at them. */
  readonly volumes: readonly Stored<PersistentVolume>[] | undefined;
}

/** Who has put this taint on a node says that it is switched off. */
const outOfService = "node.kubernetes.io/out-of-service";

/** Why it is not proved that these are stopped for good, as a clause; undefined when it is. */
export function doubtOf(around: Surroundings, silent: readonly string[]): string | undefined {
  for (const coordinator of silent) {
    const doubt = doubtOfOne(around, coordinator);
    if (doubt !== undefined) return `coordinator ${coordinator}: ${doubt}`;
  }
  const [node] = around.nodes
    .filter((each) => !isAccountable(each))
    .map(({ metadata }) => metadata);
  if (node === undefined) return undefined;
  return (
    `node ${node.name ?? ""} does not report, and pods that were deleted may still run on it; ` +
    `switch it off and give it the taint ${outOfService}, or delete it`
  );
}

function doubtOfOne(around: Surroundings, coordinator: string): string | undefined {
  const { cluster, pods, claims } = around;
  const group = groupOf(cluster, hostOf(coordinator));
  if (group === undefined && holdersOf(cluster, hostOf(coordinator)).length > 1) {
    return "several process groups have had its address, so nobody here can tell whose it was";
  }
  if (group === undefined) {
    return "no process group of this resource had it, so nobody here can tell whether it is stopped";
  }
  const name = podNameOf(cluster.metadata.name ?? "", group.processClass, group.processGroupID);
  const pod = pods.find(({ metadata }) => metadata.name === name);
  if (pod !== undefined && mayRun(pod)) {
    const node = pod.spec?.nodeName ?? "";
    const state = pod.metadata.deletionTimestamp === undefined ? "is there" : "is being deleted";
    return `its pod ${name} ${state}, on node ${node}: it may be out of reach and run all the same`;
  }
  const claimName = volumeClaimNameOf(name);
  const claim = claims.get(claimName);
  const released = releasedVolume(around, claimName);
  if (released !== undefined) {
    return (
      `its volume ${released} is Released, not lost: it can be bound to the claim ${claimName} again, as kubectl fdb volumes rebind ` +
      "does where spec.adopt brings a database back; start its pod then, or delete the volume if it is of no use"
    );
  }
  if (claim === undefined || claim.status?.phase === "Lost") return undefined;
  // What was made for a successor and never had data is no reason for hope; one that is about to get a volume is.
  if (claim.status?.phase !== "Bound" && (claim.spec?.volumeName ?? "") === "") return undefined;
  return `its volume claim ${claim.metadata.name ?? ""} is there, and what it knows with it; start its pod instead`;
}

/** Reclaim policy Retain keeps the data when the claim is deleted. */
function releasedVolume({ cluster, volumes = [] }: Surroundings, claim: string) {
  const { namespace } = cluster.metadata;
  return volumes.find(
    ({ spec, status }) =>
      status?.phase === "Released" &&
      spec?.claimRef?.name === claim &&
      spec.claimRef.namespace === namespace,
  )?.metadata.name;
}

/** A pod that no node has cannot run. */
function mayRun({ spec, status }: Stored<Pod>): boolean {
  if ((spec?.nodeName ?? "") === "") return false;
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

function groupOf(cluster: FoundationDBCluster, host: string): ProcessGroup | undefined {
  const groups = cluster.status?.processGroups ?? [];
  if (isNameOfService(normalCluster(cluster), host)) {
    const pod = host.split(".")[0];
    return groups.find(
      ({ processClass, processGroupID }) =>
        podNameOf(cluster.metadata.name ?? "", processClass, processGroupID) === pod,
    );
  }
  const known = holdersOf(cluster, host);
  // An address that two have had tells nothing.
  return known.length === 1 ? known[0] : undefined;
}

function holdersOf({ status }: FoundationDBCluster, host: string): ProcessGroup[] {
  const groups = status?.processGroups ?? [];
  return groups.filter(({ addresses = [] }) => addresses.some((a) => hostOf(a) === host));
}

/** It reports, and so has ended what was deleted; or a person says that it is switched off. */
function isAccountable({ spec, status }: Stored<Node>): boolean {
  if (conditionIn(status, "Ready")?.status === "True") return true;
  return spec?.taints?.some(({ key }) => key === outOfService) === true;
}
