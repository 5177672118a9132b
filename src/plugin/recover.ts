// `kubectl fdb recover-multi-region-cluster`: makes a database serve again from one region after the others, and with them the
// majority of the coordinators, are lost for good. Rules: spec/plugin.md [PL73]-[PL76].
import { isAvailable } from "../model/availability.ts";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { CommandError } from "../env/command-error.ts";
import type { Stored } from "../kube/resource.ts";
import { parseConnectionString } from "../model/connection-string.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { changeCluster } from "./change-cluster.ts";
import { mustNotServe, storeConnectionString, tellPods } from "./connection-change.ts";
import {
  candidatesOf,
  chooseCoordinators,
  livingCoordinators,
  withCoordinators,
} from "./coordinator-addresses.ts";
import { copyState, heldOff, statePlaces, untilStatus } from "./coordination-state.ts";
import type { StatePlace } from "./coordination-state.ts";
import type { Candidate } from "./coordinator-addresses.ts";
import type { WriteFlags } from "./flags.ts";
import { clusterFile, runIn, runningPods } from "./pod-commands.ts";
import { confirmByName } from "./prompt.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface RecoverFlags extends WriteFlags {
  confirm?: string;
}

/** A database that cannot recover may tell no status, although its coordinators answer. */
const silenceMs = 60_000;

type Change = (next: (spec: ClusterSpec) => ClusterSpec) => Promise<unknown>;

interface Way {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly dataCenter: string;
  /** A coordinator that lives. */
  readonly source: StatePlace;
  readonly survivors: readonly string[];
  readonly chosen: readonly Candidate[];
  readonly connectionString: string;
}

export async function runRecover(
  session: Session,
  flags: RecoverFlags,
  name: string,
): Promise<void> {
  const { out, namespace } = session;
  const way = await findWay(session, name);
  const { cluster, dataCenter, chosen, connectionString, source } = way;
  const place = `${namespace}/${name}`;
  out.note(
    `${stepsOf(way)
      .map((step, index) => `${index + 1}. ${step}`)
      .join("\n")}\n`,
  );
  out.note(`${lossOf(dataCenter).join("\n")}\n`);
  if (flags.dryRun === true) {
    out.write(
      `${place} would be recovered from ${dataCenter} with the connection string ${connectionString}\n`,
    );
    return;
  }
  await confirmByName(session, "This cannot be taken back.", name, {
    ...(flags.confirm === undefined ? {} : { name: flags.confirm }),
    flag: "--confirm",
  });
  const yes = { yes: true };
  const change: Change = (next) =>
    changeCluster(session, { name, text: "", change: ({ spec }) => next(spec) }, yes);
  await holdOffAsAgreed(session, way, change);
  await change((spec) => oneRegionOf(spec, dataCenter));
  out.write(`${place}: one region is left in the spec\n`);
  const after = await heldOff(
    session,
    name,
    () => "run the command again, which goes on from here",
    async () => {
      for (const { pod } of chosen) {
        if (way.survivors.includes(pod)) continue;
        await copyState(session, source, pod);
        out.write(`${pod}: has the coordination state of ${source.pod}\n`);
      }
      const before = cluster.status?.connectionString ?? "";
      await storeConnectionString(session, name, before, connectionString);
      const { told, failed } = await tellPods(session, cluster, connectionString);
      out.write(`${told.length} pods restart with the connection string ${connectionString}\n`);
      for (const each of failed) out.note(`could not be told: ${each}\n`);
      const coordinated = await untilStatus(
        session,
        cluster,
        (status) => status.client?.coordinators?.quorum_reachable === true,
        "the coordinators do not answer",
        silenceMs,
      );
      if (coordinated === undefined) out.note("fdbcli gets no status at the moment.\n");
      else out.write("A majority of the coordinators answers.\n");
      await forceRecovery(session, source.pod, dataCenter);
      const served = await untilStatus(
        session,
        cluster,
        isAvailable,
        "the database does not serve",
      );
      await change((spec) => ({ ...spec, skip: false }));
      return served;
    },
  );
  out.write(`${servingText(place, dataCenter, after)}\n`);
}

function stepsOf({
  cluster,
  dataCenter,
  source,
  survivors,
  chosen,
  connectionString,
}: Way): string[] {
  const name = cluster.metadata.name ?? "";
  const copied = chosen.filter(({ pod }) => !survivors.includes(pod)).map(({ pod }) => pod);
  return [
    `spec.skip of ${name} becomes true, so that its operator does nothing meanwhile`,
    `spec.databaseConfiguration becomes one region, ${dataCenter}; spec.seedConnectionString is taken out`,
    copied.length === 0
      ? "no coordination state has to be copied"
      : `the coordination state of ${source.pod} is copied to ${copied.join(", ")}`,
    `the connection string becomes ${connectionString}, and every fdbserver of ${name} is restarted`,
    `force_recovery_with_data_loss ${dataCenter}`,
    "spec.skip becomes false",
  ];
}

