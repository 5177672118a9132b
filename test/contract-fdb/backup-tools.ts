// The backup tools beside a database, simulated or real: commands that run to their end, agents, the two places that
// containers lie in, and an empty database to restore into.
import { spawn } from "node:child_process";
import type { AdminClient } from "../../src/fdb/admin.ts";
import type { ObjectStore } from "../../src/sim/backup/object-store.ts";
import { volumeBucket } from "../../src/sim/backup/object-store.ts";
import {
  benchOn,
  clusterFile,
  containerUrl,
  credentialsFile,
  openDestination,
  storeAddress,
  wrongCredentialsFile,
} from "../../src/sim/backup/tool-bench.ts";
import type { ToolBench } from "../../src/sim/backup/tool-bench.ts";
import type { Sample } from "../../src/sim/database/sample-cluster.ts";

export interface ToolOutput {
  /** Undefined when it had not ended by the limit and was killed, or a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Tools that have the cluster file of one database. */
export interface ToolSet {
  readonly clusterFile: string;
  run(
    name: "fdbbackup" | "fdbrestore",
    args: readonly string[],
    limitSeconds?: number,
  ): Promise<ToolOutput>;
  /** Starts an agent, by default with the right credentials; gives what kills it. */
  startAgent(credentials?: string): () => void;
}

/** Where containers lie. */
export interface BackupPlace {
  /** What `start -d` gets for a container of this name; the true URL is in the status. */
  urlOf(name: string): string;
  /** Options for commands that look into a container. */
  readonly credentials: readonly string[];
  /** Objects whose keys are so are gone, as if somebody had deleted them; gives how many. */
  lose(isLost: (key: string) => boolean): number;
}

export interface BucketPlace extends BackupPlace {
  urlInMissingBucket(name: string): string;
  /** A file with a wrong secret of the right account. */
  readonly wrongCredentials: string;
}

/** An empty database; the cluster file of the original one lies beside its own. */
export interface Destination extends ToolSet {
  readonly admin: AdminClient;
  readonly originalClusterFile: string;
}

export interface BackupTools extends ToolSet {
  readonly folder: BackupPlace;
  /** Undefined where there is no S3 server. */
  readonly bucket: BucketPlace | undefined;
  /** The same one each time. */
  destination(): Promise<Destination>;
}

export function simulatedTools(sample: Sample): BackupTools {
  const store = sample.fdb.objectStores.add(storeAddress, {
    accounts: { BKKEY: "BKSECRET" },
    buckets: ["fdb-backups"],
    region: "us-east-1",
  });
  const bench = benchOn(sample, store);
  let destination: Promise<Destination> | undefined;
  return {
    ...setOn(bench),
    folder: {
      urlOf: () => "file:///var/backup",
      credentials: [],
      lose: (isLost) => loseObjects(sample.fdb.objectStores.onVolume("disk"), volumeBucket, isLost),
    },
    bucket: {
      urlOf: containerUrl,
      urlInMissingBucket: (name) => containerUrl(name).replace("fdb-backups", "never-made"),
      credentials: ["--blob-credentials", credentialsFile],
      wrongCredentials: wrongCredentialsFile,
      lose: (isLost) => loseObjects(store, "fdb-backups", isLost),
    },
    destination: () => (destination ??= simulatedDestination(bench)),
  };
}

function loseObjects(store: ObjectStore, bucket: string, isLost: (key: string) => boolean): number {
  return store.lose(bucket, ({ key }) => isLost(key));
}

async function simulatedDestination(bench: ToolBench): Promise<Destination> {
  const opened = await openDestination(bench);
  const originalClusterFile = "/var/fdb/original.cluster";
  opened.files.set(originalClusterFile, bench.sample.connectionString);
  return { ...setOn(opened), admin: opened.sample.admin, originalClusterFile };
}

function setOn(bench: ToolBench): ToolSet {
  return {
    clusterFile,
    async run(name, args, limitSeconds = 120) {
      const { code, stdout, stderr } = await bench.run(name, args, limitSeconds);
      return { code: typeof code === "number" ? code : undefined, stdout, stderr };
    },
    startAgent(credentials) {
      const { process } = bench.agent(credentials);
      return () => process.kill();
    },
  };
}

/** The programs of a real installation. */
export interface RealPrograms {
  readonly backup: string;
  readonly restore: string;
  readonly agent: string;
}

/** Undefined when one of them is not there. */
export function findPrograms(
  find: (name: "fdbbackup" | "fdbrestore" | "backup_agent") => string | undefined,
): RealPrograms | undefined {
  const [backup, restore, agent] = [find("fdbbackup"), find("fdbrestore"), find("backup_agent")];
  if (backup === undefined || restore === undefined || agent === undefined) return undefined;
  return { backup, restore, agent };
}

export function realSet(
  programs: RealPrograms,
  ownClusterFile: string,
  ownCredentials: string,
): ToolSet {
  return {
    clusterFile: ownClusterFile,
    run: (name, args, limitSeconds = 120) =>
      runReal(name === "fdbbackup" ? programs.backup : programs.restore, args, limitSeconds),
    startAgent(credentials = ownCredentials) {
      const child = spawn(programs.agent, ["-C", ownClusterFile], {
        stdio: "ignore",
        env: { FDB_BLOB_CREDENTIALS: credentials },
      });
      return () => child.kill("SIGKILL");
    },
  };
}

function runReal(path: string, args: readonly string[], limitSeconds: number): Promise<ToolOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitSeconds * 1000,
      killSignal: "SIGKILL",
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? undefined, ...output }));
  });
}
