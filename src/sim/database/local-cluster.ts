// A supervised set of simulated fdbservers without Kubernetes: each has its own address and volume
// and is started again a moment after it exits, as the processes behind the captures were. For
// tests of the simulated database, and for processes that others look after.
import type { Clock } from "../../env/clock.ts";
import type {
  ContainerFiles,
  ProcessRuntime,
  ServerExit,
  ServerProcess,
} from "../../pod/process-runtime.ts";
import { parseNetworkAddress } from "./network-address.ts";

export interface LocalServer {
  name: string;
  processClass: string;
  address: string;
  localities?: Readonly<Record<string, string>>;
  version?: string;
  extraArgs?: readonly string[];
}

export interface LocalCluster {
  start(server: LocalServer): void;
  /** Dies and stays down. */
  stop(name: string): void;
  /** Starts it again, optionally with something changed. */
  restart(name: string, change?: Partial<LocalServer>): void;
  lastExit(name: string): ServerExit | undefined;
  files(name: string): Map<string, string>;
  address(name: string): string;
  names(): string[];
}

interface Entry {
  server: LocalServer;
  process: ServerProcess | undefined;
  isWanted: boolean;
  exit: ServerExit | undefined;
  files: Map<string, string>;
}

export function createLocalCluster(
  clock: Clock,
  fdb: { readonly runtime: ProcessRuntime },
  connectionString: string,
  restartMs = 200,
): LocalCluster {
  const entries = new Map<string, Entry>();
  const find = (name: string): Entry => {
    const entry = entries.get(name);
    if (!entry) throw new Error(`no server ${name}`);
    return entry;
  };
  const run = (entry: Entry): void => {
    const { server } = entry;
    const process = fdb.runtime.start({
      binaryPath: "/usr/bin/fdbserver",
      version: server.version ?? "7.3.79",
      args: argumentsOf(server),
      pod: {
        namespace: "default",
        name: server.name,
        uid: server.name,
        ips: [hostOf(server.address)],
      },
      nodeName: server.name,
      files: containerFiles(server.name, entry.files),
    });
    entry.process = process;
    void watch(entry, process);
  };
  const watch = async (entry: Entry, process: ServerProcess): Promise<void> => {
    const exit = await process.exited;
    entry.exit = exit;
    if (entry.process !== process) return;
    entry.process = undefined;
    if (exit.code === 0 && entry.isWanted) {
      clock.setTimer(restartMs, () => entry.isWanted && run(entry));
    }
  };
  return {
    start(server) {
      const files = new Map([["/var/dynamic-conf/fdb.cluster", connectionString]]);
      const entry: Entry = { server, process: undefined, isWanted: true, exit: undefined, files };
      entries.set(server.name, entry);
      run(entry);
    },
    stop(name) {
      const entry = find(name);
      entry.isWanted = false;
      entry.process?.kill();
      entry.process = undefined;
    },
    restart(name, change) {
      const entry = find(name);
      entry.process?.kill();
      entry.process = undefined;
      entry.server = { ...entry.server, ...change };
      entry.isWanted = true;
      run(entry);
    },
    lastExit: (name) => find(name).exit,
    files: (name) => find(name).files,
    address: (name) => find(name).server.address,
    names: () => [...entries.keys()],
  };
}

/** The host of the first of the public addresses. */
function hostOf(addresses: string): string {
  return parseNetworkAddress(addresses.split(",")[0] ?? "")?.host ?? "";
}

function argumentsOf(server: LocalServer): string[] {
  const localities: Readonly<Record<string, string>> = {
    instance_id: server.name,
    machineid: `node-${server.name}`,
    zoneid: `zone-${server.name}`,
    process_id: `${server.name}-1`,
    ...server.localities,
  };
  return [
    "--cluster_file=/var/fdb/data/fdb.cluster",
    "--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
    `--public_address=${server.address}`,
    `--class=${server.processClass}`,
    "--logdir=/var/log/fdb-trace-logs",
    "--loggroup=sample",
    "--datadir=/var/fdb/data/1",
    ...Object.entries(localities).map(([key, value]) => `--locality_${key}=${value}`),
    ...(server.extraArgs ?? []),
  ];
}

/** Where fdbserver looks by itself, for servers with TLS. */
const certificates: ReadonlyMap<string, string> = new Map([
  ["/etc/foundationdb/cert.pem", "certificate"],
  ["/etc/foundationdb/key.pem", "key"],
]);

function containerFiles(name: string, files: Map<string, string>): ContainerFiles {
  const mounts = ["/var/fdb/data", "/var/log/fdb-trace-logs"];
  const mountOf = (path: string): string | undefined =>
    mounts.find((mount) => path === mount || path.startsWith(`${mount}/`));
  return {
    read: (path) => files.get(path) ?? certificates.get(path),
    write(path, text) {
      if (mountOf(path) === undefined) return false;
      files.set(path, text);
      return true;
    },
    locate(path) {
      const mount = mountOf(path);
      return mount === undefined
        ? undefined
        : { volumeId: `${name}:${mount}`, path: path.slice(mount.length) };
    },
  };
}
