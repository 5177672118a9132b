// `fdb-operator simulate`: lives of clusters in virtual time, each drawn from a seed, with everything that may go wrong.
// Rules: spec/world.md [W69], [W110]-[W112], [W141], [W142].
import { machineRandom, randomInteger } from "../env/random.ts";
import { machineStopwatch } from "../env/stopwatch.ts";
import { backupFaultNames } from "../sim/workloads/backups/backup-fault-names.ts";
import { idsOf } from "../sim/workloads/life-plan.ts";
import { planOfLife } from "../sim/workloads/life-walk.ts";
import type { LifeOptions, LifeResult } from "../sim/workloads/life-walk.ts";
import { UsageError } from "../env/command-error.ts";
import { shrinkLife } from "./life-shrink.ts";
import { liveAll, liveOnce, serveLives } from "./life-workers.ts";
import type { LifeRequest, LifeWorkers } from "./life-workers.ts";
import { addStalls, noStalls } from "../sim/workloads/stall-watch.ts";
import { stallLines } from "./stalls-text.ts";
import { progressLine, speedText } from "./simulate-progress.ts";
import type { SimulationProgress } from "./simulate-progress.ts";
import { openOutput } from "./terminal.ts";
import type { Output } from "./terminal.ts";

export interface SimulateOptions {
  /** How many seeds, counted up from the first. */
  seeds: number;
  /** The first of them; drawn when absent. */
  seed?: number;
  /** Until when lives are begun, instead of a number of them. */
  hours?: number;
  /** Random things that happen in each life. */
  steps: number;
  /** Only these of the faults may happen. */
  faults?: LifeOptions["faults"];
  /** Whether there are backups and restores in them. */
  backups?: boolean;
  /** Of the one life that is lived then: what is left out. */
  without?: readonly string[];
  /** Whether the smallest form of failed lives is looked for. */
  shrink: boolean;
  /** How many lives are lived at once. */
  jobs: number;
}

export interface SimulateOutcome {
  passed: number;
  failed: number;
}

/** So many failed lives get their smallest form, each with at most so many lives: a broken build breaks them all. */
const shrunkMax = 5;
const livesPerShrinkingMax = 80;
/** Where nothing can be redrawn, progress is told so often. */
const progressPeriodMs = 60_000;
const keptLines = 40;

export async function runSimulate(options: SimulateOptions): Promise<void> {
  if (serveLives(liveOnce)) return;
  checkOptions(options);
  const entry = process.argv[1] ?? "";
  const { failed } = await simulate(options, openOutput(process.stdout, false), entry);
  if (failed > 0) process.exitCode = 1;
}

function checkOptions(options: SimulateOptions): void {
  const { seed, steps, without, backups, faults = [] } = options;
  const strange = faults.find((name) => backupFaultNames.some((each) => each === name));
  if (strange !== undefined && backups !== true) {
    throw new UsageError(`--faults ${strange}: it comes only in lives with --backups`);
  }
  if (without === undefined) return;
  if (seed === undefined) {
    throw new UsageError("--without leaves things out of one life: say which with --seed");
  }
  const known = new Set(idsOf(planOfLife(seed, wholeLife(options))));
  const unknown = without.find((id) => !known.has(id));
  if (unknown !== undefined) {
    const what = `the life of seed ${seed} with ${steps} steps has no ${unknown}`;
    throw new UsageError(`--without ${without.join(",")}: ${what}`);
  }
}

export async function simulate(
  options: SimulateOptions,
  output: Pick<Output, "line" | "live" | "isLive">,
  entry: string,
): Promise<SimulateOutcome> {
  const { seeds, jobs, without } = options;
  const first = options.seed ?? randomInteger(machineRandom(), 1, 1_000_000);
  const workers: LifeWorkers = { entry, count: jobs, live: liveOnce };
  const total = without !== undefined ? 1 : options.hours === undefined ? seeds : undefined;
  const limitMs = (options.hours ?? 0) * 3_600_000;
  const progress = progressKeeper(output, { total, limitMs });
  output.line(`seed ${first}`);
  const failures: LifeResult[] = [];
  const stalls = noStalls();
  let transfers = 0;
  const requests = function* (): Generator<LifeRequest> {
    for (let index = 0; total === undefined ? !progress.isTimeUp() : index < total; index += 1) {
      yield { seed: first + index, options: { ...wholeLife(options), without } };
    }
  };
  await liveAll(requests(), workers, (result) => {
    output.line(lineOf(result));
    if (result.failure !== undefined) {
      failures.push(result);
      tellFailure(result, options, output);
    }
    addStalls(stalls, result.stalls);
    transfers += result.transfers;
    progress.tell(result);
  });
  const { lived, failed, cpuMs } = progress.sum();
  output.live([]);
  output.line(`${lived - failed} passed, ${failed} failed`);
  output.line(`${speedText({ lived, cpuMs })} (${(cpuMs / 60_000).toFixed(1)} CPU minutes)`);
  for (const line of stallLines(stalls)) output.line(line);
  if (transfers > 0) output.line(`${transfers} transfers of an application, none lost or made up`);
  if (options.shrink && without === undefined) {
    for (const failure of failures.slice(0, shrunkMax)) {
      await tellSmallest(failure, options, workers, output);
    }
  }
  return { passed: lived - failed, failed };
}

