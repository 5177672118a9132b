// Real fdbservers on loopback as a target of the database cases: started by the same runtime that the emulated kubelet
// uses, reached by the same client that the operator uses.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSignedCertificate } from "../../src/emulator/certificate.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import { forkStarter } from "../../src/fdb/client/child-handle.ts";
import type { ChildHandle } from "../../src/fdb/client/child-handle.ts";
import { clientProgramPath } from "../../src/fdb/client/client-program.ts";
import type { Installation } from "../../src/fdb/client/installation.ts";
import { createProcessAdmin } from "../../src/fdb/client/process-admin.ts";
import { localProcesses } from "../../src/pod/local-processes.ts";
import { loopbackAddress } from "../../src/pod/loopback-address.ts";
import { createLocalCluster } from "../../src/sim/database/local-cluster.ts";
import { realTools } from "./real-tools.ts";
import type { RealTools } from "./real-tools.ts";
import { firstCoordinators, serverNames } from "./database-case.ts";
import type { DatabaseTarget } from "./database-case.ts";

export interface RealDatabase {
  readonly target: DatabaseTarget;
  readonly certificateFolder: string;
  readonly stop: () => Promise<void>;
}

export interface RealDatabaseOptions {
  readonly installation: Installation;
  readonly version: string;
  readonly useTls: boolean;
  /** Databases that run at the same time need different blocks of addresses. */
  readonly block: number;
  /** The program of an S3 server; undefined where there is none. */
  readonly objectStore: string | undefined;
}

/** Data distribution starts half a minute after a recovery; the cases need not wait for that. */
const quickKnobs = ["--knob_initial_failure_reaction_delay=3.0"];

export async function startRealDatabase(options: RealDatabaseOptions): Promise<RealDatabase> {
  const { installation, version, useTls, block, objectStore } = options;
  const clock = machineClock();
  const folder = mkdtempSync(join(tmpdir(), "fdb-contract-"));
  const certificateFolder = join(folder, "certificates");
  const plain = { PATH: process.env["PATH"] ?? "" };
  const environment = useTls ? { ...plain, ...writeCertificates(certificateFolder) } : plain;
  const runtime = localProcesses({
    serverPath: (wanted) => installation.findServer(wanted)?.serverPath,
    toolPath: (name, wanted) => installation.findTool(name, wanted),
    folder,
    environment,
  });
  const suffix = useTls ? ":tls" : "";
  const endpoint = (name: string): string =>
    `${loopbackAddress(block * 256 + serverNames.indexOf(name) + 1)}:4501`;
  const address = (name: string): string => `${endpoint(name)}${suffix}`;
  const coordinators = firstCoordinators.map(address).join(",");
  const connectionString = `contract:operator${block}@${coordinators}`;
  const cluster = createLocalCluster(clock, { runtime }, connectionString);
  for (const name of serverNames) {
    const processClass = name.replace(/-\d$/, "");
    cluster.start({ name, processClass, address: address(name), version, extraArgs: quickKnobs });
  }
  const children: ChildHandle[] = [];
  const fork = forkStarter(clientProgramPath());
  const factoryOf = (given: Readonly<Record<string, string>>): AdminClientFactory =>
    createProcessAdmin({
      ...{ installation, clock, log: silentLog, environment: given },
      start: (handed) => {
        const child = fork(handed);
        children.push(child);
        return child;
      },
    });
  const factory = factoryOf(environment);
  const open = (text = connectionString, from = factory) =>
    from.open({ name: "contract/database", connectionString: text, version });
  const admin = open();
  const [ownChild] = children;
  const tools: RealTools | undefined = useTls
    ? undefined
    : await realTools({
        ...{ installation, version, folder, connectionString, runtime, clock, objectStore },
        address: (host) => loopbackAddress(block * 256 + host),
        open: (text) => open(text),
      });
  const deadConnectionString = `dead:dead@${loopbackAddress(block * 256 + 200)}:4501${suffix}`;
  return {
    certificateFolder,
    target: {
      ...{ admin, version, connectionString, deadConnectionString, endpoint, address },
      open: (text) => open(text),
      openWithoutCertificate: useTls ? () => open(connectionString, factoryOf(plain)) : undefined,
      stop: (name) => cluster.stop(name),
      restart: (name) => cluster.restart(name),
      crashClient: () => ownChild?.kill(),
      tools: tools?.tools,
      finish: (operation) => operation,
      pass: (seconds) => sleep(clock, seconds * 1000),
      nowMs: () => clock.nowMs(),
    },
    async stop() {
      admin.close();
      await tools?.stop();
      for (const name of serverNames) cluster.stop(name);
      await runtime.stop();
      clock.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One certificate that is its own authority, for servers and clients alike. */
export function writeCertificates(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const { certificatePem, keyPem } = selfSignedCertificate();
  const files = { certificate: "tls.crt", key: "tls.key", authority: "ca.crt" };
  writeFileSync(join(folder, files.certificate), certificatePem);
  writeFileSync(join(folder, files.key), keyPem, { mode: 0o600 });
  writeFileSync(join(folder, files.authority), certificatePem);
  return {
    FDB_TLS_CERTIFICATE_FILE: join(folder, files.certificate),
    FDB_TLS_KEY_FILE: join(folder, files.key),
    FDB_TLS_CA_FILE: join(folder, files.authority),
  };
}
