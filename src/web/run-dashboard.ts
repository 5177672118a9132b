// `kubectl fdb dashboard`: serves the page until Ctrl-C. Rules: spec/web.md [WEB31], [WEB32].
import { resolve } from "node:path";
import { foundationDbClusters } from "../api/cluster.ts";
import { machineClock } from "../env/clock.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { silentLog } from "../env/log.ts";
import type { Log } from "../env/log.ts";
import { machineRandom } from "../env/random.ts";
import { listed } from "../plugin/listing.ts";
import { serverClockOf } from "../plugin/session.ts";
import type { ConnectionFlags, Session } from "../plugin/session.ts";
import { loadBundle } from "../report/load-bundle.ts";
import { fileSource } from "./server/file-source.ts";
import { LiveSource } from "./server/live-source.ts";
import { pageAssets } from "./server/page-assets.ts";
import { previewInProcess, previewLive } from "./server/preview-process.ts";
import type { PluginProgram } from "./server/preview-process.ts";
import { serveDashboard } from "./server/serve.ts";
import type { DashboardOptions, ServedDashboard } from "./server/serve.ts";

export interface DashboardFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  port?: number;
  from?: string;
}

const defaultPort = 7480;
/** Between two looks at a database. */
const pauseMs = 5_000;

export async function runDashboard(
  session: Session,
  flags: DashboardFlags,
  plugin: PluginProgram,
): Promise<void> {
  if (flags.allNamespaces === true && session.isNamespaceGiven) {
    throw new UsageError("--namespace and --all-namespaces exclude each other: give one of them");
  }
  // Who cannot list clusters would see an empty page.
  await listed(session, foundationDbClusters, flags);
  const { client, exec, clock, server, serverNowMs, signal, out } = session;
  const namespace = flags.allNamespaces === true ? "" : session.namespace;
  const log = notingLog((text) => out.note(text));
  const source = new LiveSource({
    ...{ client, exec, clock, serverNowMs, namespace, pauseMs, log, random: machineRandom() },
    ...{ where: server, speed: 1 },
    preview: (cluster, request, end) =>
      previewLive(plugin, { client, exec, clock: serverClockOf(session) }, cluster, request, end),
  });
  const served = await serveOnPort(flags.port, { source, page: pageAssets, clock, log });
  source.start();
  const place = namespace === "" ? "all namespaces" : `namespace ${namespace}`;
  out.write(invitation(`${server}, ${place}`, served));
  await aborted(signal);
  source.stop();
  await served.close();
}

/** Without a server: of a picture that was saved. */
export async function runDashboardOfFile(
  place: string,
  { port }: DashboardFlags,
  plugin: PluginProgram,
  write: (text: string) => void,
): Promise<void> {
  const loaded = loadBundle(place);
  const end = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => end.abort());
  const clock = machineClock();
  const source = fileSource({
    ...{ where: place, ...loaded },
    preview: (request, signal) =>
      previewInProcess(plugin, { path: resolve(place) }, request, signal),
  });
  const served = await serveOnPort(port, { source, page: pageAssets, clock, log: silentLog });
  write(invitation(place, served));
  await aborted(end.signal);
  await served.close();
  clock.stop();
}

/** On the usual port, or on another when that is taken and nobody insists. */
export async function serveOnPort(
  wanted: number | undefined,
  options: Omit<DashboardOptions, "port">,
  usual = defaultPort,
): Promise<ServedDashboard> {
  try {
    return await serveDashboard({ ...options, port: wanted ?? usual });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" && wanted === undefined)
      return serveDashboard({ ...options, port: 0 });
    const why =
      code === "EADDRINUSE" ? "it is taken" : code === "EACCES" ? "it is not allowed" : message;
    throw new CommandError(
      `cannot listen on port ${wanted ?? usual} of 127.0.0.1: ${why}; choose another (0 picks a free one)`,
    );
  }
}

function invitation(what: string, { url }: ServedDashboard): string {
  return [
    `Dashboard of ${what}:`,
    `  ${url}`,
    "Who has this address sees what you may see, on this machine, until Ctrl-C.",
    "",
  ].join("\n");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener("abort", () => done(), { once: true });
  });
}

/** What the program itself does wrong is told; a server that comes and goes is told by the page. */
function notingLog(note: (text: string) => void): Log {
  const log: Log = {
    ...silentLog,
    error: (message, fields = {}) => note(`${message}: ${JSON.stringify(fields)}\n`),
    with: () => log,
  };
  return log;
}
