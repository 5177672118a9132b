// Streams into pods without a network: what `PodStreams` is in the same process and in virtual time. Requests are judged
// as those that come over HTTPS. Rules: spec/streams.md [WS22].
import { KubeError } from "../kube/error.ts";
import { objectPath } from "../kube/path.ts";
import { podLogQuery } from "../kube/pod-exec.ts";
import type {
  FollowLogRequest,
  PodExecRequest,
  PodExecResult,
  PodPlace,
  PodSession,
  PodSessionRequest,
  PodStreams,
} from "../kube/pod-exec.ts";
import { pods } from "../kube/resource.ts";
import type { RunningCommand } from "../pod/container-command.ts";
import type { ServerRequest } from "./handler.ts";
import { connectToPod } from "./pod-connect.ts";
import { followLog } from "./pod-log.ts";
import type { ServerContext } from "./server-context.ts";
import { StatusError } from "./status.ts";

export function inProcessPods(
  server: ServerContext,
  userName: string | undefined,
  isStopped: () => boolean,
): PodStreams {
  const asked = ({ namespace, pod, container }: PodPlace): ServerRequest => ({
    ...{ method: "GET", query: { container } },
    path: objectPath(pods, { namespace, name: pod }, "exec"),
    ...(userName === undefined ? {} : { userName }),
  });
  const reach = async (): Promise<void> => {
    // The caller goes on first, as it would with a network between.
    await Promise.resolve();
    if (isStopped()) throw new KubeError(0, "Unreachable", "the API server is stopped");
  };
  const start = async (request: PodSessionRequest): Promise<RunningCommand> => {
    await reach();
    const place = refused(() => connectToPod(server, asked(request), "exec"));
    const { command: words, hasTerminal, onOutput: write } = request;
    const running = server.streams?.exec(place, { words, hasTerminal, write }) ?? noNodes;
    if ("problem" in running) throw problem(running.problem);
    if (!request.hasInput) running.endInput();
    request.signal?.addEventListener("abort", () => running.kill(), { once: true });
    return running;
  };
  return {
    run: (request) => runCommand(server, start, request),
    open: async (request) => sessionOf(await start(request)),
    async followLog(request) {
      await reach();
      await follow(server, userName, request);
    },
  };
}

const noNodes = { problem: "there are no nodes" };

function problem(text: string): KubeError {
  return new KubeError(500, "InternalError", `Internal error occurred: ${text}`);
}

function refused<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new KubeError(error.code, error.reason, error.message, error.details?.causes ?? []);
  }
}

function sessionOf(running: RunningCommand): PodSession {
  return {
    exited: running.exited,
    write: (bytes) => running.input(bytes),
    endInput: () => running.endInput(),
    resize: (size) => running.resize(size),
  };
}

async function runCommand(
  server: ServerContext,
  start: (request: PodSessionRequest) => Promise<RunningCommand>,
  request: PodExecRequest,
): Promise<PodExecResult> {
  const { stdin, timeoutMs, command } = request;
  const output: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
  const running = await start({
    ...{ ...request, hasTerminal: false, hasInput: stdin !== undefined },
    onOutput: (stream, bytes) => void output[stream].push(bytes),
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = server.clock.setTimer(timeoutMs, () => {
    const what = `${command[0] ?? ""} in pod ${request.pod}`;
    reject(new KubeError(0, "Timeout", `${what} did not end within ${timeoutMs} ms`));
    running.kill();
  });
  if (stdin !== undefined) {
    const bytes = typeof stdin === "string" ? Buffer.from(stdin) : stdin;
    void running.input(bytes).then(() => running.endInput());
  }
  try {
    const exitCode = await Promise.race([running.exited, late]);
    const stdoutBytes = Buffer.concat(output.stdout);
    const stderr = Buffer.concat(output.stderr).toString("utf8");
    return { stdout: stdoutBytes.toString("utf8"), stdoutBytes, stderr, exitCode };
  } finally {
    timer.cancel();
  }
}

/** Lines are handed on one bunch after the other; what comes meanwhile waits. */
async function follow(
  server: ServerContext,
  userName: string | undefined,
  request: FollowLogRequest,
): Promise<void> {
  const { namespace, pod, onLines, signal } = request;
  const waiting: string[] = [];
  let isOver = false;
  let wake = (): void => {};
  const end = (): void => {
    isOver = true;
    wake();
  };
  const followed = refused(() =>
    followLog(
      server,
      {
        method: "GET",
        path: objectPath(pods, { namespace, name: pod }, "log"),
        query: podLogQuery(request),
        ...(userName === undefined ? {} : { userName }),
      },
      {
        onText: (text) => {
          waiting.push(text);
          wake();
        },
        onEnd: end,
      },
    ),
  );
  signal?.addEventListener("abort", end, { once: true });
  try {
    for (;;) {
      if (signal?.aborted === true) return;
      const lines = waiting.splice(0).flatMap((text) => text.replace(/\n$/, "").split("\n"));
      if (lines.length > 0) await onLines(lines);
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    followed.stop();
  }
}
