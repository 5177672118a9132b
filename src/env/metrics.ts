// Numbers about the running operator in Prometheus' text form. A series whose label values are known exists
// with 0 from the start, so that rates and alerts work before the first event. Carries rules KUBE72 to KUBE76.
import type { MetricDescription } from "./metric-description.ts";

export type Labels = Readonly<Record<string, string>>;
/** The values that labels can have; those of a label that is not here, or has none here, come with the work. */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

export interface Metric {
  readonly name: string;
  readonly text: () => string[];
}

/** What the three kinds of metric share: a number of series, told apart by their labels. */
class Series<T> {
  readonly description: MetricDescription;
  readonly #make: () => T;
  readonly #series = new Map<string, { labels: Labels; state: T }>();

  constructor(description: MetricDescription, values: LabelValues, make: () => T) {
    this.description = description;
    this.#make = make;
    for (const name of Object.keys(values)) this.#demand(name);
    for (const combination of combinations(description.labels, values)) this.of(combination);
  }

  get name(): string {
    return this.description.name;
  }

  of(labels: Labels): T {
    const { labels: names } = this.description;
    let key = "";
    for (const name of names) key += `${labels[name] ?? ""}\0`;
    const known = this.#series.get(key);
    if (known !== undefined) return known.state;
    for (const name of Object.keys(labels)) this.#demand(name);
    const whole = Object.fromEntries(names.map((name) => [name, labels[name] ?? ""]));
    const state = this.#make();
    this.#series.set(key, { labels: whole, state });
    return state;
  }

  #demand(label: string): void {
    if (this.description.labels.includes(label)) return;
    throw new Error(`${this.name} has no label ${label}`);
  }

  /** Drops all series with these label values, for example those of a deleted cluster. */
  remove(labels: Labels): void {
    const wanted = Object.entries(labels);
    for (const [key, { labels: held }] of this.#series) {
      if (wanted.every(([name, value]) => held[name] === value)) this.#series.delete(key);
    }
  }

  /** The sum over all series with these label values. */
  sum(labels: Labels, valueOf: (state: T) => number): number {
    const names = Object.keys(labels);
    let sum = 0;
    for (const { labels: held, state } of this.#series.values()) {
      if (names.every((name) => held[name] === labels[name])) sum += valueOf(state);
    }
    return sum;
  }

  lines(print: (labels: Labels, state: T) => string[]): string[] {
    const head = headOf(this.description);
    const body = [...this.#series.values()].flatMap(({ labels, state }) => print(labels, state));
    return [...head, ...body];
  }
}

export class Counter implements Metric {
  readonly #series: Series<{ value: number }>;

  constructor(description: MetricDescription, values: LabelValues) {
    this.#series = new Series(description, values, () => ({ value: 0 }));
  }

  get name(): string {
    return this.#series.name;
  }

  add(labels: Labels = {}, amount = 1): void {
    if (amount < 0) throw new RangeError(`${this.name} only counts up`);
    this.#series.of(labels).value += amount;
  }

  /** The one series with these labels, for who counts in it again and again; it must not be removed. */
  series(labels: Labels): { value: number } {
    return this.#series.of(labels);
  }

  /** The sum over all series with these label values. */
  total(labels: Labels = {}): number {
    return this.#series.sum(labels, ({ value }) => value);
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

  constructor(description: MetricDescription, values: LabelValues) {
    this.#series = new Series(description, values, () => ({ value: 0 }));
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

  constructor(description: MetricDescription, values: LabelValues) {
    const { bounds = [] } = description;
    this.#bounds = bounds;
    const make = (): HistogramState => ({ counts: bounds.map(() => 0), sum: 0, count: 0 });
    this.#series = new Series(description, values, make);
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

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

class SampledGauge implements Metric {
  readonly #description: MetricDescription;
  readonly #samples: () => Iterable<Sample>;

  constructor(description: MetricDescription, samples: () => Iterable<Sample>) {
    this.#description = description;
    this.#samples = samples;
  }

  get name(): string {
    return this.#description.name;
  }

  text(): string[] {
    const lines = headOf(this.#description);
    for (const { labels, value } of this.#samples()) lines.push(sample(this.name, labels, value));
    return lines;
  }
}

export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>();
  readonly #collectors: (() => void)[] = [];

  counter(description: MetricDescription, values: LabelValues = {}): Counter {
    return this.#add(new Counter(ofType(description, "counter"), values));
  }

  gauge(description: MetricDescription, values: LabelValues = {}): Gauge {
    return this.#add(new Gauge(ofType(description, "gauge"), values));
  }

  histogram(description: MetricDescription, values: LabelValues = {}): Histogram {
    return this.#add(new Histogram(ofType(description, "histogram"), values));
  }

  /** A gauge that remembers nothing: its samples are made whenever they are asked for. */
  sampled(description: MetricDescription, samples: () => Iterable<Sample>): void {
    this.#add(new SampledGauge(ofType(description, "gauge"), samples));
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

function ofType(
  description: MetricDescription,
  type: MetricDescription["type"],
): MetricDescription {
  if (description.type === type) return description;
  throw new Error(`${description.name} is a ${description.type}, not a ${type}`);
}

function headOf({ name, help, type }: MetricDescription): string[] {
  return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
}

/** All combinations of the known label values; none when a label's values are not known. */
function combinations(names: readonly string[], values: LabelValues): Labels[] {
  let found: Labels[] = [{}];
  for (const name of names) {
    const known = values[name] ?? [];
    found = found.flatMap((labelled) => known.map((value) => ({ ...labelled, [name]: value })));
  }
  return found;
}

/** There are thousands of these in one look, so nothing is made that is not needed. */
function sample(name: string, labels: Labels, value: number): string {
  let pairs = "";
  for (const label in labels) {
    const pair = `${label}="${escapeLabel(labels[label] ?? "")}"`;
    pairs = pairs === "" ? pair : `${pairs},${pair}`;
  }
  return pairs === "" ? `${name} ${value}` : `${name}{${pairs}} ${value}`;
}

function escapeLabel(text: string): string {
  if (!/["\\\n]/.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
