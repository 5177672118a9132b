// Runs contract cases on one kind of target, a few at a time, and keeps what came out.
import type { ContractCase } from "./case.ts";
import type { Target } from "./target.ts";

export interface CaseResult {
  readonly contractCase: ContractCase;
  /** Undefined when the case passed. */
  readonly failure: string | undefined;
  readonly durationMs: number;
}

export type MakeTarget = (index: number, contractCase: ContractCase) => Promise<Target>;

export async function runCases(
  cases: readonly ContractCase[],
  makeTarget: MakeTarget,
  parallelMax: number,
  onResult: (result: CaseResult) => void = () => {},
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < cases.length; index = next++) {
      const contractCase = cases[index];
      if (contractCase === undefined) return;
      const startedAt = performance.now();
      const failure = await failureOf(contractCase, () => makeTarget(index, contractCase));
      const result = { contractCase, failure, durationMs: performance.now() - startedAt };
      results[index] = result;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, worker));
  return results;
}

async function failureOf(
  contractCase: ContractCase,
  makeTarget: () => Promise<Target>,
): Promise<string | undefined> {
  let target: Target | undefined;
  try {
    target = await makeTarget();
    await contractCase.run(target);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    await target?.end();
  }
}
