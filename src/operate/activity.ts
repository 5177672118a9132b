// What the operator tells whoever watches it work: the terminal, a test, a trace.
import type { ClusterStatus } from "../api/cluster.ts";
import type { Action } from "../plan/action.ts";
import type { Wait } from "./dated-plan.ts";

export type Activity =
  | {
      type: "action";
      /** Namespace and name of the cluster. */
      cluster: string;
      atMs: number;
      action: Action;
      /** The action as a person reads it. */
      text: string;
      /** Why it failed; absent when it was done. */
      error?: string;
    }
  | { type: "waits"; cluster: string; atMs: number; waits: readonly Wait[] }
  | {
      type: "status";
      cluster: string;
      atMs: number;
      /** As computed in this pass, whether it was written or not. */
      status: ClusterStatus;
      isReconciled: boolean;
    }
  | { type: "invalid"; cluster: string; atMs: number; problems: readonly string[] }
  | { type: "gone"; cluster: string; atMs: number };
