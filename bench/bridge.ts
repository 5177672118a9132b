// What the measured operator process and its parent say to each other besides the calls to databases and pods, which go
// over src/sim/remote.
import type { KubeConnection } from "../src/kube/kubeconfig.ts";

export interface Figures {
  rssBytes: number;
  peakRssBytes: number;
  heapUsedBytes: number;
  cpuMs: number;
  /** Of the event loop since the figures before, in processor time. */
  longestTurnMs: number;
}

export type FromOperator =
  | { type: "ready" }
  | { type: "started"; cpuMs: number }
  | { type: "figures"; figures: Figures };

export type ToOperator =
  | { type: "start"; connection: KubeConnection; databasePort: number }
  | { type: "measure" }
  | { type: "stop" };
