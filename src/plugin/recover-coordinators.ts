// `kubectl fdb recover-coordinators`: brings a database of one region back after the majority of its coordinators is lost for good,
// with the state of one that is left. It can take back what happened since that one was last told something, so it wants proof
// that the others are stopped, and two consents. Rules: spec/plugin.md [PL77]-[PL79], [PL85], [PL86].
import { isAvailable } from "../model/availability.ts";
import { foundationDbBackups } from "../api/backup.ts";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { isGlobalMode } from "../api/effective.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import { nodes, persistentVolumeClaims, persistentVolumes } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { parseConnectionString } from "../model/connection-string.ts";
import { changeCluster } from "./change-cluster.ts";
import { mustNotServe, storeConnectionString, tellPods } from "./connection-change.ts";
import {
  candidatesOf,
  chooseCoordinators,
  livingCoordinators,
  publicAddressOf,
  withCoordinators,
} from "./coordinator-addresses.ts";
import type { Candidate } from "./coordinator-addresses.ts";
import { copyState, heldOff, statePlaces, untilStatus } from "./coordination-state.ts";
import type { StatePlace } from "./coordination-state.ts";
import { findMembers, memberName } from "./failover/members.ts";
import type { WriteFlags } from "./flags.ts";
import { isRunning, podName } from "./pod-commands.ts";
import { confirmByName, confirmLoss } from "./prompt.ts";
import { commandErrorOf } from "./read-named.ts";
import { podsOf, readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";
import { doubtOf } from "./stopped-coordinators.ts";
import type { Surroundings } from "./stopped-coordinators.ts";

export interface RecoverCoordinatorsFlags extends WriteFlags {
  confirm?: string;
  acceptLoss?: boolean;
  from?: string;
}

interface Way {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly source: StatePlace;
  /** Pods of coordinators that are left with their state. */
  readonly survivors: readonly string[];
  readonly lost: readonly string[];
  /** Whether it is known that no volume of the lost ones outlived its claim. */
  readonly areVolumesSeen: boolean;
  readonly chosen: readonly Candidate[];
  readonly connectionString: string;
}

export async function runRecoverCoordinators(
  session: Session,
  flags: RecoverCoordinatorsFlags,
  name: string,
): Promise<void> {
  const { out, namespace } = session;
  const way = await findWay(session, flags, name);
  const { cluster, source, chosen, connectionString } = way;
  const place = `${namespace}/${name}`;
  const copied = chosen.map(({ pod }) => pod).filter((pod) => pod !== source.pod);
  const steps = [
    `spec.skip of ${name} becomes true, so that its operator does nothing meanwhile`,
    `the coordination state of ${source.pod} is copied to ${copied.join(", ")}`,
    `the connection string becomes ${connectionString}, and every fdbserver of ${name} is restarted`,
    "when the database serves, spec.skip becomes false",
  ];
  out.note(`${steps.map((step, index) => `${index + 1}. ${step}`).join("\n")}\n`);
  out.note(`${(await lossOf(session, way)).join("\n")}\n`);
  if (flags.dryRun === true) {
    out.write(`${place} would get the connection string ${connectionString}\n`);
    return;
  }
  const { confirm: given, acceptLoss = false } = flags;
  const named = { ...(given === undefined ? {} : { name: given }), flag: "--confirm" };
  await confirmByName(session, "This cannot be taken back.", name, named);
  await confirmLoss(session, acceptLoss);
  const change = (next: (spec: ClusterSpec) => ClusterSpec) =>
    changeCluster(session, { name, text: "", change: ({ spec }) => next(spec) }, { yes: true });
  await change((spec) => ({ ...spec, skip: true }));
  out.write(`${place}: the operator is held off (spec.skip)\n`);
  // Somebody may have come back while the question was open, or a pod that was chosen may be another one now.
  try {
    mustBeAgreed(way, await findWay(session, { ...flags, from: source.pod }, name));
  } catch (error) {
    await change((spec) => ({ ...spec, skip: cluster.spec.skip ?? false }));
    throw error;
  }
  const before = cluster.status?.connectionString ?? "";
  let goOn = `run the command again, or set it to false (connection string ${before})`;
  const after = await heldOff(
    session,
    name,
    () => goOn,
    async () => {
      for (const pod of copied) {
        await copyState(session, source, pod);
        out.write(`${pod}: has the coordination state of ${source.pod}\n`);
      }
      goOn = `kubectl fdb update connection-string -c ${name} ${connectionString} goes on; when the database serves (kubectl fdb status ${name}), set it to false`;
      await storeConnectionString(session, name, before, connectionString);
      const { told, failed } = await tellPods(session, cluster, connectionString);
      out.write(`${told.length} pods restart with the connection string ${connectionString}\n`);
      for (const each of failed) out.note(`could not be told: ${each}\n`);
      const status = await untilStatus(
        session,
        cluster,
        isAvailable,
        "the database does not serve",
      );
      await change((spec) => ({ ...spec, skip: false }));
      return status;
    },
  );
  const generation = after?.cluster?.generation;
  out.write(
    `${place} serves again${generation === undefined ? "" : `, generation ${generation}`}.\n` +
      "Compare what your applications wrote last: see above for what may be gone.\n",
  );
}

/** Only what a person has read and agreed to is done. */
function mustBeAgreed(agreed: Way, now: Way): void {
  const textOf = ({ cluster, survivors, source, lost, chosen, connectionString }: Way): string =>
    JSON.stringify([
      ...[survivors, source, lost, chosen, connectionString],
      cluster.status?.connectionString,
    ]);
  if (textOf(agreed) === textOf(now)) return;
  const back = now.survivors.filter((pod) => !agreed.survivors.includes(pod));
  const why =
    back.length === 0
      ? `coordinators or pods are not what they were when you agreed (${now.connectionString} would be next)`
      : `${back.join(", ")} came back meanwhile and may know more than ${agreed.source.pod}`;
  throw refused(`${why}; look again`);
}

/** What may be gone, as far as anybody can tell. */
async function lossOf({ client, namespace }: Session, way: Way): Promise<string[]> {
  const { cluster, source, lost, areVolumesSeen } = way;
  const listed = await client
    .listAll(foundationDbBackups, { namespace })
    .catch((error: unknown) => {
      // A person without backups, or without a right to see them, is not kept from the way back.
      if (!isKubeError(error)) throw error;
      return error;
    });
  const items = isKubeError(listed) ? [] : listed.items;
  const backups = items.flatMap(({ metadata, spec, status }) => {
    const { version, time } = status?.restorable?.to ?? {};
    if (spec.clusterName !== cluster.metadata.name || version === undefined) return [];
    return [
      `The backup ${metadata.name ?? ""} has everything up to version ${version}${time === undefined ? "" : ` of ${time}`}: what it has is not lost.`,
    ];
  });
  return [
    `MAY BE LOST: every version since the last recovery of which ${source.pod} was told. Where it took part in the last one, nothing is; where it was away then, everything that was committed after that recovery.`,
    ...(backups.length === 0
      ? [
          isKubeError(listed)
            ? `Whether a backup of this cluster can be restored is not known: ${listed.message}`
            : "No backup of this cluster tells a version that can be restored.",
        ]
      : backups),
    ...(areVolumesSeen
      ? []
      : [
          "Whether volumes of lost coordinators outlived their claims is not known, since you may not list PersistentVolumes. One that is Released can be bound again (kubectl fdb volumes rebind): have somebody look before you go on.",
        ]),
    `${areVolumesSeen ? "Lost for good are" : "Given up are"} the coordinators ${lost.join(", ")}. None of them may come back with its data: it would be a second database of the same name.`,
  ];
}

function refused(why: string): CommandError {
  return new CommandError(`${why}; nothing was changed`);
}

/** Everything that is looked at before something is done. */
async function findWay(
  session: Session,
  { from }: RecoverCoordinatorsFlags,
  name: string,
): Promise<Way> {
  const cluster = await readCluster(session, name);
  const { databaseConfiguration = {} } = cluster.spec;
  if ((databaseConfiguration.usable_regions ?? 1) > 1) {
    throw refused(`${name} has several regions; see kubectl fdb recover-multi-region-cluster`);
  }
  if (isGlobalMode(cluster.spec)) {
    throw refused(`several resources look after the database of ${name}`);
  }
  const known = parseConnectionString(cluster.status?.connectionString ?? "");
  if (!known.ok) throw refused(`status.connectionString of ${name}: ${known.error}`);
  const other = (
    await findMembers([{ session, context: undefined }], cluster.status?.connectionString ?? "")
  ).find((member) => member.cluster.metadata.uid !== cluster.metadata.uid);
  if (other !== undefined) {
    throw refused(`${memberName(other)} has processes of the database of ${name}, too`);
  }
  const seen = await mustNotServe(session, cluster, "there is nothing to recover");
  if (seen.hasQuorum === undefined) throw refused(seen.words);
  if (seen.hasQuorum) {
    throw refused(
      `a majority of the coordinators of ${name} answers: the database may come back by itself (kubectl fdb explain ${name})`,
    );
  }
  const pods = await podsOf(session, cluster);
  const running = pods.filter(isRunning);
  const { coordinators } = known.value;
  const living = livingCoordinators(cluster, coordinators, running);
  const lost = coordinators.filter(
    (coordinator) => livingCoordinators(cluster, [coordinator], running).length === 0,
  );
  if (lost.length * 2 < coordinators.length) {
    throw refused(
      `the pods of ${coordinators.length - lost.length} of ${coordinators.length} coordinators run, which is a majority: find out why they do not answer (kubectl fdb explain ${name})`,
    );
  }
  const around = await surroundingsOf(session, cluster, pods);
  const doubt = doubtOf(around, lost);
  if (doubt !== undefined) {
    throw refused(`it is not proved that the others are stopped: ${doubt}`);
  }
  const survivors = await statePlaces(session, living);
  const source = sourceOf(survivors, from);
  // State of another coordinator beside it might be an older or a newer one: there is one source.
  const others = survivors.map(({ pod }) => pod).filter((pod) => pod !== source.pod);
  const candidates = candidatesOf(cluster, running).filter(({ pod }) => !others.includes(pod));
  const chosen = chooseCoordinators(cluster, candidates, [source.pod]);
  if (!chosen.some(({ pod }) => pod === source.pod) || chosen.length < 2) {
    const address = publicAddressOf(running.find((pod) => podName(pod) === source.pod)) ?? "";
    throw refused(
      `too few pods run that could become coordinators beside ${source.pod} ${address}`,
    );
  }
  const connectionString = withCoordinators(known.value, chosen, [source]);
  const names = survivors.map(({ pod }) => pod);
  const areVolumesSeen = around.volumes !== undefined;
  return { cluster, source, survivors: names, lost, areVolumesSeen, chosen, connectionString };
}

function sourceOf(survivors: readonly StatePlace[], from: string | undefined): StatePlace {
  const [first, second] = survivors;
  const names = survivors.map(({ pod }) => pod).join(", ");
  if (first === undefined) {
    throw refused("no coordinator of the database is left with its state: restore a backup");
  }
  if (from !== undefined) {
    const named = survivors.find(({ pod }) => pod === from);
    if (named === undefined) throw refused(`${from} is no coordinator that is left (${names})`);
    return named;
  }
  if (second === undefined) return first;
  throw refused(
    `several coordinators are left (${names}), and one may know more than another: name the one that ran when the database served last with --from`,
  );
}

/** Undefined when a person may not look at them. */
async function volumesOf({ client }: Pick<Session, "client">): Promise<Surroundings["volumes"]> {
  try {
    return (await client.listAll(persistentVolumes, {})).items;
  } catch (error) {
    if (isKubeError(error, "Forbidden")) return undefined;
    throw error;
  }
}

async function surroundingsOf(
  { client, namespace, server }: Session,
  cluster: Stored<FoundationDBCluster>,
  pods: Awaited<ReturnType<typeof podsOf>>,
): Promise<Surroundings> {
  try {
    const claims = (await client.listAll(persistentVolumeClaims, { namespace })).items;
    return {
      ...{ cluster, pods, nodes: (await client.listAll(nodes, {})).items },
      volumes: await volumesOf({ client }),
      claims: new Map(claims.map((claim) => [claim.metadata.name ?? "", claim])),
    };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    throw commandErrorOf(error, server);
  }
}
