// Whom a policy would cut off that is connected now: other parts of the database, which must be let in for certain, and clients,
// which are told as far as nobody could mean them. Rules: spec/network.md [NET11]-[NET14], [NET17].
import { operatorPeers } from "../../build/network-policy.ts";
import { operatorLogGroup } from "../../fdb/log-group.ts";
import type { NetworkPolicyPeer, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isAvailable } from "../../model/availability.ts";
import { hasIp, hostOf } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { counted } from "../../model/counted.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { nameList } from "../wait.ts";
import { admission, couldMeanPodIn, podsByAddress } from "./admitted.ts";

export interface CutOff {
  /** As a sentence. */
  readonly message: string;
  readonly remedy: string;
  /** The answer will come from the database. */
  readonly isForDatabase: boolean;
}

/** Undefined when nobody is cut off, as far as the newest status tells. */
export function cutOff(snapshot: Snapshot, draft: Draft): CutOff | undefined {
  const ourselves = operatorCutOff(snapshot);
  if (ourselves !== undefined) return ourselves;
  const status = databaseStatus(snapshot);
  if (status === undefined && snapshot.cluster.status?.configured === true) {
    return {
      message: "The database does not answer, so nobody knows who is connected to it",
      remedy: "Nothing, when it comes back; who is named besides is let in at once.",
      isForDatabase: true,
    };
  }
  if (snapshot.cluster.status?.configured === true && !tellsWhoIsThere(status)) return untold;
  const around = surroundingsOf(snapshot, draft);
  return partCutOff(snapshot, around, status) ?? clientsCutOff(snapshot, around, status);
}

const untold: CutOff = {
  message: "The status of the database does not tell all who are part of it or connected to it",
  remedy: "Nothing, when it passes by itself; otherwise look at the database.",
  isForDatabase: true,
};

/** Whoever it leaves out would be cut off without a word: parts of the database above all. */
function tellsWhoIsThere(status: DatabaseStatus | undefined): boolean {
  if (!isAvailable(status) || status.cluster?.processes === undefined) return false;
  return !(status.unreadable ?? []).some((path) => whoIsThere.test(path));
}

const whoIsThere = /^cluster($|\.clients|\.processes($|\.[^.]+($|\.address|\.locality)))/;

/** Who names the operator and means others would make it blind. */
function operatorCutOff({ cluster, options }: Snapshot): CutOff | undefined {
  const { operatorNamespace } = options;
  const { namespace = "" } = cluster.metadata;
  const peers = operatorPeers(cluster, operatorNamespace) ?? [];
  if (operatorNamespace === undefined || couldMeanPodIn(peers, operatorNamespace, namespace)) {
    return undefined;
  }
  return {
    message: `What spec.networkPolicy.operator names cannot be this operator, which runs in namespace ${operatorNamespace}`,
    remedy: "Add a namespaceSelector for that namespace, or leave spec.networkPolicy.operator out.",
    isForDatabase: false,
  };
}

interface Around {
  readonly ownIds: ReadonlySet<string>;
  readonly own: ReadonlyMap<string, Stored<Pod>>;
  readonly seen: ReadonlyMap<string, Stored<Pod>>;
  readonly namespace: string;
}

function surroundingsOf({ cluster, pods, neighbours = [] }: Snapshot, { groups }: Draft): Around {
  return {
    ownIds: new Set(groups.map(({ processGroupID }) => processGroupID)),
    own: podsByAddress(pods.values()),
    seen: podsByAddress(neighbours),
    namespace: cluster.metadata.namespace ?? "",
  };
}

/** Processes that another resource looks after, and coordinators: half a database is none. */
function partCutOff(
  { cluster }: Snapshot,
  around: Around,
  status: DatabaseStatus | undefined,
): CutOff | undefined {
  const foreign = (status === undefined ? [] : processesOf(status)).filter(
    (process) => !around.ownIds.has(localityOf(process, localityKeys.instance)),
  );
  const hosts = [
    ...foreign.map(({ address = "" }) => hostOf(address)),
    ...coordinatorHosts(cluster.status?.connectionString || cluster.spec.seedConnectionString),
  ];
  const peers = cluster.spec.networkPolicy?.peers ?? [];
  const left = [...new Set(hosts)]
    .filter((host) => host !== "" && !around.own.has(host) && !ownServes(status, around, host))
    .filter((host) => {
      const caller = { host, pod: around.seen.get(host) };
      return admission(peers, caller, around.namespace) !== "yes";
    })
    .sort();
  if (left.length === 0) return undefined;
  return {
    message: `Parts of the database are elsewhere, and would be cut off for all that can be told: ${nameList(left)}`,
    remedy:
      "Name them in spec.networkPolicy.peers, as blocks of addresses, or as pods and the name of a namespace that this operator looks after.",
    isForDatabase: false,
  };
}

/** Names of hosts lead to processes that are in the status, too. */
function coordinatorHosts(connectionString: string | undefined): string[] {
  return coordinatorsOf(connectionString ?? "")
    .filter(hasIp)
    .map(hostOf);
}

/** A process group of ours is there under this address, whatever its pod is doing now. */
function ownServes(status: DatabaseStatus | undefined, around: Around, host: string): boolean {
  return (status === undefined ? [] : processesOf(status)).some(
    (process) =>
      hostOf(process.address ?? "") === host &&
      around.ownIds.has(localityOf(process, localityKeys.instance)),
  );
}

/** Only those whom no entry could mean: the operator does not see the pods of applications. */
function clientsCutOff(
  snapshot: Snapshot,
  around: Around,
  status: DatabaseStatus | undefined,
): CutOff | undefined {
  const { cluster, agentHosts, options } = snapshot;
  const wish = cluster.spec.networkPolicy ?? {};
  if (status === undefined || wish.despite?.includes("ConnectedClients") === true) return undefined;
  const versions = status.cluster?.clients?.supported_versions;
  if (versions === undefined) {
    const message = "The status does not tell which clients are connected";
    const remedy = "Nothing, when it passes by itself; otherwise look at the database.";
    return { message, remedy, isForDatabase: true };
  }
  const named = [...(wish.clients ?? []), ...(wish.peers ?? [])];
  const operators = operatorPeers(cluster, options.operatorNamespace) ?? [];
  const processHosts = new Set(processesOf(status).map(({ address = "" }) => hostOf(address)));
  const left = versions
    .flatMap(({ max_protocol_clients: listed = [] }) => listed)
    .filter(({ address, log_group: logGroup }) => {
      const host = hostOf(address);
      // Tools inside the pods, and what was judged as a part of the database.
      if (around.own.has(host) || processHosts.has(host) || agentHosts?.has(host) === true) {
        return false;
      }
      const peers: readonly NetworkPolicyPeer[] =
        logGroup === operatorLogGroup ? [...operators, ...named] : named;
      const caller = { host, pod: around.seen.get(host) };
      return admission(peers, caller, around.namespace) === "no";
    })
    .map(({ address }) => hostOf(address));
  const hosts = [...new Set(left)].sort();
  if (hosts.length === 0) return undefined;
  return {
    message: `${counted(hosts.length, "client")} connected from addresses that nothing in the spec could mean: ${nameList(hosts)}`,
    remedy:
      "Name them in spec.networkPolicy.clients or stop them; or accept it: add ConnectedClients to spec.networkPolicy.despite.",
    isForDatabase: true,
  };
}
