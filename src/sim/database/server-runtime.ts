// Starts simulated fdbservers for the emulated kubelet: checks the command line, the files and the
// address as the real one does before it listens, and exits with a message when something is wrong.
// [FDB1] [FDB2] [FDB3] [FDB7] [FDB50] [CERT9]
import type {
  ProcessRuntime,
  ServerExit,
  ServerProcess,
  ServerProcessSpec,
} from "../../pod/process-runtime.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import { readCertificate } from "./simulated-certificate.ts";
import { dataFiles, readCopiedState } from "./data-files.ts";
import { localityTargets } from "./exclusion.ts";
import { isCut, openDisk, reachableAt } from "./fabric.ts";
import { loseVolume } from "./lost-volume.ts";
import type { Disk, Fabric } from "./fabric.ts";
import { allDatabasesRefreshQuorum, joinLater, joinSoon, leave, tryJoin } from "./membership.ts";
import {
  clusterFileText,
  endpoint,
  formatAddress,
  parseConnectionString,
} from "./network-address.ts";
import type { ConnectionString, NetworkAddress } from "./network-address.ts";
import { compareLines } from "./protocol.ts";
import { parseServerArguments } from "./server-arguments.ts";
import type { ServerArguments } from "./server-arguments.ts";
import type { ServerInstance } from "./server-instance.ts";

export function createServerRuntime(fabric: Fabric): ProcessRuntime {
  return {
    start: (spec) => startServer(fabric, spec),
    volumeRemoved: (volumeId) => loseVolume(fabric, volumeId),
    volumeFiles: (volumeId) => dataFiles(fabric, volumeId),
  };
}

function startServer(fabric: Fabric, spec: ServerProcessSpec): ServerProcess {
  const { promise, resolve } = Promise.withResolvers<ServerExit>();
  const parsed = parseServerArguments(spec.args);
  const prepared = "error" in parsed ? parsed.error : prepare(fabric, spec, parsed.arguments);
  if (typeof prepared === "string") {
    fabric.trace(`fdbserver ${spec.pod.name} refuses to start: ${prepared}`);
    fabric.clock.setTimer(50, () => resolve({ code: 1, message: prepared }));
    return { exited: promise, kill: () => {} };
  }
  const warnings = "error" in parsed ? [] : parsed.warnings;
  const instance = prepared(resolve);
  fabric.trace(`fdbserver ${instance.endpoint} starts in ${spec.pod.name}`);
  for (const address of reachableAt(instance.arguments)) {
    fabric.listening.set(endpoint(address), instance);
  }
  const delayMs = fabric.timings.registerMs + takeStartDelay(fabric, instance);
  fabric.clock.setTimer(delayMs, () => register(fabric, instance));
  if (instance.arguments.publicAddresses.some(({ useTls }) => useTls))
    reloadLater(fabric, instance);
  const kill = (): void => instance.stop({ code: 0, message: "killed" });
  return { exited: promise, kill, warnings };
}

/** As the real one does, half of a rotation leaves what was there before. */
function reloadLater(fabric: Fabric, instance: ServerInstance): void {
  const seconds = Number(instance.arguments.knobs["tls_cert_refresh_delay_seconds"] ?? NaN);
  const delayMs = seconds > 0 ? seconds * 1000 : fabric.timings.certificateRefreshMs;
  fabric.clock.setTimer(delayMs, () => {
    if (!instance.isRunning) return;
    const found = findCertificate(instance.spec, instance.arguments);
    if (typeof found === "object") instance.certificate = found;
    allDatabasesRefreshQuorum(fabric);
    reloadLater(fabric, instance);
  });
}

function takeStartDelay(fabric: Fabric, instance: ServerInstance): number {
  const key = fabric.startDelays.has(instance.endpoint) ? instance.endpoint : instance.ip;
  const delayMs = fabric.startDelays.get(key) ?? 0;
  fabric.startDelays.delete(key);
  return delayMs;
}

/** A listening process may be the coordinator that others were waiting for. */
function register(fabric: Fabric, instance: ServerInstance): void {
  if (!instance.isRunning) return;
  instance.disk.writtenBy = newer(instance.disk.writtenBy, instance.version);
  allDatabasesRefreshQuorum(fabric);
  if (!isCut(fabric, instance) && tryJoin(fabric, instance)) {
    if (fabric.unjoined.size > 0) joinSoon(fabric);
    return;
  }
  fabric.unjoined.add(instance);
  joinLater(fabric);
}

function newer(left: string, right: string): string {
  return compareLines(left, right) >= 0 ? left : right;
}

type Start = (resolve: (exit: ServerExit) => void) => ServerInstance;

