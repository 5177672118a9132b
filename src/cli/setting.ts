// One setting of `fdb-operator run`: its flag, its environment variable, its default and how its text is read. Flags,
// help and the reference page all come from this. Rules: spec/run.md [RUN1]-[RUN3].
import { parseDurationMs } from "../env/parse-duration.ts";

export interface Setting<T> {
  readonly flag: string;
  readonly environment: string;
  /** As a person would write it; the empty text stands for nothing. */
  readonly fallback: string;
  readonly meaning: string;
  /** What stands for the value in the help; undefined for one that is on or off. */
  readonly form: string | undefined;
  /** Not shown to people: only tests have a use for it. */
  readonly isHidden?: boolean;
  /** Throws SettingError with what is expected. */
  readonly read: (text: string) => T;
}

/** What is wrong with a value, as the end of a sentence that begins with its name. */
export class SettingError extends Error {}

type Described = Pick<Setting<unknown>, "flag" | "fallback" | "meaning"> & {
  environment?: string;
  isHidden?: boolean;
};

function setting<T>(
  { environment, ...described }: Described,
  form: string | undefined,
  read: (text: string) => T,
): Setting<T> {
  const usual = `FDB_OPERATOR_${described.flag.toUpperCase().replaceAll("-", "_")}`;
  return { ...described, environment: environment ?? usual, form, read };
}

export function text(described: Described, form = "text"): Setting<string> {
  return setting(described, form, (value) => value.trim());
}

export function onOrOff(described: Described): Setting<boolean> {
  return setting(described, undefined, (value) => {
    if (["true", "1", "t"].includes(value.toLowerCase())) return true;
    if (["false", "0", "f"].includes(value.toLowerCase())) return false;
    throw new SettingError("must be true or false");
  });
}

export function choice<const T extends string>(
  described: Described,
  values: readonly T[],
): Setting<T> {
  return setting(described, values.join("|"), (value) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw new SettingError(`must be one of ${values.join(", ")}`);
    return found;
  });
}

export function count(described: Described, from: number, to: number): Setting<number> {
  return setting(described, "number", (value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < from || number > to || value.trim() === "") {
      throw new SettingError(`must be a whole number from ${from} to ${to}`);
    }
    return number;
  });
}

/** Undefined when the text is empty. */
export function limit(described: Described): Setting<number | undefined> {
  return setting(described, "number", (value) => {
    if (value === "") return undefined;
    const number = Number(value);
    if (!Number.isFinite(number) || number <= 0) throw new SettingError("must be a number above 0");
    return number;
  });
}

/** Names with commas between them; none when the text is empty. */
export function names(described: Described): Setting<readonly string[]> {
  return setting(described, "names", (value) =>
    value
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );
}

/** A plain number counts as seconds, as some flags of the Go operator have it. */
export function duration(described: Described, fromMs = 0): Setting<number> {
  return setting(described, "duration", (value) => {
    const durationMs = parseDurationMs(value);
    if (durationMs === undefined) {
      throw new SettingError("must be a duration such as 500ms, 15s, 1m30s or 4h");
    }
    if (durationMs < fromMs) throw new SettingError(`must be at least ${fromMs} ms`);
    return durationMs;
  });
}

/** Undefined for "0", which means no listener at all. */
export function address(described: Described): Setting<ListenAddress | undefined> {
  return setting(described, "address", (value) => {
    if (value === "0" || value === "") return undefined;
    const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(value);
    const port = Number(match?.[2]);
    if (match === null || port > 65_535) {
      throw new SettingError("must be HOST:PORT, :PORT for all addresses, or 0 for none");
    }
    return { host: (match[1] ?? "").replace(/^\[|\]$/g, ""), port };
  });
}

export interface ListenAddress {
  /** Empty for all addresses of the machine. */
  readonly host: string;
  readonly port: number;
}
