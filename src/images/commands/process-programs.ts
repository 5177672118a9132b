// Programs about the processes of the container: pkill, pgrep, ps, and curl to a port of a pod. Rules: spec/streams.md
// [WS13] [WS14].
import { readArguments } from "./arguments.ts";
import type { CommandIo, CommandProgram } from "./command-life.ts";
import type { ContainerProcess } from "../../pod/container-command.ts";

function processName({ commandLine }: ContainerProcess): string {
  return commandLine.split(" ")[0]?.split("/").at(-1) ?? "";
}

/** Of the container's own program and its processes; numbers as they would be in a container of their own. */
function chosen(io: CommandIo): { number: number; process: ContainerProcess }[] | undefined {
  const words = io.context.words
    .slice(1)
    .filter((word) => !/^-(?:\d+|(?:SIG)?[A-Z]{3,4})$/.test(word));
  const { flags, rest } = readArguments(words);
  const [pattern] = rest;
  if (pattern === undefined) return undefined;
  const wanted = new RegExp(flags.has("x") ? `^(?:${pattern})$` : pattern);
  return io.context
    .processes()
    .map((process, index) => ({ number: 10 + index, process }))
    .filter(({ process }) =>
      wanted.test(flags.has("f") ? process.commandLine : processName(process)),
    );
}

async function usage(io: CommandIo): Promise<number> {
  await io.err(`${io.context.words[0]}: no matching criteria specified\n`);
  return 2;
}

const pkill: CommandProgram = async (io) => {
  const found = chosen(io);
  if (found === undefined) return usage(io);
  for (const { process } of found) process.kill();
  return found.length > 0 ? 0 : 1;
};

const pgrep: CommandProgram = async (io) => {
  const found = chosen(io);
  if (found === undefined) return usage(io);
  for (const { number } of found) await io.out(`${number}\n`);
  return found.length > 0 ? 0 : 1;
};

const ps: CommandProgram = async (io) => {
  await io.out("    PID CMD\n");
  for (const [index, { commandLine }] of io.context.processes().entries()) {
    await io.out(`${String(10 + index).padStart(7)} ${commandLine}\n`);
  }
  return 0;
};

const curlTimeoutMs = 10_000;

/** GET and POST to a pod's port, which is what sidecars are asked with. */
const curl: CommandProgram = async (io) => {
  const { flags, values, rest } = readArguments(io.context.words.slice(1), "Xmodw");
  const url = URL.parse(
    rest.map((word) => (word.includes("://") ? word : `http://${word}`))[0] ?? "",
  );
  if (url === null) {
    await io.err("curl: (3) URL rejected: No host part in the URL\n");
    return 3;
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const own = io.context.pod.ips[0] ?? "";
  const useTls = url.protocol === "https:";
  try {
    const answer = await io.context.network.request({
      host: host === "localhost" || host === "127.0.0.1" ? own : host,
      port: Number(url.port === "" ? (useTls ? 443 : 80) : url.port),
      useTls,
      method: values.get("X") === "POST" || values.has("d") ? "POST" : "GET",
      path: `${url.pathname}${url.search}`.slice(1),
      timeoutMs: curlTimeoutMs,
    });
    if (answer.status >= 400 && (flags.has("f") || flags.has("fail"))) {
      await io.err(`curl: (22) The requested URL returned error: ${answer.status}\n`);
      return 22;
    }
    if (values.get("o") !== "/dev/null") await io.out(answer.body);
    return 0;
  } catch (error) {
    await io.err(`curl: (7) Failed to connect to ${host}: ${(error as Error).message}\n`);
    return 7;
  }
};

export const processPrograms: Readonly<Record<string, CommandProgram>> = { pkill, pgrep, ps, curl };
