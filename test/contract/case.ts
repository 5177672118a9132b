// One statement about how a Kubernetes API server behaves, and how to collect them by capability.
import type { Target } from "./target.ts";

export interface ContractCase {
  readonly capability: string;
  /** Starts with the id of its rule in spec/contract.md. */
  readonly title: string;
  readonly needs: Need;
  run(target: Target): Promise<void>;
}

/** The part of a control plane beyond the API server that a case needs. */
export type Need = "nothing" | "controller-manager" | "scheduler";

export type Statement = readonly [title: string, run: (target: Target) => Promise<void>];

export function capability(
  name: string,
  statements: readonly Statement[],
  needs: Need = "nothing",
): ContractCase[] {
  return statements.map(([title, run]) => ({ capability: name, title, needs, run }));
}
