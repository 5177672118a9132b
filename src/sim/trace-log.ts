// A Log that writes into the trace of a simulated world, so that what a component logs is part of the
// history that two runs of one seed are compared by. Carries rules SIM9 and SIM10.
import type { Log, LogFields } from "../env/log.ts";
import type { Trace } from "./trace.ts";

export function traceLog(trace: Trace, source: string, fields: LogFields = {}): Log {
  const write = (level: string) => (message: string, more?: LogFields) => {
    const { stack, ...rest } = { ...fields, ...more };
    if (typeof stack !== "string") return trace.append(source, `${level}: ${message}`, rest);
    // Its lines name files of the machine, and how many there are depends on who called: no part of the history.
    const [error = "", ...places] = stack.split(/\n(?= +at )/);
    trace.append(source, `${level}: ${message}`, { ...rest, stack: error });
    for (const place of places) trace.remark(place);
  };
  return {
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (more) => traceLog(trace, source, { ...fields, ...more }),
  };
}
