// What is said of a metric before it has any value: the registry is filled by it, and the manual, dashboards and rules are
// judged by it. Rules: spec/monitoring.md [MON2].

export interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Of the buckets of a histogram. */
  readonly bounds?: readonly number[];
}

export function counterOf(
  name: string,
  help: string,
  labels: readonly string[] = [],
): MetricDescription {
  return { name, type: "counter", help, labels };
}

export function gaugeOf(
  name: string,
  help: string,
  labels: readonly string[] = [],
): MetricDescription {
  return { name, type: "gauge", help, labels };
}

export function histogramOf(
  name: string,
  help: string,
  bounds: readonly number[],
  labels: readonly string[] = [],
): MetricDescription {
  return { name, type: "histogram", help, labels, bounds };
}
