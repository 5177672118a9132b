// All crashes of a scenario, or those of a sample of its writes: first the run without one, then for each of the writes a
// run that crashes before it and one that crashes after it. Rules: spec/crash.md.
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
  for (const write of writesToTry(whole.writes, every)) {
    yield await crashAt(scenario, whole, { write, moment: "before" }, first);
    yield await crashAt(scenario, whole, { write, moment: "after" }, first);
  }
}

/** Every so many of them, and the first command of each kind to the database. */
export function writesToTry(writes: readonly string[], every: number): number[] {
  const seen = new Set<string>();
  return writes.flatMap((name, index) => {
    const [verb = ""] = name.split(" ");
    const isCommand = verb === verb.toLowerCase() && verb !== "transaction";
    const isFirst = isCommand && !seen.has(verb);
    seen.add(verb);
    return isFirst || index % every === 0 ? [index + 1] : [];
  });
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

/** Writes from which on a crash is worth trying. */
const writesMinimum = 8;
const classes = 3;

/** What is wrong with the run that has no crash: the others are compared with it. */
export function problemsOf(scenario: Scenario, { writes, end }: CrashRun): string[] {
  const wanted: End = {
    ...end,
    ...{ isDataLost: false, isAvailable: true, areCopiesComplete: true },
    ...{ isRestless: false, isStallTooLong: false },
    ...{ excluded: [], operatorKeys: [], conditions: [] },
    ...{ creations: scenario.creations ?? 1, restarts: scenario.restarts },
  };
  const lines = end.commandLines.length;
  return [
    ...(writes.length >= writesMinimum
      ? []
      : [`${writes.length} writes, at least ${writesMinimum} are expected`]),
    ...differencesOf(wanted, end),
    ...(lines === classes
      ? []
      : [`${lines} command lines, one for each of ${classes} classes is expected`]),
  ];
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
