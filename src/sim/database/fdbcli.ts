// The simulated fdbcli: reads its command line, runs one command after the other on the database that its cluster file
// names, and answers in the words of the real one. Rules: spec/streams.md [WS15].
import { isFdbError } from "../../fdb/error.ts";
import { inputLines } from "./fdbcli-input.ts";
import type { ToolProcess, ToolSpec } from "../../pod/process-runtime.ts";
import { createAdminClient } from "./admin-client.ts";
import type { Fabric } from "./fabric.ts";
import { runFdbcliCommand, splitCommands } from "./fdbcli-commands.ts";
import type { FdbcliSession } from "./fdbcli-commands.ts";

const startMs = 50;
const killedCode = 137;
const terminatedCode = 143;
const searchedFiles = ["/fdb.cluster", "/etc/foundationdb/fdb.cluster"];

interface Options {
  clusterFile: string | undefined;
  exec: string | undefined;
  timeoutMs: number | undefined;
}

export function startFdbcli(fabric: Fabric, spec: ToolSpec): ToolProcess {
  const { promise, resolve } = Promise.withResolvers<{ code: number }>();
  let isOver = false;
  const end = (code: number): void => {
    isOver = true;
    resolve({ code });
  };
  const started = fabric.clock.setTimer(startMs, () => {
    run(fabric, spec, () => isOver).then(end, (error: unknown) => {
      spec.write("stderr", `ERROR: ${String(error)}\n`);
      end(1);
    });
  });
  const stop = (code: number): void => {
    started.cancel();
    end(code);
  };
  return { exited: promise, terminate: () => stop(terminatedCode), kill: () => stop(killedCode) };
}

async function run(fabric: Fabric, spec: ToolSpec, isOver: () => boolean): Promise<number> {
  const write: ToolSpec["write"] = (stream, text) => {
    if (!isOver()) spec.write(stream, text);
  };
  const options = readOptions(spec.args);
  if ("problem" in options) {
    write("stderr", options.problem);
    return 1;
  }
  if (spec.args.includes("--version") || spec.args.includes("-v")) {
    const line = spec.version.split(".").slice(0, 2).join(".");
    write("stdout", `FoundationDB CLI ${line} (v${spec.version})\n`);
    return 0;
  }
  const place = clusterFileOf(spec, options.clusterFile);
  if ("problem" in place) {
    write("stderr", place.problem);
    return 1;
  }
  const session: FdbcliSession = {
    ...{ fabric, clusterFile: place.path, isWriteMode: false, accessesSystemKeys: false, isOver },
    admin: createAdminClient(
      fabric,
      { name: spec.pod.name, connectionString: place.text, version: spec.version },
      { host: spec.pod.ips[0] ?? "127.0.0.1", logGroup: "default" },
    ),
    out: (text) => write("stdout", text),
    err: (text) => write("stderr", text),
    keepConnection: (text) => void spec.files.write(place.path, `${text}\n`),
    knownAddresses: new Set(),
  };
  try {
    return await withinTime(fabric, options.timeoutMs, session, () =>
      options.exec === undefined
        ? interact(session, spec)
        : runAll(session, splitCommands(options.exec)),
    );
  } finally {
    session.admin.close();
  }
}

function readOptions(args: readonly string[]): Options | { problem: string } {
  const options: Options = { clusterFile: undefined, exec: undefined, timeoutMs: undefined };
  const words = args.flatMap((word) => {
    const match = /^(--[a-z_-]+)=(.*)$/s.exec(word);
    return match === null ? [word] : [match[1] ?? "", match[2] ?? ""];
  });
  for (let index = 0; index < words.length; index += 1) {
    const word = (words[index] ?? "").replaceAll("_", "-");
    const value = words[index + 1];
    if (["-v", "--version", "--no-status"].includes(word)) continue;
    const isKnown =
      /^--(?:cluster-file|exec|timeout|log|log-dir|trace-format|tls-[a-z-]+|knob-[a-z0-9-]+|api-version)$|^-C$/.test(
        word,
      );
    if (!isKnown) return { problem: `ERROR: unknown option: \`${word}'\n` };
    if (word === "--log") continue;
    if (value === undefined) return { problem: `ERROR: option \`${word}' requires an argument\n` };
    index += 1;
    if (word === "-C" || word === "--cluster-file") options.clusterFile = value;
    else if (word === "--exec") options.exec = value;
    else if (word === "--timeout") options.timeoutMs = Number(value) * 1000;
  }
  if (Number.isNaN(options.timeoutMs)) return { problem: "ERROR: invalid timeout\n" };
  return options;
}

function clusterFileOf(
  { files, environment = {} }: ToolSpec,
  given: string | undefined,
): { path: string; text: string } | { problem: string } {
  const named = given ?? environment["FDB_CLUSTER_FILE"];
  const paths = named === undefined ? searchedFiles : [named];
  for (const path of paths) {
    const text = files.read(path);
    if (text !== undefined) return { path, text };
  }
  const places = paths.map((path) => `\`${path}'`).join(" or ");
  const why = "1515 No cluster file found in current directory or default location";
  return { problem: `ERROR: Unable to read cluster file ${places}: ${why}\n` };
}

async function withinTime(
  fabric: Fabric,
  timeoutMs: number | undefined,
  session: FdbcliSession,
  work: () => Promise<number>,
): Promise<number> {
  if (timeoutMs === undefined || timeoutMs === 0) return work();
  const { promise: late, resolve } = Promise.withResolvers<number>();
  const timer = fabric.clock.setTimer(timeoutMs, () => {
    session.err("Specified timeout reached -- exiting...\n");
    resolve(1);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    timer.cancel();
  }
}

/** The first that fails ends it. Several are told apart by their own words before each. */
async function runAll(session: FdbcliSession, commands: readonly string[]): Promise<number> {
  for (const command of commands) {
    if (commands.length > 1) session.out(`>>> ${command}\n`);
    const isGood = await runOne(session, command);
    if (!isGood) return 1;
    if (session.isOver()) return killedCode;
  }
  return 0;
}

async function runOne(session: FdbcliSession, command: string): Promise<boolean> {
  try {
    return await runFdbcliCommand(session, command);
  } catch (error) {
    if (!isFdbError(error)) throw error;
    const text = error.message.startsWith("ERROR") ? error.message : `ERROR: ${error.message}`;
    session.err(`${text}\n`);
    return false;
  }
}

/** As a person types them, line by line; a failure is told and forgotten. */
async function interact(session: FdbcliSession, spec: ToolSpec): Promise<number> {
  session.out(`Using cluster file \`${session.clusterFile}'.\n\n`);
  await runOne(session, "status minimal");
  session.out("\nWelcome to the fdbcli. For help, type `help'.\nfdb> ");
  for await (const line of inputLines(spec)) {
    for (const command of splitCommands(line)) {
      if (command === "exit" || command === "quit") return 0;
      await runOne(session, command);
    }
    session.out("fdb> ");
  }
  session.out("\n");
  return 0;
}
