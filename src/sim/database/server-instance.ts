// One running fdbserver: what it was started with and where it stands. Starting and stopping is in
// server-runtime.ts.
import type { SeenCertificate } from "../../model/certificate.ts";
import type { ServerExit, ServerProcessSpec } from "../../pod/process-runtime.ts";
import type { Database } from "./database.ts";
import type { Disk } from "./fabric.ts";
import type { ConnectionString } from "./network-address.ts";
import type { ServerArguments } from "./server-arguments.ts";

export interface ServerInstance {
  readonly spec: ServerProcessSpec;
  readonly arguments: ServerArguments;
  readonly version: string;
  readonly disk: Disk;
  /** Without one, and its key, nobody understands it at an address with TLS, nor it them. Read again now and then. */
  certificate: SeenCertificate | undefined;
  readonly startedMs: number;
  readonly commandLine: string;
  /** IP of the first public address, without brackets. */
  readonly ip: string;
  /** ip:port of the first public address, without TLS suffix. */
  readonly endpoint: string;
  /** The first public address as status shows it. */
  readonly address: string;
  readonly zone: string;
  readonly machineId: string;
  /** Localities as given, with processid. */
  readonly localities: Readonly<Record<string, string>>;
  /** By which exclusions it is met. */
  readonly localityTargets: readonly string[];
  connection: ConnectionString;
  database: Database | undefined;
  registeredMs: number;
  isRunning: boolean;
  readonly stop: (exit: ServerExit) => void;
}

/** Whether it can make new connections with TLS; those that it has outlast their certificate. */
export function speaksTls({ certificate }: ServerInstance, nowMs: number): boolean {
  return certificate !== undefined && nowMs < certificate.notAfterMs;
}

/** The class in force: one set by an operator command wins over the command line. */
export function classOf(database: Database, instance: ServerInstance): string {
  return database.classOverrides.get(instance.endpoint) ?? instance.arguments.processClass;
}
