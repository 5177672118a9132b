// Flags that commands have in common, and how a command gets its session. Light: it is loaded for every `--help`.
// Rules: spec/plugin.md [PL1], [PL3], [PL4], [PL7].
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { CommandError, UsageError } from "../env/command-error.ts";
import { parseDurationMs } from "../env/parse-duration.ts";
import type { ConnectionFlags, OpenSession, Session } from "./session.ts";

export type OutputForm = "text" | "json" | "yaml";

/** Of commands that change something. */
export interface WriteFlags {
  dryRun?: boolean;
  yes?: boolean;
  /** As the Go plugin has it: false is a yes. */
  wait?: boolean;
}

export function addConnectionFlags(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "namespace (default: the one of the context)")
    .option("--kubeconfig <file>", "kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig")
    .option("--as <user>", "act in the name of this user, as with kubectl")
    .option("--as-group <group>", "and of this group (repeatable)", collect)
    .option(
      "--request-timeout <duration>",
      "how long one request may take, such as 30s (default: 15s)",
      requestTimeout,
    );
}

export function addOutputFlag(
  command: Command,
  forms: readonly OutputForm[] = ["text", "json", "yaml"],
): Command {
  return command.addOption(
    new Option("-o, --output <form>", "how to print").choices(forms).default("text"),
  );
}

export function addWriteFlags(command: Command): Command {
  return command
    .option("--dry-run", "show what would be done, and do nothing")
    .option("-y, --yes", "do not ask")
    .addOption(booleanOption("-w, --wait [boolean]", "ask first; --wait=false is --yes", true));
}

const clusterLabel = "foundationdb.org/fdb-cluster-name";

export function clusterLabelFlags(command: Command): Command {
  return command
    .option("-c, --fdb-cluster <name>", "the FoundationDBCluster")
    .option("-l, --cluster-label <key>", "without -c: the label that names it", clusterLabel);
}

export function addSelectionFlags(command: Command): Command {
  return clusterLabelFlags(command)
    .option("--process-class <class>", "all process groups of this class; needs -c")
    .option(
      "--process-condition <condition>",
      "those with this condition whose pods run (repeatable); needs -c",
      collectNames,
    )
    .option("--match-labels <labels>", "those whose pods have them: a=1,b=2; needs -c", keyValues);
}

/** a=1,b=2 */
export function keyValues(text: string): Record<string, string> {
  const pairs = text.split(",").map((pair) => pair.split("="));
  if (pairs.some((pair) => pair.length !== 2 || (pair[0] ?? "").trim() === "")) {
    throw new InvalidArgumentError("It must be labels such as rack=7,zone=a.");
  }
  return Object.fromEntries(pairs.map(([key = "", value = ""]) => [key.trim(), value.trim()]));
}

/** A flag of the Go plugin that is on or off, as Go writes it: --flag, --flag=true, -f=false. */
export function booleanOption(flags: string, description: string, fallback: boolean): Option {
  return new Option(flags, description)
    .default(fallback)
    .preset("true")
    .argParser((text) => {
      const value = text.replace(/^=/, "").toLowerCase();
      if (["true", "t", "1"].includes(value)) return true;
      if (["false", "f", "0"].includes(value)) return false;
      throw new InvalidArgumentError('It must be "=true" or "=false".');
    });
}

/** The end of a help page. */
export function examples(...lines: readonly string[]): string {
  return ["", "Examples:", ...lines.map((line) => `  kubectl fdb ${line}`)].join("\n");
}

/** For flags that may be given several times. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Names may also stand with commas between them. */
export function collectNames(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), ...value.split(",").map((name) => name.trim())];
}

export function durationOption(fromMs: number, toMs: number): (text: string) => number {
  return (text) => {
    const durationMs = parseDurationMs(text);
    if (durationMs !== undefined && durationMs >= fromMs && durationMs <= toMs) return durationMs;
    throw new InvalidArgumentError(
      `It must be a duration from ${fromMs / 1000}s to ${toMs / 1000}s, such as 30s or 1m30s.`,
    );
  };
}

/** 0 means no limit for kubectl; here every request has one. */
function requestTimeout(text: string): number {
  const longestMs = 3_600_000;
  return text === "0" ? longestMs : durationOption(1, longestMs)(text);
}

/**
 * The action of a command that needs a session. `run` gets the flags, those of the program before the command's name
 * included, and what stands on the command line besides.
 */
export function inSession(
  open: OpenSession,
  run: (session: Session, flags: never, ...given: never[]) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const flags: ConnectionFlags & WriteFlags = command.optsWithGlobals();
    if (flags.dryRun === true && flags.yes === true) {
      throw new UsageError("--dry-run does nothing, so that there is nothing to say --yes to");
    }
    const session = await open(flags);
    try {
      await run(session, flags as never, ...(command.processedArgs as never[]));
    } catch (error) {
      throw await asCommandError(error, session);
    } finally {
      session.close();
    }
  };
}

/** What the server refuses or cannot answer is no crash. */
async function asCommandError(error: unknown, session: Session): Promise<unknown> {
  if (error instanceof CommandError) return error;
  const { isKubeError } = await import("../kube/error.ts");
  if (!isKubeError(error)) return error;
  const { commandErrorOf } = await import("./read-named.ts");
  return commandErrorOf(error, session.server);
}
