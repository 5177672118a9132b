// The operator as one of several instances: it fills its copies, waits for the Lease, works for one term and begins anew.
// What a term knew dies with it, as in a crash, so that an instance never acts on what was true before another one worked.
// Rules: spec/run.md [RUN20]-[RUN23].
import type { Log } from "../env/log.ts";
import type { LeaderElector } from "../kube/lease.ts";
import { startOperator } from "./operator.ts";
import type { Operator, OperatorInput, Term } from "./operator.ts";

export interface TermsInput {
  operator: Omit<OperatorInput, "signal" | "term">;
  /** Absent for an instance that is alone. */
  elector: LeaderElector | undefined;
  log: Log;
  /** Ends everything; the Lease is given back when all work has ended. */
  signal: AbortSignal;
  /** Called with the operator of each term, before it works. */
  onOperator: (operator: Operator) => void;
}

/** Resolves when the signal was given and everything under way has ended. */
export async function runTerms(input: TermsInput): Promise<void> {
  const { elector, signal } = input;
  if (elector === undefined) {
    const operator = startOperator({ ...input.operator, signal });
    input.onOperator(operator);
    return operator.stopped;
  }
  while (!signal.aborted) {
    const outcome = await runTerm(input, elector);
    if (outcome === "lost") input.log.warn("the Lease was lost; waiting for it again");
  }
}

async function runTerm(input: TermsInput, elector: LeaderElector): Promise<"lost" | "stopped"> {
  const ending = new AbortController();
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const term: Term = {
    begun,
    remainingMs: () => elector.remainingMs(),
    during: (act) => elector.during(act),
  };
  const operator = startOperator({ ...input.operator, signal: ending.signal, term });
  input.onOperator(operator);
  const stop = async (): Promise<void> => {
    ending.abort();
    begin();
    await operator.stopped;
  };
  try {
    return await elector.run(input.signal, async (termSignal) => {
      begin();
      await aborted(termSignal);
      await stop();
    });
  } finally {
    await stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
