// The dashboard of `npm start`: it reads the emulated API server in this very process. Rules: spec/web.md [WEB33].
import type { Clock } from "../env/clock.ts";
import { silentLog } from "../env/log.ts";
import type { Log } from "../env/log.ts";
import { machineRandom } from "../env/random.ts";
import { KubeClient } from "../kube/client.ts";
import type { World } from "../sim/world.ts";
import { serveOnPort } from "../web/run-dashboard.ts";
import { LiveSource } from "../web/server/live-source.ts";
import { pageAssets } from "../web/server/page-assets.ts";
import { previewLive } from "../web/server/preview-process.ts";
import { pluginProgramOf } from "./plugin-path.ts";

const defaultDashboardPort = 7480;
/** Between two looks at a database: it costs nothing here. */
const pauseMs = 1_000;

export interface DevDashboard {
  readonly url: string;
  close(): Promise<void>;
}

export interface DevDashboardOptions {
  readonly port: number | undefined;
  /** One after the other from the first, where there are several Kubernetes clusters. */
  readonly index: number;
  readonly speed: number;
  readonly realClock: Clock;
  readonly log: Log | undefined;
  /** Of the emulated API server. */
  readonly where: string;
}

export async function openDashboard(
  world: World,
  { port, index, speed, realClock: clock, log = silentLog, where }: DevDashboardOptions,
): Promise<DevDashboard> {
  const userAgent = "dashboard";
  const client = new KubeClient(world.server.transport(userAgent), { userAgent });
  const exec = world.server.pods(userAgent);
  const plugin = pluginProgramOf(process.argv[1] ?? "", process);
  const source = new LiveSource({
    ...{ client, exec, clock, where, speed, pauseMs, log, namespace: "", random: machineRandom() },
    serverNowMs: () => world.clock.nowMs(),
    preview: (cluster, request, signal) =>
      previewLive(plugin, { client, exec, clock: world.clock }, cluster, request, signal),
  });
  const wanted = port === undefined || port === 0 ? port : port + index;
  const options = { source, page: pageAssets, clock, log };
  const served = await serveOnPort(wanted, options, defaultDashboardPort + index);
  source.start();
  return {
    url: served.url,
    async close() {
      source.stop();
      await served.close();
    },
  };
}
