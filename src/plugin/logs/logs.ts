// `kubectl fdb logs`: lines of all pods of a cluster, merged by time. Rules: spec/plugin.md [VW14]-[VW16], [VW21].
import { foundationDbClusters } from "../../api/cluster.ts";
import { sleep } from "../../env/clock.ts";
import { CommandError } from "../../env/command-error.ts";
import { isKubeError } from "../../kube/error.ts";
import { pods } from "../../kube/resource.ts";
import { nameList } from "../../plan/wait.ts";
import { ownObjects } from "../explain/read.ts";
import { readNamed } from "../read-named.ts";
import type { Session } from "../session.ts";
import { parseLogLine, severities } from "./log-line.ts";
import type { SeverityName } from "./log-line.ts";
import { LineBuffer, mergedLines } from "./log-merge.ts";
import type { SourceLine } from "./log-merge.ts";
import { containerNames, logSources } from "./log-sources.ts";
import type { LogSource } from "./log-sources.ts";
import { logLineJson, logLineText } from "./log-text.ts";

export interface LogsFlags {
  output: "text" | "json";
  severity: SeverityName;
  since?: number;
  tail?: number;
  follow?: boolean;
  previous?: boolean;
  class?: string;
  processGroup?: string[];
  container?: string;
  allContainers?: boolean;
}

const followedMax = 50;
const readAtOnce = 10;
/** Of one container, when not told otherwise. */
const tailDefault = 100;
const bytesMax = 16 * 2 ** 20;
const heldMs = 1_000;
const heldLinesMax = 10_000;

export async function runLogs(session: Session, flags: LogsFlags, name: string): Promise<void> {
  const sources = await findSources(session, flags, name);
  if (flags.follow !== true) return printOnce(session, flags, sources);
  if (sources.length > followedMax) {
    throw new CommandError(
      `${sources.length} containers are too many to follow at once (at most ${followedMax}): narrow it with --class or --process-group`,
    );
  }
  await follow(session, flags, sources);
}

async function findSources(session: Session, flags: LogsFlags, name: string): Promise<LogSource[]> {
  const { client, namespace, server } = session;
  const cluster = await readNamed(client, foundationDbClusters, { namespace, name }, server);
  const own = await ownObjects(client, pods, cluster, namespace);
  const { class: processClass, processGroup: processGroups, container } = flags;
  const found = logSources(cluster, own, {
    ...(processClass === undefined ? {} : { processClass }),
    ...(processGroups === undefined ? {} : { processGroups }),
    ...(container === undefined ? {} : { container }),
    isAllContainers: flags.allContainers === true,
  });
  if (found.length > 0) return found;
  if (own.length === 0) throw new CommandError(`cluster ${name} has no pods`);
  const has = container === undefined ? "" : `; containers are ${containerNames(own).join(", ")}`;
  throw new CommandError(`no pod of cluster ${name} is meant by these flags${has}`);
}

function optionsOf(flags: LogsFlags): {
  tailLines?: number;
  sinceSeconds?: number;
  previous?: boolean;
} {
  const { since, tail, previous } = flags;
  // Whoever names a time wants all lines since then.
  const tailLines = tail ?? (since === undefined ? tailDefault : undefined);
  return {
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(since === undefined ? {} : { sinceSeconds: Math.max(1, Math.ceil(since / 1_000)) }),
    ...(previous === true ? { previous } : {}),
  };
}

async function printOnce(
  session: Session,
  flags: LogsFlags,
  sources: readonly LogSource[],
): Promise<void> {
  const read: SourceLine[][] = [];
  const unread = new Map<string, string[]>();
  for (let at = 0; at < sources.length && !session.signal.aborted; at += readAtOnce) {
    const some = sources.slice(at, at + readAtOnce);
    await Promise.all(
      some.map(async (source, index) => {
        read[at + index] = await readSource(session, flags, source, unread);
      }),
    );
  }
  write(session, flags, mergedLines(read));
  tellUnread(session, unread);
}

async function readSource(
  { client, serverNowMs }: Session,
  flags: LogsFlags,
  { namespace, pod, container, label }: LogSource,
  unread: Map<string, string[]>,
): Promise<SourceLine[]> {
  try {
    const text = await client.podLog(
      { namespace, name: pod },
      { container, timestamps: true, limitBytes: bytesMax, ...optionsOf(flags) },
    );
    return parsedLines(text.replace(/\n$/, "").split("\n"), label, flags, serverNowMs());
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const why = error.reason === "Forbidden" ? "not allowed" : error.message;
    unread.set(why, [...(unread.get(why) ?? []), label]);
    return [];
  }
}

/** Lines that belong to the one before them have its time. */
function parsedLines(
  raw: readonly string[],
  source: string,
  { severity }: LogsFlags,
  nowMs: number,
): SourceLine[] {
  let lastMs = nowMs;
  return raw
    .filter((line) => line !== "")
    .map((line) => {
      const parsed = parseLogLine(line, lastMs);
      lastMs = parsed.atMs;
      return { ...parsed, source };
    })
    .filter((line) => line.severity >= severities[severity]);
}

function write({ out }: Session, { output }: LogsFlags, lines: readonly SourceLine[]): void {
  if (lines.length === 0) return;
  const text = lines.map((line) =>
    output === "json" ? logLineJson(line) : logLineText(line, out),
  );
  out.write(`${text.join("\n")}\n`);
}

function tellUnread({ out }: Session, unread: ReadonlyMap<string, readonly string[]>): void {
  for (const [why, labels] of unread) out.note(`No log of ${nameList(labels)}: ${why}\n`);
}

async function follow(
  session: Session,
  flags: LogsFlags,
  sources: readonly LogSource[],
): Promise<void> {
  const { clock, exec, signal } = session;
  const buffer = new LineBuffer(heldLinesMax);
  const unread = new Map<string, string[]>();
  const ended = new AbortController();
  const following = Promise.all(
    sources.map(async ({ namespace, pod, container, label }) => {
      try {
        await exec.followLog({
          ...{ namespace, pod, container, timestamps: true, signal, ...optionsOf(flags) },
          onLines: (lines) =>
            buffer.add(parsedLines(lines, label, flags, session.serverNowMs()), clock.nowMs()),
        });
      } catch (error) {
        if (!isKubeError(error)) throw error;
        if (!signal.aborted)
          unread.set(error.message, [...(unread.get(error.message) ?? []), label]);
      }
    }),
  ).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await Promise.race([sleep(clock, heldMs / 4, signal), following]);
    write(session, flags, buffer.take(clock.nowMs() - heldMs));
  }
  await following;
  write(session, flags, buffer.take(Infinity));
  tellUnread(session, unread);
}
