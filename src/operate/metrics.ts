// Counters of what the operator did. All of them exist at 0 from the start, so that rates do.

const counterNames = [
  "passes",
  "passesFailed",
  "actions",
  "actionsFailed",
  "actionsRefused",
  "statusWrites",
  "statusConflicts",
  "invalidSpecs",
] as const;

export type CounterName = (typeof counterNames)[number];
export type Counters = Readonly<Record<CounterName, number>>;

export class Metrics {
  readonly #counters = Object.fromEntries(counterNames.map((name) => [name, 0])) as Record<
    CounterName,
    number
  >;

  count(name: CounterName, amount = 1): void {
    this.#counters[name] += amount;
  }

  counters(): Counters {
    return { ...this.#counters };
  }
}
