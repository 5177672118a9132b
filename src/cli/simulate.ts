// `fdb-operator simulate`: lives of clusters in virtual time, each drawn from a seed, with everything that may go wrong.
// Rules: spec/world.md [W69].
import { machineRandom, randomInteger } from "../env/random.ts";
import { walkLife } from "../sim/workloads/life-walk.ts";
import type { LifeOptions, LifeResult } from "../sim/workloads/life-walk.ts";

export interface SimulateOptions {
  /** How many seeds, one after the other. */
  seeds: number;
  /** The first of them; drawn when absent. */
  seed?: number;
  /** Random things that happen in each life. */
  steps: number;
}

export interface SimulateOutcome {
  passed: number;
  failed: number;
}

export async function runSimulate(options: SimulateOptions): Promise<void> {
  const { failed } = await simulate(options, (line) => process.stdout.write(`${line}\n`));
  if (failed > 0) process.exitCode = 1;
}

export async function simulate(
  { seeds, seed, steps }: SimulateOptions,
  print: (line: string) => void,
  life: LifeOptions = {},
): Promise<SimulateOutcome> {
  const first = seed ?? randomInteger(machineRandom(), 1, 1_000_000);
  print(`seed ${first}`);
  let passed = 0;
  for (let number = first; number < first + seeds; number += 1) {
    const result = await walkLife(number, { steps, ...life });
    print(lineOf(result));
    if (result.failure === undefined) passed += 1;
    else printFailure(result, print);
  }
  const failed = seeds - passed;
  print(`${passed} passed, ${failed} failed`);
  return { passed, failed };
}

function lineOf({ seed, shape, failure, events, virtualMinutes, hash }: LifeResult): string {
  const { spec, nodes } = shape;
  const mode = spec.databaseConfiguration?.redundancy_mode ?? "";
  const verdict = failure === undefined ? "ok    " : "FAILED";
  const what = `${mode} ${spec.imageType} on ${nodes} nodes, ${events.length} events`;
  return `${seed} ${verdict} ${what}, ${virtualMinutes} virtual minutes, history ${hash.slice(0, 12)}`;
}

const keptLines = 40;

function printFailure(result: LifeResult, print: (line: string) => void): void {
  const { failure = "", shape, events, lastLines } = result;
  for (const line of failure.split("\n")) print(`  ${line}`);
  print(`  spec ${JSON.stringify(shape.spec)}`);
  for (const event of events) print(`  ${event}`);
  for (const line of lastLines.slice(-keptLines)) print(`  | ${line.slice(0, 300)}`);
}
