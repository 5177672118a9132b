// Logs of the running operator: one JSON object a line, with the time of the given clock. Carries rules
// KUBE70 and KUBE71.
import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";
import type { Clock } from "./clock.ts";
import type { Log, LogFields } from "./log.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface PinoLogOptions {
  clock: Clock;
  level?: LogLevel;
  /** Standard output when absent. */
  destination?: DestinationStream;
}

export function pinoLog(options: PinoLogOptions): Log {
  const settings = {
    level: options.level ?? "info",
    base: null,
    messageKey: "message",
    timestamp: () => `,"time":"${new Date(options.clock.nowMs()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: serializeError },
  };
  const { destination } = options;
  return logOver(destination === undefined ? pino(settings) : pino(settings, destination));
}

function logOver(logger: Logger): Log {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (fields === undefined) logger[level](message);
    else logger[level](distinct(fields), message);
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => logOver(logger.child(distinct(fields))),
  };
}

/** A field with the name of the line's own text would stand beside it, and readers would keep only one of them. */
function distinct(fields: LogFields): LogFields {
  if (!("message" in fields)) return fields;
  const { message: detail, ...rest } = fields;
  return { ...rest, detail };
}

/** An error as data: name, message, stack and its own codes, but nothing else that hangs on it. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack } = error;
  const codes = Object.entries(error).filter(
    ([field, value]) =>
      ["code", "status", "reason"].includes(field) &&
      (typeof value === "string" || typeof value === "number"),
  );
  return { name, message, ...Object.fromEntries(codes), stack };
}
