// All crashes of a scenario, or every so many of them: first the run without one, then for each of its writes a run that
// crashes before it and one that crashes after it. Rules: spec/crash.md.
import { isDeepStrictEqual } from "node:util";
import { runScenario } from "./crash-run.ts";
import type { CrashRun, End, Program } from "./crash-run.ts";
import type { Scenario } from "./scenarios.ts";

export interface CrashOutcome {
  write: number;
  moment: "before" | "after";
  /** What was written, or would have been. */
  name: string;
  /** What is not as it is without a crash. */
  failure: string | undefined;
}

type Death = Pick<CrashOutcome, "write" | "moment">;

export async function* crashesOf(
  scenario: Scenario,
  whole: CrashRun,
  { every = 1, first }: { every?: number; first?: Program | undefined } = {},
): AsyncGenerator<CrashOutcome> {
  for (let write = 1; write <= whole.writes.length; write += every) {
    yield await crashAt(scenario, whole, { write, moment: "before" }, first);
    yield await crashAt(scenario, whole, { write, moment: "after" }, first);
  }
}

/** One run with a crash, compared with the run that has none; `first` is another version, which crashes. */
export async function crashAt(
  scenario: Scenario,
  whole: CrashRun,
  death: Death,
  first?: Program,
): Promise<CrashOutcome> {
  const name = whole.writes[death.write - 1] ?? "";
  return { ...death, name, failure: await failureOf(scenario, whole, death, first) };
}

async function failureOf(
  scenario: Scenario,
  whole: CrashRun,
  death: Death,
  first: Program | undefined,
): Promise<string | undefined> {
  try {
    const { hasCrashed, end } = await runScenario(scenario, death, first);
    if (!hasCrashed) return "the write did not come";
    const differences = differencesOf(whole.end, end);
    return differences.length === 0 ? undefined : differences.join("\n");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function differencesOf(expected: End, actual: End): string[] {
  const fields = Object.keys(expected) as (keyof End)[];
  return fields
    .filter((field) => !isDeepStrictEqual(expected[field], actual[field]))
    .map((field) => `${field}: ${text(actual[field])} instead of ${text(expected[field])}`);
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