export function lossOf(dataCenter: string): string[] {
  return [
    `LOST FOR GOOD: every transaction that was committed and had not reached ${dataCenter} yet, the last seconds before the others went down as a rule.`,
    "No process of another region may run any more, and none may come back with its data: it would be a second database of the same name.",
  ];
}

async function forceRecovery(session: Session, pod: string, dataCenter: string): Promise<void> {
  const force = `force_recovery_with_data_loss ${dataCenter}`;
  const command = ["fdbcli", "-C", clusterFile, "--timeout", "40", "--exec", force];
  const { exitCode, stdout, stderr } = await runIn(session, pod, command);
  // Whether the database serves in the end is what counts: the tool gives up before a slow recovery does.
  if (exitCode !== 0) session.out.note(`fdbcli: ${(stderr || stdout).trim()}\n`);
}

/** Somebody may have come back while the question was open, or a pod that was chosen may be another one now. */
async function holdOffAsAgreed(session: Session, way: Way, change: Change): Promise<void> {
  const { metadata, spec: before } = way.cluster;
  const name = metadata.name ?? "";
  await change((spec) => ({ ...spec, skip: true }));
  session.out.write(`${session.namespace}/${name}: the operator is held off (spec.skip)\n`);
  try {
    mustBeAgreed(way, await findWay(session, name, before.skip === true));
  } catch (error) {
    await change((spec) => ({ ...spec, skip: before.skip ?? false }));
    throw error;
  }
}

/** Only what a person has read and agreed to is done. */
function mustBeAgreed(agreed: Way, now: Way): void {
  const textOf = ({ cluster: { spec, status }, ...rest }: Way): string =>
    JSON.stringify([rest, status?.connectionString, { ...spec, skip: true }]);
  if (textOf(agreed) === textOf(now)) return;
  const back = now.survivors.filter((pod) => !agreed.survivors.includes(pod));
  const why =
    back.length === 0
      ? `coordinators, pods or the spec are not what they were when you agreed (${now.connectionString} would be next)`
      : `${back.join(", ")} came back meanwhile and may know more than ${agreed.source.pod}`;
  throw new CommandError(`${why}; look again; nothing was changed`);
}

/** Everything that is looked at before something is done. One that ended half-way left the operator held off. */
async function findWay(session: Session, name: string, isGoingOn?: boolean): Promise<Way> {
  const cluster = await readCluster(session, name);
  const { dataCenter, skip } = cluster.spec;
  const refuse = (why: string): CommandError => new CommandError(`${why}; nothing was changed`);
  if (dataCenter === undefined || dataCenter === "") {
    throw refuse(`spec.dataCenter of ${name} is empty, so that no region can be named`);
  }
  const known = parseConnectionString(cluster.status?.connectionString ?? "");
  if (!known.ok) throw refuse(`status.connectionString of ${name}: ${known.error}`);
  const seen = await mustNotServe(session, cluster, "there is nothing to recover");
  if (seen.hasQuorum === undefined) throw refuse(seen.words);
  if (seen.hasQuorum && !(isGoingOn ?? skip === true)) {
    throw refuse(
      `a majority of the coordinators of ${name} answers: the database may come back by itself (kubectl fdb explain ${name})`,
    );
  }
  const running = await runningPods(session, cluster);
  const found = await statePlaces(
    session,
    livingCoordinators(cluster, known.value.coordinators, running),
  );
  const [source] = found;
  if (source === undefined) {
    throw refuse(
      `no coordinator of the database runs in ${name}: its state is lost here, restore a backup`,
    );
  }
  const survivors = found.map(({ pod }) => pod);
  const chosen = chooseCoordinators(cluster, candidatesOf(cluster, running), survivors);
  const connectionString = withCoordinators(known.value, chosen, found);
  return { cluster, dataCenter, source, survivors, chosen, connectionString };
}

/** What is left of the configuration when one datacenter is. */
export function oneRegionOf(spec: ClusterSpec, dataCenter: string): ClusterSpec {
  const { seedConnectionString: _seed, ...rest } = spec;
  return {
    ...rest,
    databaseConfiguration: {
      ...spec.databaseConfiguration,
      usable_regions: 1,
      regions: [{ datacenters: [{ id: dataCenter, priority: 1 }] }],
    },
  };
}

function servingText(
  place: string,
  dataCenter: string,
  status: DatabaseStatus | undefined,
): string {
  const cluster = status?.cluster;
  const generation = cluster?.generation === undefined ? "" : `, generation ${cluster.generation}`;
  return [
    `${place} serves from ${dataCenter}${generation}.`,
    `Lost is what was committed and had not reached ${dataCenter}. Applications have to be told; a backup has it if it was written before.`,
    "Delete what is left of the other regions, volumes included, before their nodes come back.",
  ].join("\n");
}
