// The simulated database behind the seam that the operator uses: commands with the checks, texts,
// delays and time limits of the real tools. [FDB4] [FDB22] [FDB25] [FDB33]
import type {
  AdminClient,
  AdminClientFactory,
  AdminClientOptions,
  FdbTransaction,
} from "../../fdb/admin.ts";
import { FdbError, fdbCommandFailed } from "../../fdb/error.ts";
import { openConnection } from "./client-connection.ts";
import type { ClientConnection, ClientIdentity } from "./client-connection.ts";
import { parseConfigure } from "./configuration.ts";
import { configureUsage, refuseConfiguration } from "./configuration-check.ts";
import { isAcceptingCommits, nextChange } from "./database.ts";
import type { Database } from "./database.ts";
import { withDeadline } from "./deadline.ts";
import type { Deadline } from "./deadline.ts";
import { exclusionSets, exclusionsInProgress, parseExclusionTarget } from "./exclusion.ts";
import type { ExclusionTarget } from "./exclusion.ts";
import type { Fabric } from "./fabric.ts";
import {
  addExclusions,
  areReachable,
  createConfigured,
  isSameSet,
  moveCoordinators,
  reconfigure,
  refuseCoordinators,
  removeExclusions,
  setMaintenance,
  untilCoordinatorsAnswer,
} from "./management.ts";
import { formatConnectionString, parseNetworkAddress } from "./network-address.ts";
import { shardReader } from "./shard-reader.ts";

export function createAdminFactory(
  fabric: Fabric,
  supportedVersions: readonly string[] | undefined,
): AdminClientFactory {
  return {
    open: (options) => createAdminClient(fabric, options),
    isVersionSupported: (version) => supportedVersions?.includes(version) ?? true,
    installedVersions: () => supportedVersions ?? [],
  };
}

export function createAdminClient(
  fabric: Fabric,
  options: AdminClientOptions,
  identity?: ClientIdentity,
): AdminClient {
  const connection = openConnection(fabric, options, identity);
  const limited = <T>(timeoutMs: number, run: (deadline: Deadline) => Promise<T>): Promise<T> =>
    withDeadline(fabric.clock, timeoutMs, run);
  return {
    status: (timeoutMs) => limited(timeoutMs, (deadline) => connection.status(deadline)),
    configure: (text, timeoutMs) =>
      limited(timeoutMs, (deadline) => configure(fabric, connection, deadline, text)),
    exclude: (targets, { wait, timeoutMs }) =>
      limited(timeoutMs, (deadline) => exclude(fabric, connection, deadline, targets, wait)),
    include: (targets, timeoutMs) =>
      limited(timeoutMs, (deadline) => include(fabric, connection, deadline, targets)),
    excluded: (timeoutMs) =>
      limited(timeoutMs, async (deadline) => listExcluded(await connection.serving(deadline))),
    exclusionsInProgress: (timeoutMs) =>
      limited(timeoutMs, async (deadline) =>
        exclusionsInProgress(await connection.serving(deadline)),
      ),
    kill: (addresses, timeoutMs) =>
      limited(timeoutMs, (deadline) => kill(fabric, connection, deadline, addresses)),
    changeCoordinators: (addresses, timeoutMs) =>
      limited(timeoutMs, (deadline) => changeCoordinators(fabric, connection, deadline, addresses)),
    connectionString: (timeoutMs) =>
      limited(timeoutMs, (deadline) => connection.connectionString(deadline)),
    setMaintenanceZone: (zone, seconds, timeoutMs) =>
      limited(timeoutMs, async (deadline) =>
        setMaintenance(await connection.serving(deadline), zone, seconds),
      ),
    resetMaintenanceZone: (timeoutMs) =>
      limited(timeoutMs, async (deadline) =>
        setMaintenance(await connection.serving(deadline), undefined),
      ),
    transact: (body, transactionOptions) =>
      limited(transactionOptions.timeoutMs, async (deadline) => {
        const database = await connection.connect(deadline);
        const read = (transaction: FdbTransaction): FdbTransaction =>
          shardReader(database, transaction);
        return deadline.race(
          database.store.transact((transaction) => body(read(transaction)), transactionOptions),
        );
      }),
    close: () => connection.close(),
  };
}

function failed(text: string): FdbError {
  return new FdbError(fdbCommandFailed, text);
}

