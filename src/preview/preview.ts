// A whole preview: what is pending, then the change with several seeds, and what it comes to. Rules PV4 and PV7.
import type { Change } from "./change.ts";
import type { Picture, PictureProblem } from "./picture.ts";
import { reportOf } from "./report.ts";
import type { PreviewReport } from "./report.ts";
import { runBoth, runChange } from "./run.ts";
import type { Run, RunOptions } from "./run.ts";
import { simulatedRate } from "./movement.ts";
import { troubleBefore } from "./trouble-before.ts";

export interface PreviewInput {
  readonly picture: Picture;
  readonly change: Change;
  /** In words, for the page. */
  readonly changeText: string;
  /** What a person may not expect of the change. */
  readonly warnings?: readonly string[];
  readonly seeds: number;
  readonly limitMs: number;
  readonly isOutOfCpu?: () => boolean;
  /** For the estimate of how long the movement of data takes. */
  readonly bytesPerSecond: number;
}

export type PreviewResult =
  | { readonly report: PreviewReport }
  | { readonly problems: readonly PictureProblem[] };

export async function preview(input: PreviewInput): Promise<PreviewResult> {
  const { picture, change, limitMs, isOutOfCpu, bytesPerSecond } = input;
  const optionsOf = (seed: number): RunOptions => ({
    ...{ seed, limitMs, moveBytesPerSecond: simulatedRate(picture) },
    ...(isOutOfCpu === undefined ? {} : { isOutOfCpu }),
  });
  // One run is better than none, however slow the machine is.
  const { pending, ...first } = await runBoth(picture, change, optionsOf(1));
  if ("problems" in first) return { problems: first.problems };
  if (pending === undefined) return { problems: [] };
  const { acts, writes } = pending.record;
  const restsFirst = acts.length + writes.length > 0;
  const runs: Run[] = "run" in first ? [first.run] : [];
  let refusal = "refusal" in first ? first.refusal : undefined;
  for (let seed = 2; seed <= input.seeds && refusal === undefined; seed += 1) {
    if (isOutOfCpu?.() === true) break;
    // One that is cut off tells less than the first, which is not.
    const result = await runChange(picture, change, { ...optionsOf(seed), restsFirst });
    if ("problems" in result) return result;
    if ("refusal" in result) ({ refusal } = result);
    else if (result.run.record.end === "cpu") break;
    else runs.push(result.run);
  }
  const { changeText } = input;
  const warnings = [...troubleBefore(picture), ...(input.warnings ?? [])];
  const told = { picture, change: changeText, warnings, pending, runs, bytesPerSecond };
  return { report: reportOf(refusal === undefined ? told : { ...told, refusal }) };
}
