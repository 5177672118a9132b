// A container whose program is one of FoundationDB's backup tools: the command line goes to whatever runs them, and what
// they print becomes the container's log, both streams in one. Without something that runs them the container idles.
// Carries rule KUBELET79.
import { binaryVersion } from "../pod/container-program.ts";
import type { Program } from "../pod/container-program.ts";
import { runGeneric } from "./generic-program.ts";
import type { ToolSpec } from "../pod/process-runtime.ts";

export function runBackupTool(name: ToolSpec["name"]): Program {
  return (context) => {
    const { runtime } = context;
    if (runtime.startTool === undefined) return runGeneric(context);
    const [calledAs = name, ...words] = context.command;
    const binaryPath = `/usr/bin/${name}`;
    let line = "";
    const tool = runtime.startTool({
      name,
      calledAs,
      binaryPath,
      version: binaryVersion(context.files.read(binaryPath)) ?? "",
      args: [...words, ...context.args],
      environment: context.environment,
      pod: context.pod,
      nodeName: context.nodeName,
      files: context.files,
      write: (_stream, text) => {
        const lines = (line + text).split("\n");
        line = lines.pop() ?? "";
        for (const whole of lines) context.writeLog(whole);
      },
    });
    void tool.exited.then(({ code }) => {
      if (line !== "") context.writeLog(line);
      context.exit(code);
    });
    return { terminate: () => tool.terminate(), kill: () => tool.kill() };
  };
}
