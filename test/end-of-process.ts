// What must not outlive this process, however it ends: programs that it started and folders that it made. A signal that
// ends a process skips its exit event, so both are listened for.
const acts = new Set<() => void>();
let isListening = false;

/** The act must not wait for anything. Call what is returned when it is no longer needed. */
export function atEndOfProcess(act: () => void): () => void {
  acts.add(act);
  listen();
  return () => void acts.delete(act);
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on("exit", end);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      end();
      process.kill(process.pid, signal);
    });
  }
}

function end(): void {
  // The newest first: what was started later may need what was there before.
  for (const act of [...acts].toReversed()) act();
  acts.clear();
}
