// What will happen in a life, drawn from its seed before it begins: an ordered list whose entries each draw from a
// generator of their own, so that leaving one out changes nothing about the others. Rules: spec/world.md [W69], [W110].
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomPick } from "../../env/random.ts";
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
}

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
  trouble: 0.12,
} as const;

export type LifeAct = keyof typeof shares;

const pausesMs = [1_000, 10_000, 30_000, 90_000, 240_000];

export function lifePlanOf(
  seed: number,
  steps: number,
  without: ReadonlySet<string> = new Set(),
): readonly LifeStep[] {
  return Array.from({ length: steps }, (_, index): LifeStep => {
    const id = String(index + 1);
    const random = keyedRandom(seed, `step ${id}`);
    return {
      ...{ id, random, act: actOf(random.next()), isLeftOut: without.has(id) },
      pauseMs: randomPick(keyedRandom(seed, `pause ${id}`), pausesMs),
    };
  });
}

function actOf(chance: number): LifeAct {
  let sum = 0;
  for (const [act, share] of Object.entries(shares)) {
    sum += share;
    if (chance < sum) return act as LifeAct;
  }
  return "wish";
}
