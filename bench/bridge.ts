// What the measured operator process and its parent say to each other: the operator's calls to the
// database and to pods go up, the answers of the simulated ones come down.
import type { AdminClient, AdminClientOptions } from "../src/fdb/admin.ts";
import type { PodRequest } from "../src/pod/network.ts";
import type { KubeConnection } from "../src/kube/kubeconfig.ts";

/** Commands to a database whose arguments and answers are plain data. */
export const databaseMethods = [
  "status",
  "configure",
  "exclude",
  "include",
  "excluded",
  "exclusionsInProgress",
  "kill",
  "changeCoordinators",
  "connectionString",
  "setMaintenanceZone",
  "resetMaintenanceZone",
] as const satisfies readonly (keyof AdminClient)[];

export type DatabaseMethod = (typeof databaseMethods)[number];

export interface Figures {
  rssBytes: number;
  peakRssBytes: number;
  heapUsedBytes: number;
  cpuMs: number;
}

export type FromOperator =
  | { type: "ready" }
  | { type: "started" }
  | { type: "figures"; figures: Figures }
  | { type: "openDatabase"; client: number; options: AdminClientOptions }
  | { type: "closeDatabase"; client: number }
  | { type: "callDatabase"; call: number; client: number; method: DatabaseMethod; args: unknown[] }
  | { type: "callPod"; call: number; request: PodRequest };

export interface FailureOnBridge {
  message: string;
  /** FoundationDB's code; absent for other failures. */
  fdbCode?: number;
}

export type ToOperator =
  | { type: "start"; connection: KubeConnection; versions: readonly string[] }
  | { type: "measure" }
  | { type: "stop" }
  | { type: "answer"; call: number; value?: unknown; failure?: FailureOnBridge };
