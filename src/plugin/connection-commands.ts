// `kubectl fdb fix-coordinator-ips` and `kubectl fdb update connection-string`: for a database whose coordinators cannot be
// found any more. Rules: spec/plugin.md [PL70]-[PL72].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import type { Stored } from "../kube/resource.ts";
import { formatConnectionString, parseConnectionString } from "../model/connection-string.ts";
import { mustNotServe, seenOf, storeConnectionString, tellPods } from "./connection-change.ts";
import { movedCoordinators } from "./coordinator-addresses.ts";
import { showDifference } from "./difference.ts";
import type { WriteFlags } from "./flags.ts";
import { confirm, confirmByName } from "./prompt.ts";
import { podsOf, readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface ConnectionFlagsOf extends WriteFlags {
  fdbCluster: string;
  confirm?: string;
}

export async function runFixCoordinators(
  session: Session,
  flags: ConnectionFlagsOf,
): Promise<void> {
  const cluster = await readCluster(session, flags.fdbCluster);
  const moved = movedCoordinators(cluster, await podsOf(session, cluster));
  if (!moved.ok) throw new CommandError(`${flags.fdbCluster}: ${moved.error}`);
  const { connectionString, moves, unknown } = moved.value;
  if (unknown.length > 0) {
    session.out.note(`no process group has been at ${unknown.join(", ")}: it stays as it is\n`);
  }
  if (moves.length === 0 && unknown.length > 0) {
    throw new CommandError(
      `where ${unknown.join(", ")} ${unknown.length === 1 ? "is" : "are"} now cannot be told: name the coordinators with update connection-string; nothing was changed`,
    );
  }
  if (moves.length === 0 && (await isServing(session, cluster))) {
    session.out.write(
      `Every coordinator of ${flags.fdbCluster} is where the connection string says.\n`,
    );
    return;
  }
  for (const { from, to, id } of moves) session.out.note(`${id}: ${from} is now ${to}\n`);
  await replace(session, flags, cluster, connectionString);
}

export async function runUpdateConnection(
  session: Session,
  flags: ConnectionFlagsOf,
  given: string,
): Promise<void> {
  const wanted = parseConnectionString(given);
  if (!wanted.ok) throw new UsageError(wanted.error);
  if (!/^[\w.:@,[\]()-]+$/.test(given.trim())) {
    throw new UsageError(`"${given}" holds a character that no address has`);
  }
  const cluster = await readCluster(session, flags.fdbCluster);
  const connectionString = formatConnectionString(wanted.value);
  const before = cluster.status?.connectionString ?? "";
  if (new Set(wanted.value.coordinators).size < wanted.value.coordinators.length) {
    throw new UsageError(`"${given}" names a coordinator twice`);
  }
  if (before === connectionString && (await isServing(session, cluster))) {
    session.out.write(`${flags.fdbCluster} has this connection string already.\n`);
    return;
  }
  const known = parseConnectionString(before);
  const isOther = known.ok && known.value.description !== wanted.value.description;
  if (known.ok && isOther) {
    session.out.note(
      `The description was ${known.value.description} and becomes ${wanted.value.description}: is it another database?\n`,
    );
  }
  await replace(session, flags, cluster, connectionString, isOther);
}

/** A run that ended half-way left pods that were not told: while the database does not serve they are told again. */
async function isServing(session: Session, cluster: Stored<FoundationDBCluster>): Promise<boolean> {
  const { isServing: serves } = await seenOf(session, cluster);
  return serves;
}

async function replace(
  session: Session,
  flags: ConnectionFlagsOf,
  cluster: Stored<FoundationDBCluster>,
  connectionString: string,
  isOtherDatabase = false,
): Promise<void> {
  const { out, namespace } = session;
  const name = cluster.metadata.name ?? "";
  const place = `${namespace}/${name}`;
  const remedy = "change coordinators through the operator, which keeps the data safe";
  const { hasQuorum, words } = await mustNotServe(session, cluster, remedy);
  const before = cluster.status?.connectionString ?? "";
  showDifference(
    session,
    `${place} status, ConfigMap and every pod`,
    { connectionString: before },
    { connectionString },
  );
  out.note(`As seen: ${words}. Every fdbserver of the cluster is restarted. No data is changed.\n`);
  if (hasQuorum === false && !isOtherDatabase) {
    await confirm(session, `Replace the connection string of ${place}`, flags);
  } else {
    // The database may be well, or come back by itself: that is not for a quick yes.
    await confirmByName(session, `Replace the connection string of ${place}.`, name, {
      dryRun: flags.dryRun === true,
      ...(flags.confirm === undefined ? {} : { name: flags.confirm }),
      flag: "--confirm",
    });
  }
  if (flags.dryRun === true) {
    out.write(`${place} would get the connection string ${connectionString}\n`);
    return;
  }
  await storeConnectionString(session, name, before, connectionString);
  out.write(`${place}: status and ConfigMap have the connection string ${connectionString}\n`);
  const { told, failed } = await tellPods(session, cluster, connectionString);
  out.write(`${told.length} pods restart with it.\n`);
  if (failed.length > 0) {
    throw new CommandError(
      `these pods could not be told, and take it from the ConfigMap when they restart: ${failed.join("; ")}`,
    );
  }
}