/** The checks before a start: a message when one fails, else the way to make the instance. */
function prepare(fabric: Fabric, spec: ServerProcessSpec, args: ServerArguments): string | Start {
  for (const address of args.listenAddresses) {
    if (!spec.pod.ips.includes(address.host)) {
      return `Error initializing networking with listen address ${formatAddress(address)} (Local address in use or not available)`;
    }
  }
  for (const address of args.publicAddresses) {
    const other = fabric.listening.get(endpoint(address));
    if (other?.isRunning) {
      return `Error initializing networking with public address ${formatAddress(address)} (Address already in use)`;
    }
  }
  if (!spec.files.locate(args.logDirectory)) {
    return `ERROR: Could not open log directory \`${args.logDirectory}' for writing`;
  }
  const place = spec.files.locate(args.dataDirectory);
  if (!place) return `ERROR: Data directory \`${args.dataDirectory}' is not writable`;
  const connection = readClusterFile(spec, args);
  if (typeof connection === "string") return connection;
  const certificate = findCertificate(spec, args);
  const isWrong = typeof certificate === "string";
  if (isWrong && args.publicAddresses.some((address) => address.useTls)) return certificate;
  const arrival = fabric.arrivals.get(endpoint(args.publicAddresses[0] ?? noAddress));
  const disk = openDisk(fabric, place.volumeId, place.path, arrival?.disk);
  readCopiedState(fabric, disk);
  if (compareLines(disk.writtenBy, spec.version) > 0 && !canReadBack(disk, spec.version)) {
    return `ERROR: The data directory was last used by a newer, incompatible version (${disk.writtenBy})`;
  }
  return (resolve) =>
    createInstance(
      fabric,
      spec,
      args,
      disk,
      connection,
      isWrong ? undefined : certificate,
      resolve,
    );
}

/** One minor version back still reads the files. */
function canReadBack(disk: Disk, version: string): boolean {
  const [major = 0, minor = 0] = disk.writtenBy.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return major === ownMajor && minor - ownMinor <= 1;
}

/** The cluster file, taken from the seed on the first start. */
function readClusterFile(
  spec: ServerProcessSpec,
  args: ServerArguments,
): ConnectionString | string {
  const own = spec.files.read(args.clusterFile);
  const seed = args.seedClusterFile && spec.files.read(args.seedClusterFile);
  const text = own ?? seed;
  if (text === undefined) {
    return `ERROR: No cluster file found in current directory or default location: \`${args.clusterFile}'`;
  }
  const connection = parseConnectionString(text);
  if (connection === undefined) {
    return `ERROR: Connection string invalid in cluster file \`${args.clusterFile}'`;
  }
  if (own === undefined && !spec.files.write(args.clusterFile, clusterFileText(connection))) {
    return `ERROR: Unable to write cluster file \`${args.clusterFile}'`;
  }
  return connection;
}

/** The certificate, when it is there with its key; a message when a file was named that cannot be read. */
function findCertificate(
  spec: ServerProcessSpec,
  args: ServerArguments,
): SeenCertificate | undefined | string {
  const { files, environment = {} } = spec;
  const wanted = [
    ["Certificate", args.tlsCertificateFile ?? environment["FDB_TLS_CERTIFICATE_FILE"], "cert.pem"],
    ["Key", args.tlsKeyFile ?? environment["FDB_TLS_KEY_FILE"], "key.pem"],
  ] as const;
  for (const [what, path] of wanted) {
    if (path !== undefined && files.read(path) === undefined) {
      return `Error reading TLS ${what} [${path}]: File not found`;
    }
  }
  const [certificate, key] = wanted.map(([, path, fallback]) =>
    files.read(path ?? `/etc/foundationdb/${fallback}`),
  );
  return certificate === undefined || key === undefined ? undefined : readCertificate(certificate);
}

const noAddress: NetworkAddress = { host: "", port: 0, useTls: false, isHostName: false };

function createInstance(
  fabric: Fabric,
  spec: ServerProcessSpec,
  args: ServerArguments,
  disk: Disk,
  connection: ConnectionString,
  certificate: SeenCertificate | undefined,
  resolve: (exit: ServerExit) => void,
): ServerInstance {
  const first = args.publicAddresses[0] ?? noAddress;
  const machineId = args.localities["machineid"] ?? args.localities["zoneid"] ?? disk.processId;
  const zone = args.localities["zoneid"] ?? machineId;
  const localities = sorted({
    ...args.localities,
    machineid: machineId,
    processid: disk.processId,
    zoneid: zone,
  });
  const instance: ServerInstance = {
    spec,
    arguments: args,
    version: spec.version,
    disk,
    certificate,
    startedMs: fabric.arrivals.get(endpoint(first))?.process.startedMs ?? fabric.clock.nowMs(),
    commandLine: [spec.binaryPath, ...spec.args].join(" "),
    ip: first.host,
    endpoint: endpoint(first),
    address: formatAddress(first),
    zone,
    machineId,
    localities,
    localityTargets: localityTargets(localities),
    connection,
    database: undefined,
    registeredMs: 0,
    isRunning: true,
    stop: (exit) => stopServer(fabric, instance, exit, resolve),
  };
  return instance;
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

function stopServer(
  fabric: Fabric,
  instance: ServerInstance,
  exit: ServerExit,
  resolve: (exit: ServerExit) => void,
): void {
  if (!instance.isRunning) return;
  instance.isRunning = false;
  fabric.trace(`fdbserver ${instance.endpoint} stops: ${exit.message}`);
  for (const address of reachableAt(instance.arguments)) {
    const key = endpoint(address);
    if (fabric.listening.get(key) === instance) fabric.listening.delete(key);
  }
  fabric.unjoined.delete(instance);
  const { database } = instance;
  if (database) leave(database, instance);
  allDatabasesRefreshQuorum(fabric);
  resolve(exit);
}
