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
  };
  const { destination } = options;
  return logOver(destination === undefined ? pino(settings) : pino(settings, destination));
}

function logOver(logger: Logger): Log {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (fields === undefined) logger[level](message);
    else logger[level](steady(fields), message);
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => logOver(logger.child(steady(fields))),
  };
}

/**
 * Fields whose kind never changes. One with the name of the line's own text would stand beside it, and readers would keep only one
 * of them. An error becomes its text, with stack and codes beside it, and nothing else that hangs on it: what searches logs
 * cannot keep texts and objects under one name.
 */
function steady({ message: detail, error, ...rest }: LogFields): LogFields {
  return {
    ...rest,
    ...(detail === undefined ? {} : { detail }),
    ...(error === undefined ? {} : errorFields(error)),
  };
}

function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const { code, status, reason } = error as { code?: unknown; status?: unknown; reason?: unknown };
  const codes = { errorCode: code, errorStatus: status, errorReason: reason };
  const plain = Object.entries(codes).filter(([, value]) => /string|number/.test(typeof value));
  return { error: String(error), ...Object.fromEntries(plain), stack: error.stack };
}