async function configure(
  fabric: Fabric,
  connection: ClientConnection,
  deadline: Deadline,
  text: string,
): Promise<void> {
  const request = parseConfigure(text);
  if (!request) throw failed(configureUsage);
  const database = request.isNew
    ? await connection.connect(deadline)
    : await connection.serving(deadline);
  await deadline.sleep(fabric.timings.commandMs);
  const next = { ...database.configuration, ...request.changes };
  const refusal = refuseConfiguration(database, request, next);
  if (refusal !== undefined) throw failed(refusal);
  if (request.isNew) {
    await deadline.sleep(fabric.timings.configureNewMs);
    if (database.isConfigured) throw failed(alreadyExists);
    createConfigured(database, next);
  } else {
    reconfigure(database, next);
  }
  // A mode that the processes cannot satisfy is committed all the same; only the answer never
  // comes.
  await untilAccepting(database, deadline);
}

const alreadyExists = "ERROR: Database already exists! To change configuration, don't say `new'";

async function untilAccepting(database: Database, deadline: Deadline): Promise<void> {
  while (!isAcceptingCommits(database)) await deadline.race(nextChange(database));
}

function parseTargets(targets: readonly string[]): ExclusionTarget[] {
  return targets.map((text) => {
    const target = parseExclusionTarget(text);
    if (target) return target;
    const hint = text.endsWith(":tls")
      ? "\n        Do not include the `:tls' suffix when naming a process"
      : "";
    throw failed(
      `ERROR: '${text}' is neither a valid network endpoint address nor a locality${hint}`,
    );
  });
}

async function exclude(
  fabric: Fabric,
  connection: ClientConnection,
  deadline: Deadline,
  texts: readonly string[],
  wait: boolean,
): Promise<void> {
  if (texts.length === 0) {
    throw failed(
      "ERROR: At least one valid network endpoint address or a locality must be provided",
    );
  }
  const targets = parseTargets(texts);
  const database = await connection.serving(deadline);
  await deadline.sleep(fabric.timings.commandMs);
  addExclusions(database, targets);
  if (!targets.some((target) => isMatched(database, target))) await deadline.sleep(2_000);
  if (!wait) return;
  const sets = exclusionSets(targets);
  while (exclusionsInProgress(database, sets).length > 0) {
    await deadline.race(nextChange(database));
    await deadline.sleep(500);
  }
}

function isMatched(database: Database, target: ExclusionTarget): boolean {
  if (target.kind === "locality") return true;
  return [...database.workers.values()].some(
    (worker) => worker.ip === target.text || worker.endpoint === target.text,
  );
}

async function include(
  fabric: Fabric,
  connection: ClientConnection,
  deadline: Deadline,
  texts: readonly string[],
): Promise<void> {
  const isAll = texts.length === 1 && texts[0] === "all";
  const targets = isAll ? [] : parseTargets(texts);
  const database = await connection.serving(deadline);
  await deadline.sleep(fabric.timings.commandMs);
  removeExclusions(database, isAll ? listExcluded(database) : targets.map(({ text }) => text));
}

function listExcluded(database: Database): string[] {
  return [
    ...[...database.excludedAddresses.keys()].toSorted(),
    ...[...database.excludedLocalities.keys()].toSorted(),
  ];
}

async function kill(
  fabric: Fabric,
  connection: ClientConnection,
  deadline: Deadline,
  addresses: readonly string[],
): Promise<void> {
  const database = await connection.connect(deadline);
  const workers = new Map(
    [...database.workers.values()].map((worker) => [worker.endpoint, worker]),
  );
  const chosen = addresses.map((address) => {
    const worker = workers.get(address);
    if (!worker) throw failed(`ERROR: process \`${address}' not recognized.`);
    return worker;
  });
  await deadline.sleep(fabric.timings.killRequestMs);
  for (const worker of chosen) worker.stop({ code: 0, message: "killed by a client's request" });
  await deadline.sleep(fabric.timings.killWaitMs);
}

async function changeCoordinators(
  fabric: Fabric,
  connection: ClientConnection,
  deadline: Deadline,
  texts: readonly string[],
): Promise<string> {
  const addresses = texts.map((text) => {
    const address = parseNetworkAddress(text);
    if (!address) throw failed(`ERROR: '${text}' is not a valid network endpoint address`);
    return address;
  });
  const database = await connection.serving(deadline);
  await deadline.sleep(fabric.timings.commandMs);
  const refusal = refuseCoordinators(addresses);
  if (refusal !== undefined) throw failed(refusal);
  await untilCoordinatorsAnswer(database, (delayMs) => deadline.sleep(delayMs));
  if (addresses.length === 0 || isSameSet(database, addresses)) return connection.text();
  if (!areReachable(database, addresses)) {
    await deadline.sleep(fabric.timings.unreachableCoordinatorMs);
    throw failed("ERROR: One of the specified coordinators is unreachable");
  }
  moveCoordinators(database, addresses);
  connection.follow(database.connection);
  await untilAccepting(database, deadline);
  return formatConnectionString(database.connection);
}