interface ProgressKeeper {
  tell(result: LifeResult): void;
  isTimeUp(): boolean;
  sum(): SimulationProgress;
}

function progressKeeper(
  { line, live, isLive }: Pick<Output, "line" | "live" | "isLive">,
  ends: Pick<SimulationProgress, "total" | "limitMs">,
): ProgressKeeper {
  const startMs = machineStopwatch();
  const cpuBefore = process.cpuUsage();
  let [lived, failed, toldMs] = [0, 0, startMs];
  const sum = (): SimulationProgress => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuMs = (user + system) / 1000;
    return { lived, failed, elapsedMs: machineStopwatch() - startMs, cpuMs, ...ends };
  };
  return {
    sum,
    isTimeUp: () => machineStopwatch() - startMs >= (ends.limitMs ?? 0),
    tell({ failure }) {
      lived += 1;
      if (failure !== undefined) failed += 1;
      if (isLive) live([progressLine(sum())]);
      else if (machineStopwatch() - toldMs >= progressPeriodMs) {
        toldMs = machineStopwatch();
        line(progressLine(sum()));
      }
    },
  };
}

function lineOf({ seed, shape, failure, events, virtualMinutes, hash }: LifeResult): string {
  const { kind, nodes, members } = shape;
  const { imageType, databaseConfiguration } = members[0].spec;
  const mode = kind === "one resource" ? databaseConfiguration?.redundancy_mode : kind;
  const verdict = failure === undefined ? "ok    " : "FAILED";
  const what = `${mode} ${imageType} on ${nodes} nodes, ${events.length} events`;
  return `${seed} ${verdict} ${what}, ${virtualMinutes} virtual minutes, history ${hash.slice(0, 12)}`;
}

type Printer = Pick<Output, "line">;

function tellFailure(result: LifeResult, options: SimulateOptions, to: Printer): void {
  const { failure = "", shape, events, lastLines } = result;
  for (const line of failure.split("\n")) to.line(`  ${line}`);
  for (const { name, spec } of shape.members) to.line(`  ${name} ${JSON.stringify(spec)}`);
  for (const event of events) to.line(`  ${event}`);
  for (const line of lastLines.slice(-keptLines)) to.line(`  | ${line.slice(0, 300)}`);
  to.line(`  again: ${commandOf(result.seed, options, options.without ?? [])}`);
}

async function tellSmallest(
  failed: LifeResult,
  options: SimulateOptions,
  workers: LifeWorkers,
  to: Printer,
): Promise<void> {
  const { seed } = failed;
  const ids = idsOf(planOfLife(seed, wholeLife(options)));
  const { without, result, lives } = await shrinkLife(failed, ids, {
    atOnce: options.jobs,
    livesMax: livesPerShrinkingMax,
    live: async (attempts) => {
      const results: LifeResult[] = [];
      const requests = attempts.map((each) => ({
        seed,
        options: { ...wholeLife(options), without: each },
      }));
      await liveAll(requests, workers, (each) => results.push(each));
      return results;
    },
  });
  const size = `${ids.length - without.length} of ${ids.length} events`;
  to.line(`smallest form of seed ${seed}, ${size}, found in ${lives} lives:`);
  for (const line of (result.failure ?? "").split("\n")) to.line(`  ${line}`);
  for (const event of result.events) to.line(`  ${event}`);
  to.line(`  again: ${commandOf(seed, options, without)}`);
}

function wholeLife({
  steps,
  faults,
  backups = false,
}: SimulateOptions): Pick<LifeOptions, "steps" | "faults" | "backups"> {
  return { steps, faults, backups };
}

function commandOf(
  seed: number,
  { steps, faults, backups }: SimulateOptions,
  without: readonly string[],
): string {
  return [
    `fdb-operator simulate --seed ${seed} --steps ${steps}`,
    ...(backups === true ? ["--backups"] : []),
    ...(faults === undefined
      ? []
      : [`--faults ${faults.length === 0 ? "none" : faults.join(",")}`]),
    without.length === 0 ? "--seeds 1" : `--without ${without.join(",")}`,
  ].join(" ");
}
