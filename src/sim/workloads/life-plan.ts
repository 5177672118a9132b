// What will happen in a life, drawn from its seed before it begins: an ordered list whose entries each draw from a
// generator of their own, so that leaving one out changes nothing about the others. Rules: spec/world.md [W69], [W110].
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";

export interface LifeStep {
  /** What it is left out by: its place in the life, counted from one. */
  id: string;
  act: LifeAct;
  /** Of everything that the act draws. */
  random: Random;
  /** How long the world goes on before the next step. */
  pauseMs: number;
  /** Left out: only the pause is kept. */
  isLeftOut: boolean;
  /** What goes wrong from this step on. */
  faults: readonly PlannedFault[];
}

/** Something that goes wrong beside the steps, for one or several of them. */
export interface PlannedFault {
  /** Its name and the number of the step that it begins with, such as quota7. */
  id: string;
  name: string;
  random: Random;
  /** For so many steps. */
  steps: number;
}

export interface PlanOptions {
  steps: number;
  /** Whether backups and restores are among what happens. */
  backups?: boolean | undefined;
  /** Names of the faults that may happen. */
  faults: readonly string[];
  /** Ids of what is left out. */
  without?: readonly string[];
}

/** Of a fault to begin with a step: there are some twenty of them, and a life should see a few. */
const faultChance = 0.012;
const faultStepsMax = 4;

/** Acts, each with its share of the steps. */
const shares = {
  wish: 0.5,
  crash: 0.15,
  person: 0.07,
  "foreign lock": 0.06,
  "take back": 0.04,
  "absurd wish": 0.02,
  clock: 0.02,
  "bad knob": 0.02,
  trouble: 0.1,
  "all but the disks": 0.02,
} as const;

/** The same where there are backups. */
const sharesWithBackups = {
  wish: 0.16,
  crash: 0.12,
  person: 0.03,
  "foreign lock": 0.02,
  "take back": 0.02,
  "absurd wish": 0.01,
  clock: 0.02,
  "bad knob": 0.01,
  trouble: 0.09,
  "a backup": 0.1,
  "another wish of a backup": 0.12,
  "two wishes of a backup": 0.04,
  "the end of a backup": 0.05,
  "a restore": 0.12,
  "the end of a restore": 0.04,
  "a loss": 0.03,
  "another copy": 0.02,
} as const;

export type LifeAct = keyof typeof shares | keyof typeof sharesWithBackups;

const pausesMs = [1_000, 10_000, 30_000, 90_000, 240_000];

export function lifePlanOf(
  seed: number,
  { steps, faults, without = [], backups = false }: PlanOptions,
): readonly LifeStep[] {
  const leftOut = new Set(without);
  const acts = Object.entries(backups ? sharesWithBackups : shares) as [LifeAct, number][];
  return Array.from({ length: steps }, (_, index): LifeStep => {
    const id = String(index + 1);
    const random = keyedRandom(seed, `step ${id}`);
    return {
      ...{ id, random, act: actOf(acts, random.next()), isLeftOut: leftOut.has(id) },
      pauseMs: randomPick(keyedRandom(seed, `pause ${id}`), pausesMs),
      faults: faultsOf(seed, id, faults).filter((fault) => !leftOut.has(fault.id)),
    };
  });
}

/** Each draws for itself: a fault that is new changes nothing about the others. */
function faultsOf(seed: number, step: string, names: readonly string[]): PlannedFault[] {
  return names.flatMap((name) => {
    const random = keyedRandom(seed, `fault ${step} ${name}`);
    if (random.next() >= faultChance) return [];
    const id = `${name}${step}`;
    return [{ id, name, random, steps: randomInteger(random, 1, faultStepsMax) }];
  });
}

/** Everything that can be left out of it. */
export function idsOf(plan: readonly LifeStep[]): string[] {
  return plan.flatMap(({ id, faults }) => [...faults.map((fault) => fault.id), id]);
}

function actOf(acts: readonly [LifeAct, number][], chance: number): LifeAct {
  let sum = 0;
  for (const [act, share] of acts) {
    sum += share;
    if (chance < sum) return act;
  }
  return "wish";
}
