// Counts how long a database accepted no commits by the operator's hand: each time without commits belongs to the act that
// came before it. Where somebody else did something, or something was broken, nobody can tell whose it was: that is not
// counted. Rules: spec/world.md [W142].
import type { DatabaseTruth } from "../database/simulated-fdb.ts";

type Recovery = DatabaseTruth["recoveries"][number];

export const actKinds = [
  "restart",
  "configuration",
  "coordinators",
  "exclusion",
  "inclusion",
  "pods",
  "none",
] as const;
/** What the operator did; "none": the database recovered by itself, for example for better processes. */
export type ActKind = (typeof actKinds)[number];

export interface StallSum {
  /** How often it was done while nobody else disturbed the database. */
  acts: number;
  recoveries: number;
  /** Without commits. */
  ms: number;
}

export type Stalls = Readonly<Record<ActKind, StallSum>>;

/** An act is felt for so long: a pod takes its time to end. */
const feltMs: Readonly<Record<ActKind, number>> = {
  ...{ restart: 15_000, configuration: 15_000, coordinators: 15_000, exclusion: 15_000 },
  ...{ inclusion: 15_000, pods: 90_000, none: 0 },
};
const longestMs = feltMs.pods;
/** Acts of one kind so close to each other are one: pods that go together, a command that is given again. */
const sameActMs = 1_000;

export function noStalls(): Record<ActKind, StallSum> {
  const sums = actKinds.map((kind) => [kind, { acts: 0, recoveries: 0, ms: 0 }]);
  return Object.fromEntries(sums) as Record<ActKind, StallSum>;
}

export function addStalls(to: Record<ActKind, StallSum>, more: Stalls): void {
  for (const kind of actKinds) {
    const [sum, added] = [to[kind], more[kind]];
    to[kind] = {
      acts: sum.acts + added.acts,
      recoveries: sum.recoveries + added.recoveries,
      ms: sum.ms + added.ms,
    };
  }
}

export class StallWatch {
  readonly sums = noStalls();
  readonly #isDisturbed: (fromMs: number, toMs: number) => boolean;
  #acts: { kind: ActKind; atMs: number }[] = [];
  /** By database: recoveries that have been counted. */
  readonly #counted = new WeakMap<object, number>();

  /** `isDisturbed`: whether somebody else had a hand in it between the two times. */
  constructor(isDisturbed: (fromMs: number, toMs: number) => boolean) {
    this.#isDisturbed = isDisturbed;
  }

  noteAct(kind: ActKind, atMs: number): void {
    const known = this.#acts.findLast((act) => act.kind === kind);
    this.#acts = this.#acts.filter((act) => atMs - act.atMs <= 2 * longestMs);
    this.#acts.push({ kind, atMs });
    if (known !== undefined && atMs - known.atMs < sameActMs) return;
    if (!this.#isDisturbed(atMs, atMs)) this.sums[kind].acts += 1;
  }

  /** To be called now and then with all recoveries of a database; the first is its creation. */
  look(recoveries: readonly Recovery[]): void {
    let counted = this.#counted.get(recoveries) ?? 1;
    while (counted < recoveries.length) {
      const end = recoveries.findIndex(
        (each, index) => index >= counted && each.acceptedMs !== undefined,
      );
      if (end === -1) break;
      this.#count(recoveries.slice(counted, end + 1));
      counted = end + 1;
    }
    this.#counted.set(recoveries, counted);
  }

  /** One time without commits: recoveries that were given up for another one, and the one that came through. */
  #count(records: readonly Recovery[]): void {
    const { stalledSinceMs: fromMs = 0 } = records[0] ?? {};
    const { acceptedMs: toMs = fromMs } = records.at(-1) ?? {};
    const cause = this.#acts.findLast(
      ({ kind, atMs }) => atMs <= toMs && fromMs - atMs <= feltMs[kind],
    );
    if (this.#isDisturbed(Math.min(fromMs, cause?.atMs ?? fromMs), toMs)) return;
    const sum = this.sums[cause?.kind ?? "none"];
    sum.recoveries += records.length;
    sum.ms += toMs - fromMs;
  }
}
