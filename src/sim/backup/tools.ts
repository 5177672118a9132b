// Starts the simulated backup tools: reads the command line, runs the command to its end, and says how it ended in the
// words and with the exit codes of the real ones. Carries rule BSIM7.
import { isFdbError } from "../../fdb/error.ts";
import { hasMutationLogType, parseVersion } from "../../model/version.ts";
import type { ToolProcess, ToolSpec } from "../../pod/process-runtime.ts";
import type { Fabric } from "../database/fabric.ts";
import { BackupAgent } from "./agent.ts";
import { backupCommands } from "./fdbbackup.ts";
import type { Command } from "./fdbbackup.ts";
import { restoreCommands } from "./fdbrestore.ts";
import { ToolExit } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolError } from "./tool-error.ts";
import { ToolEnded, startLife } from "./tool-life.ts";
import { parseToolOptions, tryHelp } from "./tool-options.ts";
import type { OptionTable } from "./tool-options.ts";

const startMs = 50;
/** 128 and the number of the signal. */
const terminatedCode = 143;
const killedCode = 137;

const agent: Command = {
  options: ["--cluster-file|-C=", "--blob-credentials=", "--proxy="],
  run: (context, options) => new BackupAgent(context, options).run(),
};

export function startBackupTool(fabric: Fabric, spec: ToolSpec): ToolProcess {
  const { promise, resolve } = Promise.withResolvers<{ code: number }>();
  const life = startLife(fabric.clock);
  const context: ToolContext = {
    ...{ fabric, spec, life },
    out: (text) => spec.write("stdout", text),
    err: (text) => spec.write("stderr", text),
  };
  const end = (code: number): void => {
    if (!life.isEnded) life.end();
    resolve({ code });
  };
  void run(context).then(end);
  return { exited: promise, terminate: () => end(terminatedCode), kill: () => end(killedCode) };
}

async function run(context: ToolContext): Promise<number> {
  try {
    await context.life.sleep(startMs);
    return await runCommand(context);
  } catch (error) {
    if (error instanceof ToolEnded) return killedCode;
    if (error instanceof ToolExit) {
      context.err(error.message);
      return error.code;
    }
    if (error instanceof ToolError || isFdbError(error)) {
      context.err(`ERROR: ${error.message}\nFatal Error: ${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

/** From a version on the kind of mutation log is an option with a value instead of one without. */
function optionsOf(command: Command, version: string): OptionTable {
  const parsed = parseVersion(version);
  const isNamed = parsed !== undefined && hasMutationLogType(parsed);
  const absent = isNamed ? "--partitioned-log-experimental" : "--mutation-log-type";
  return command.options.filter((option) => !option.startsWith(absent));
}

async function runCommand(context: ToolContext): Promise<number> {
  const { name, args, calledAs } = context.spec;
  const [first, ...rest] = args;
  const isAgent = name === "backup_agent";
  const commands = name === "fdbrestore" ? restoreCommands : backupCommands;
  const command = isAgent ? agent : commands[first ?? ""];
  if (command === undefined) {
    throw new ToolExit(1, `ERROR: Unsupported action \`${first ?? ""}'\n${tryHelp(calledAs)}`);
  }
  const options = optionsOf(command, context.spec.version);
  const parsed = parseToolOptions(calledAs, options, isAgent ? args : rest);
  if ("problem" in parsed) throw new ToolExit(1, parsed.problem);
  return command.run(context, parsed.options);
}
