// A Log that writes into the trace of a simulated world, so that what a component logs is part of the
// history that two runs of one seed are compared by. Carries rule SIM9.
import type { Log, LogFields } from "../env/log.ts";
import type { Trace } from "./trace.ts";

export function traceLog(trace: Trace, source: string, fields: LogFields = {}): Log {
  const write = (level: string) => (message: string, more?: LogFields) => {
    trace.append(source, `${level}: ${message}`, { ...fields, ...more });
  };
  return {
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (more) => traceLog(trace, source, { ...fields, ...more }),
  };
}
