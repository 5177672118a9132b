// A child process as the supervisor sees it, and how a real one is started.
import { fork } from "node:child_process";

export interface ChildHandle {
  /** False when the child can no longer be reached. */
  send(message: unknown): boolean;
  onMessage(heard: (message: unknown) => void): void;
  /** Calls back once, with the reason as a person would read it; nothing is heard afterwards. */
  onEnd(ended: (reason: string) => void): void;
  /** Ends it at once, whatever it does. */
  kill(): void;
}

export type ChildStarter = (environment: Readonly<Record<string, string>>) => ChildHandle;

/** The end of its error output, which is where a dying program says why. */
const keptErrorBytes = 2_000;

/** Starts a program of ours with the same Node. */
export function forkStarter(programPath: string): ChildStarter {
  return (environment) => {
    const child = fork(programPath, [], {
      env: environment,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // The client is small: its heap must not grow like that of a server.
      execArgv: ["--max-old-space-size=512", "--disable-warning=ExperimentalWarning"],
    });
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = `${errors}${text}`.slice(-keptErrorBytes);
    });
    return {
      send(message) {
        if (!child.connected) return false;
        // A failed send is followed by the end of the child, which is where it is noticed.
        child.send(message as object, () => {});
        return true;
      },
      onMessage: (heard) => void child.on("message", heard),
      onEnd(ended) {
        let isOver = false;
        const end = (reason: string): void => {
          if (isOver) return;
          isOver = true;
          const last = errors.trim();
          ended(last === "" ? reason : `${reason}: ${last}`);
        };
        child.once("error", (error) => end(`it could not be started: ${error.message}`));
        child.once("close", (code, signal) =>
          end(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`),
        );
      },
      kill: () => void child.kill("SIGKILL"),
    };
  };
}
