// What `npm start` shows while it works, as pure functions: state in, lines out. Rules: spec/cli.md.
import { styleText } from "node:util";

export interface ProgressState {
  name: string;
  version: string;
  redundancyMode: string;
  /** Virtual time since the world started. */
  elapsedMs: number;
  classes: readonly ClassProgress[];
  conditions: readonly { type: string; status: string; reason: string; message: string }[];
  waits: readonly { step: string; reason: string; message: string; waitedMs: number }[];
  /** The newest last. */
  actions: readonly string[];
}

export interface ClassProgress {
  processClass: string;
  desired: number;
  ready: number;
  /** Condition name to number of process groups that have it. */
  troubles: Readonly<Record<string, number>>;
}

export interface ViewOptions {
  width: number;
  hasColor: boolean;
  actionsMax?: number;
}

type Style = Parameters<typeof styleText>[0];

function painter({ hasColor }: ViewOptions): (style: Style, text: string) => string {
  return (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text);
}

export function renderProgress(state: ProgressState, options: ViewOptions): string[] {
  const paint = painter(options);
  const lines = [
    clip(
      [
        paint("bold", state.name),
        state.version,
        state.redundancyMode,
        formatElapsed(state.elapsedMs),
      ].join("  "),
      options,
    ),
    "",
    ...state.classes.map((entry) => renderClass(entry, options, paint)),
    "",
    ...state.conditions.map((entry) => renderCondition(entry, options, paint)),
  ];
  const actions = state.actions.slice(-(options.actionsMax ?? 4));
  if (actions.length > 0) {
    lines.push("", ...actions.map((text) => clip(`  ${paint("cyan", "did  ")}  ${text}`, options)));
  }
  if (state.waits.length > 0) lines.push("");
  for (const wait of state.waits.slice(0, 4)) {
    const since = wait.waitedMs >= 1000 ? ` (${formatElapsed(wait.waitedMs)})` : "";
    lines.push(
      clip(`  ${paint("yellow", "waits")}  ${wait.step}: ${wait.message}${since}`, options),
    );
  }
  return lines;
}

/** Several clusters at once: a line for the whole of each, and for what it did last and waits for. */
export function renderBrief(state: ProgressState, options: ViewOptions): string[] {
  const paint = painter(options);
  const classes = state.classes.map(
    ({ processClass, ready, desired }) => `${processClass} ${ready} of ${desired}`,
  );
  const head = [paint("bold", state.name), state.version, state.redundancyMode, ...classes];
  const did = state.actions.slice(-2).map((text) => `  ${paint("cyan", "did  ")}  ${text}`);
  const waits = state.waits
    .slice(0, 2)
    .map((wait) => `  ${paint("yellow", "waits")}  ${wait.message} (${wait.step})`);
  return [head.join("  "), ...did, ...waits].map((line) => clip(line, options));
}

/** A narrow terminal gets narrow columns, so that the counts stay in sight. */
function layout({ width }: ViewOptions): { nameWidth: number; barWidth: number; barMax: number } {
  return width < 60
    ? { nameWidth: 12, barWidth: 12, barMax: 12 }
    : { nameWidth: 18, barWidth: 20, barMax: 30 };
}

function renderClass(
  entry: ClassProgress,
  options: ViewOptions,
  paint: (style: Style, text: string) => string,
): string {
  const { nameWidth, barWidth, barMax } = layout(options);
  const shown = Math.min(entry.desired, barMax);
  const full = entry.desired === 0 ? 0 : Math.floor((entry.ready / entry.desired) * shown);
  const bar = paint("green", "●".repeat(full)) + paint("gray", "○".repeat(shown - full));
  const troubles = Object.entries(entry.troubles)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
  const counts = `${entry.ready} of ${entry.desired}`;
  const text = `  ${entry.processClass.padEnd(nameWidth)} ${bar}${" ".repeat(Math.max(1, barWidth - shown))}${counts}`;
  return clip(troubles === "" ? text : `${text}  ${paint("yellow", troubles)}`, options);
}

function renderCondition(
  entry: ProgressState["conditions"][number],
  options: ViewOptions,
  paint: (style: Style, text: string) => string,
): string {
  const isGood =
    (entry.status === "True") === (entry.type !== "Degraded" && entry.type !== "Progressing");
  const mark = paint(isGood ? "green" : "yellow", entry.status.padEnd(8));
  const name = entry.type.padEnd(layout(options).nameWidth);
  return clip(`  ${name} ${mark} ${entry.reason}: ${entry.message}`, options);
}

export function formatElapsed(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const minutesText = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? minutesText : `${Math.floor(seconds / 3600)}:${minutesText}`;
}

/** Cuts a line to the terminal's width, counting only what is visible. */
export function clip(text: string, options: ViewOptions): string {
  let visible = 0;
  let index = 0;
  while (index < text.length && visible < options.width) {
    // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
    const escape = /^\u001b\[[0-9;]*m/.exec(text.slice(index, index + 12));
    if (escape !== null) {
      index += escape[0].length;
      continue;
    }
    index += 1;
    visible += 1;
  }
  if (index >= text.length) return text;
  return options.hasColor ? `${text.slice(0, index)}\u001b[0m` : text.slice(0, index);
}
