// Coordinators that the connection string names by addresses, and that came back under others: their state is on their
// volumes, but no process finds them, so the database stays away until a person tells all processes the new addresses.
// Rules: spec/restart.md [T80]-[T82].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { formatAddress, hostOf, isIpAddress, parseAddress } from "../../model/address.ts";
import { formatConnectionString, parseConnectionString } from "../../model/connection-string.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { isPodReady } from "../safety/view.ts";
import { volumeProblem } from "../safety/volumes.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import { viewOf } from "../view/cluster-view.ts";

interface Move {
  from: string;
  to: string;
  processGroupId: string;
}

/** Says so when a majority of the coordinators moved, which nothing but the new addresses can heal. */
export function movedCoordinators(snapshot: Snapshot, draft: Draft): NewWait[] {
  if (draft.status.configured !== true || hasCoordinators(snapshot)) return [];
  const connection = parseConnectionString(draft.status.connectionString ?? "");
  if (!connection.ok) return [];
  const { coordinators } = connection.value;
  const moves = new Map<string, Move>();
  for (const coordinator of coordinators) {
    const move = moveOf(snapshot, draft, coordinator);
    if (move !== undefined) moves.set(coordinator, move);
  }
  if (moves.size <= coordinators.length / 2) return [];
  const next = coordinators.map((coordinator) => moves.get(coordinator)?.to ?? coordinator);
  const text = formatConnectionString({ ...connection.value, coordinators: next });
  return [waitOf(snapshot, [...moves.values()], coordinators.length, text)];
}

/** The first status of a connection, and one that is missing, say nothing about who answers. */
function hasCoordinators(snapshot: Snapshot): boolean {
  const client = databaseStatus(snapshot)?.client;
  return client?.coordinators?.quorum_reachable === true;
}

/** The process group that had the address, whose pod runs under another one on the same volume. */
function moveOf(snapshot: Snapshot, draft: Draft, coordinator: string): Move | undefined {
  const address = parseAddress(coordinator);
  if (!address.ok || !isIpAddress(address.value)) return undefined;
  const { host } = address.value;
  const owners = draft.groups.filter(({ addresses = [] }) =>
    addresses.some((a) => hostOf(a) === host),
  );
  const [owner] = owners;
  // An address that somebody has, or that two had, proves nothing.
  if (owner === undefined || owners.length > 1 || isInUse(snapshot, host)) return undefined;
  const to = currentHost(snapshot, owner);
  if (to === undefined) return undefined;
  return {
    from: coordinator,
    to: formatAddress({ ...address.value, host: to }),
    processGroupId: owner.processGroupID,
  };
}

function isInUse(snapshot: Snapshot, host: string): boolean {
  return [...snapshot.pods.values()].some((pod) =>
    shapeOfPod(snapshot, pod).publicIps.some((ip) => hostOf(ip) === host),
  );
}

function currentHost(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined || !isPodReady(pod)) return undefined;
  if (volumeProblem(snapshot, group) !== undefined) return undefined;
  return shapeOfPod(snapshot, pod).publicIps[0];
}

function waitOf(
  { cluster }: Snapshot,
  moves: readonly Move[],
  count: number,
  connectionString: string,
): NewWait {
  const { name = "", namespace = "" } = cluster.metadata;
  const kubectl = `kubectl -n ${namespace}`;
  const patch = JSON.stringify({ status: { connectionString } });
  const texts = moves.map(
    ({ from, to, processGroupId }) => `${from} is ${to} now (${processGroupId})`,
  );
  return {
    step: "changeCoordinators",
    reason: "CoordinatorsMoved",
    message:
      `${moves.length} of ${count} coordinators are named by addresses that no pod has any more: ${nameList(texts)}. ` +
      "What they know is on their volumes, but no process finds them there, so the database does not come back by itself",
    retryAfterMs: 15_000,
    remedy:
      `1. ${kubectl} patch fdb ${name} --subresource=status --type=merge -p '${patch}' ` +
      `2. In every pod of the database: ${kubectl} exec POD -c foundationdb -- bash -c ` +
      `'echo ${connectionString} > /var/fdb/data/fdb.cluster && pkill fdbserver' ` +
      "It does not happen while coordinators are known by names (routing.useDNSInClusterFile), which wait for a change of the IP family to end.",
    isForDatabase: true,
  };
}
