// The backup tools of a real installation beside real fdbservers: a folder, a real S3 server where there is one, and a
// second database of one process that is created when somebody wants to restore into it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/env/clock.ts";
import { sleep } from "../../src/env/clock.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import type { Installation } from "../../src/fdb/client/installation.ts";
import type { ProcessRuntime } from "../../src/pod/process-runtime.ts";
import { createLocalCluster } from "../../src/sim/database/local-cluster.ts";
import { loseFiles, startObjectStore } from "../object-store.ts";
import type { ObjectStoreServer } from "../object-store.ts";
import { findPrograms, realSet } from "./backup-tools.ts";
import type { BackupTools, BucketPlace, Destination } from "./backup-tools.ts";

export interface RealTools {
  readonly tools: BackupTools;
  stop(): Promise<void>;
}

export interface RealToolsOptions {
  readonly installation: Installation;
  readonly version: string;
  readonly folder: string;
  readonly connectionString: string;
  readonly runtime: ProcessRuntime;
  readonly clock: Clock;
  readonly objectStore: string | undefined;
  /** A loopback address of the database's own block; servers have the first ones. */
  readonly address: (host: number) => string;
  readonly open: (connectionString: string) => AdminClient;
}

const account = { key: "BKKEY", secret: "BKSECRET", region: "us-east-1", bucket: "fdb-backups" };
const hosts = { objectStore: 100, destination: 101 };
const name = "destination";

/** Undefined when a tool is not installed. */
export async function realTools(options: RealToolsOptions): Promise<RealTools | undefined> {
  const { installation, version, folder, connectionString, objectStore } = options;
  const programs = findPrograms((tool) => installation.findTool(tool, version));
  if (programs === undefined) return undefined;
  const host = options.address(hosts.objectStore);
  const files = writeFiles(folder, connectionString, host);
  const store =
    objectStore === undefined
      ? undefined
      : await startObjectStore({ binary: objectStore, host, folder, ...account });
  let opened: Promise<Destination> | undefined;
  let close = (): void => {};
  const openDestination = async (): Promise<Destination> => {
    const { cluster, text } = startDestination(options);
    const admin = options.open(text);
    close = () => {
      admin.close();
      cluster.stop(name);
    };
    await sleep(options.clock, 3_000);
    await admin.configure("new single ssd", 120_000);
    const clusterFile = join(folder, "destination.cluster");
    writeFileSync(clusterFile, text);
    const own = realSet(programs, clusterFile, files.credentials);
    return { ...own, admin, originalClusterFile: files.clusterFile };
  };
  return {
    tools: {
      ...realSet(programs, files.clusterFile, files.credentials),
      folder: {
        urlOf: () => `file://${files.backups}`,
        credentials: [],
        lose: (isLost) => loseFiles(files.backups, isLost),
      },
      bucket: store && bucketPlace(store, files),
      destination: () => (opened ??= openDestination()),
    },
    async stop() {
      close();
      await store?.stop();
    },
  };
}

interface Files {
  readonly backups: string;
  readonly clusterFile: string;
  readonly credentials: string;
  readonly wrongCredentials: string;
}

function writeFiles(folder: string, connectionString: string, host: string): Files {
  const files = {
    backups: join(folder, "backups"),
    clusterFile: join(folder, "tools.cluster"),
    credentials: join(folder, "blob.json"),
    wrongCredentials: join(folder, "wrong-blob.json"),
  };
  const accounts = (secret: string): string =>
    JSON.stringify({ accounts: { [`${account.key}@${host}`]: { secret } } });
  mkdirSync(files.backups);
  writeFileSync(files.clusterFile, connectionString);
  writeFileSync(files.credentials, accounts(account.secret));
  writeFileSync(files.wrongCredentials, accounts("WRONG"));
  return files;
}

function bucketPlace(store: ObjectStoreServer, files: Files): BucketPlace {
  const urlIn = (bucket: string, container: string): string => {
    const place = `${account.key}@${store.host}:${store.port}/${container}`;
    return `blobstore://${place}?bucket=${bucket}&sc=0&region=${account.region}`;
  };
  return {
    urlOf: (container) => urlIn(account.bucket, container),
    urlInMissingBucket: (container) => urlIn("never-made", container),
    credentials: ["--blob-credentials", files.credentials],
    wrongCredentials: files.wrongCredentials,
    lose: (isLost) => store.lose(isLost),
  };
}

interface Started {
  readonly cluster: ReturnType<typeof createLocalCluster>;
  readonly text: string;
}

function startDestination({ address, clock, runtime, version }: RealToolsOptions): Started {
  const server = `${address(hosts.destination)}:4501`;
  const text = `destination:operator1@${server}`;
  const cluster = createLocalCluster(clock, { runtime }, text);
  cluster.start({ name, processClass: "unset", address: server, version });
  return { cluster, text };
}
