// What an alarm is made of, and how its durations are written. Rules files, unit tests and the list in the manual come from it.

/** Durations of a rule. A run against an accelerated world has them shorter by a factor. */
export interface Durations {
  /** As PromQL writes it, for ranges and for `for`. */
  span(minutes: number): string;
  /** As a number, for predictions. */
  seconds(minutes: number): number;
}

export function durations(factor = 1): Durations {
  const milliseconds = (minutes: number): number => Math.round((minutes * 60_000) / factor);
  return {
    span: (minutes) => spanText(milliseconds(minutes)),
    seconds: (minutes) => milliseconds(minutes) / 1000,
  };
}

function spanText(ms: number): string {
  if (ms === 0) return "0s";
  for (const [unit, length] of [
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ] as const) {
    if (ms % length === 0) return `${ms / length}${unit}`;
  }
  return `${ms}ms`;
}

/** Values of a series, one a minute, in promtool's notation. */
export type SeriesValues = Readonly<Record<string, string>>;

export interface AlarmProof {
  readonly title: string;
  readonly series: SeriesValues;
  /** When it is looked at. */
  readonly atMinutes: number;
}

export interface Alarm {
  readonly name: string;
  readonly severity: "critical" | "warning";
  /** How long the expression has to hold. */
  readonly forMinutes: number;
  readonly expression: (time: Durations) => string;
  /** One sentence for a person who was woken up, with labels in it. */
  readonly summary: string;
  /** Labels that the alarm has. */
  readonly labels: Readonly<Record<string, string>>;
  /** With what it says then. */
  readonly fires: readonly (AlarmProof & {
    readonly says: string;
    /** Where it has others. */
    readonly labels?: Readonly<Record<string, string>>;
  })[];
  readonly quiet: readonly AlarmProof[];
}

export interface RecordingRule {
  readonly record: string;
  readonly labels: readonly string[];
  readonly expression: (time: Durations) => string;
}

/** Labels that an alarm of a cluster or a backup has in its proofs. */
export const ofCluster: Readonly<Record<string, string>> = { namespace: "shop", name: "orders" };
export const cluster = 'namespace="shop",name="orders"';
/** Alarms tell a resource once, however many instances of the operator serve its figures. */
export const each = "by (namespace, name)";
export const same = "on (namespace, name)";
/** Alarms of the operator tell a deployment once. */
export const deployment = "by (namespace, job)";
export const ofDeployment: Readonly<Record<string, string>> = { namespace: "fdb", job: "operator" };
export const operator = 'namespace="fdb",job="operator"';
