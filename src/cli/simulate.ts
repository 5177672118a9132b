// `fdb-operator simulate`: lives of clusters in virtual time, each drawn from a seed, with everything that may go wrong.
// Rules: spec/world.md [W69].
import { machineRandom, randomInteger } from "../env/random.ts";
import type { LifeResult } from "../sim/workloads/life-walk.ts";
import { liveAll, serveLives } from "./life-workers.ts";
import type { LifeRequest } from "./life-workers.ts";

export interface SimulateOptions {
  /** How many seeds, counted up from the first. */
  seeds: number;
  /** The first of them; drawn when absent. */
  seed?: number;
  /** Random things that happen in each life. */
  steps: number;
  /** How many lives are lived at once. */
  jobs: number;
}

export interface SimulateOutcome {
  passed: number;
  failed: number;
}

export async function runSimulate(options: SimulateOptions): Promise<void> {
  if (serveLives()) return;
  const entry = process.argv[1] ?? "";
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const { failed } = await simulate(options, print, entry);
  if (failed > 0) process.exitCode = 1;
}

export async function simulate(
  { seeds, seed, steps, jobs }: SimulateOptions,
  print: (line: string) => void,
  entry: string,
): Promise<SimulateOutcome> {
  const first = seed ?? randomInteger(machineRandom(), 1, 1_000_000);
  print(`seed ${first}`);
  const requests = Array.from({ length: seeds }, (_, index): LifeRequest => ({
    seed: first + index,
    options: { steps },
  }));
  let passed = 0;
  await liveAll(requests, { entry, count: jobs }, (result) => {
    print(lineOf(result));
    if (result.failure === undefined) passed += 1;
    else printFailure(result, print);
  });
  const failed = seeds - passed;
  print(`${passed} passed, ${failed} failed`);
  return { passed, failed };
}

function lineOf({ seed, shape, failure, events, virtualMinutes, hash }: LifeResult): string {
  const { kind, nodes, members } = shape;
  const { imageType, databaseConfiguration } = members[0].spec;
  const mode = kind === "one resource" ? databaseConfiguration?.redundancy_mode : kind;
  const verdict = failure === undefined ? "ok    " : "FAILED";
  const what = `${mode} ${imageType} on ${nodes} nodes, ${events.length} events`;
  return `${seed} ${verdict} ${what}, ${virtualMinutes} virtual minutes, history ${hash.slice(0, 12)}`;
}

const keptLines = 40;

function printFailure(result: LifeResult, print: (line: string) => void): void {
  const { failure = "", shape, events, lastLines } = result;
  for (const line of failure.split("\n")) print(`  ${line}`);
  for (const { name, spec } of shape.members) print(`  ${name} ${JSON.stringify(spec)}`);
  for (const event of events) print(`  ${event}`);
  for (const line of lastLines.slice(-keptLines)) print(`  | ${line.slice(0, 300)}`);
}
