// Numbers about the running operator in Prometheus' text form. A series whose label values are known exists
// with 0 from the start, so that rates and alerts work before the first event. Carries rules KUBE72 to KUBE76.

export type Labels = Readonly<Record<string, string>>;
/** The values that each label can have; an empty list means that they come with the work. */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

export interface Metric {
  readonly name: string;
  readonly text: () => string[];
}

/** What the three kinds of metric share: a number of series, told apart by their labels. */
class Series<T> {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly #labelNames: readonly string[];
  readonly #make: () => T;
  readonly #series = new Map<string, { labels: Labels; state: T }>();

  constructor(name: string, help: string, type: string, labels: LabelValues, make: () => T) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#labelNames = Object.keys(labels);
    this.#make = make;
    for (const combination of combinations(labels)) this.of(combination);
  }

  of(labels: Labels): T {
    const key = JSON.stringify(this.#labelNames.map((name) => labels[name] ?? ""));
    const known = this.#series.get(key);
    if (known !== undefined) return known.state;
    for (const name of Object.keys(labels)) {
      if (!this.#labelNames.includes(name)) throw new Error(`${this.name} has no label ${name}`);
    }
    const whole = Object.fromEntries(this.#labelNames.map((name) => [name, labels[name] ?? ""]));
    const state = this.#make();
    this.#series.set(key, { labels: whole, state });
    return state;
  }

  /** Drops all series with these label values, for example those of a deleted cluster. */
  remove(labels: Labels): void {
    for (const [key, { labels: held }] of this.#series) {
      if (Object.entries(labels).every(([name, value]) => held[name] === value)) {
        this.#series.delete(key);
      }
    }
  }

  /** The states of all series with these label values. */
  matching(labels: Labels): T[] {
    return [...this.#series.values()]
      .filter(({ labels: held }) =>
        Object.entries(labels).every(([name, value]) => held[name] === value),
      )
      .map(({ state }) => state);
  }

  lines(print: (labels: Labels, state: T) => string[]): string[] {
    const head = [
      `# HELP ${this.name} ${escapeHelp(this.help)}`,
      `# TYPE ${this.name} ${this.type}`,
    ];
    const body = [...this.#series.values()].flatMap(({ labels, state }) => print(labels, state));
    return [...head, ...body];
  }
}

export class Counter implements Metric {
  readonly #series: Series<{ value: number }>;

  constructor(name: string, help: string, labels: LabelValues) {
    this.#series = new Series(name, help, "counter", labels, () => ({ value: 0 }));
  }

  get name(): string {
    return this.#series.name;
  }

  add(labels: Labels = {}, amount = 1): void {
    if (amount < 0) throw new RangeError(`${this.name} only counts up`);
    this.#series.of(labels).value += amount;
  }

  /** The sum over all series with these label values. */
  total(labels: Labels = {}): number {
    return this.#series.matching(labels).reduce((sum, { value }) => sum + value, 0);
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  text(): string[] {
    return this.#series.lines((labels, { value }) => [sample(this.name, labels, value)]);
  }
}

export class Gauge implements Metric {
  readonly #series: Series<{ value: number }>;

  constructor(name: string, help: string, labels: LabelValues) {
    this.#series = new Series(name, help, "gauge", labels, () => ({ value: 0 }));
  }

  get name(): string {
    return this.#series.name;
  }

  set(labels: Labels, value: number): void {
    this.#series.of(labels).value = value;
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  text(): string[] {
    return this.#series.lines((labels, { value }) => [sample(this.name, labels, value)]);
  }
}

interface HistogramState {
  counts: number[];
  sum: number;
  count: number;
}

export class Histogram implements Metric {
  readonly #series: Series<HistogramState>;
  readonly #bounds: readonly number[];

  constructor(name: string, help: string, bounds: readonly number[], labels: LabelValues) {
    this.#bounds = bounds;
    const make = (): HistogramState => ({ counts: bounds.map(() => 0), sum: 0, count: 0 });
    this.#series = new Series(name, help, "histogram", labels, make);
  }

  get name(): string {
    return this.#series.name;
  }

  observe(labels: Labels, value: number): void {
    const state = this.#series.of(labels);
    state.sum += value;
    state.count += 1;
    this.#bounds.forEach((bound, index) => {
      if (value <= bound) state.counts[index] = (state.counts[index] ?? 0) + 1;
    });
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  text(): string[] {
    return this.#series.lines((labels, state) => [
      ...this.#bounds.map((bound, index) =>
        sample(`${this.name}_bucket`, { ...labels, le: String(bound) }, state.counts[index] ?? 0),
      ),
      sample(`${this.name}_bucket`, { ...labels, le: "+Inf" }, state.count),
      sample(`${this.name}_sum`, labels, state.sum),
      sample(`${this.name}_count`, labels, state.count),
    ]);
  }
}

export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>();
  readonly #collectors: (() => void)[] = [];

  counter(name: string, help: string, labels: LabelValues = {}): Counter {
    return this.#add(new Counter(name, help, labels));
  }

  gauge(name: string, help: string, labels: LabelValues = {}): Gauge {
    return this.#add(new Gauge(name, help, labels));
  }

  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    labels: LabelValues = {},
  ): Histogram {
    return this.#add(new Histogram(name, help, bounds, labels));
  }

  /** Called before each exposition, to set gauges from the present state. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  text(): string {
    for (const collect of this.#collectors) collect();
    const lines = [...this.#metrics.values()].flatMap((metric) => metric.text());
    return lines.map((line) => `${line}\n`).join("");
  }

  #add<T extends Metric>(metric: T): T {
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(metric.name)) {
      throw new Error(`${metric.name} is no name for a metric`);
    }
    if (this.#metrics.has(metric.name)) throw new Error(`${metric.name} is registered already`);
    this.#metrics.set(metric.name, metric);
    return metric;
  }
}

/** All combinations of the known label values; none when a label's values are not known. */
function combinations(labels: LabelValues): Labels[] {
  let found: Labels[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    found = found.flatMap((labelled) => values.map((value) => ({ ...labelled, [name]: value })));
  }
  return found;
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
