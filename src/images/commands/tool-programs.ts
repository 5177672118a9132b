// FoundationDB's own programs, run by whatever runs them for the pod: the simulated database, or the real ones of this
// machine. Rules: spec/streams.md [WS15].
import { binaryVersion } from "../../pod/container-program.ts";
import type { ToolSpec } from "../../pod/process-runtime.ts";
import type { CommandProgram } from "./command-life.ts";

export function toolProgram(name: ToolSpec["name"], binaryPath: string): CommandProgram {
  return async (io) => {
    const { context } = io;
    const { runtime, files, environment, pod, nodeName, words } = context;
    const [calledAs = name, ...args] = words;
    if (runtime.startTool === undefined) {
      await io.err(`${calledAs}: nothing runs it here\n`);
      return 126;
    }
    let written = Promise.resolve();
    const tool = runtime.startTool({
      ...{ name, calledAs, binaryPath, args, environment, pod, nodeName, files },
      version: binaryVersion(files.read(binaryPath)) ?? "",
      write: (stream, text) => {
        written = written.then(() => (stream === "stdout" ? io.out(text) : io.err(text)));
      },
      readInput: () => io.read(),
    });
    const forget = io.onKill(() => tool.kill());
    const { code } = await tool.exited;
    await written;
    forget();
    return code;
  };
}
