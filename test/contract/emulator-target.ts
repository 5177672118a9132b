// Contract targets on the emulator: each case gets a fresh server in this process and in virtual time.
import { seededRandom } from "../../src/env/random.ts";
import { silentLog } from "../../src/env/log.ts";
import { createApiServer } from "../../src/emulator/api-server.ts";
import type { ApiServer } from "../../src/emulator/api-server.ts";
import { startControllers } from "../../src/emulator/controller-start.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import type { StartSchedulerOptions } from "../../src/emulator/scheduler.ts";
import { serveHttps } from "../../src/emulator/https-server.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { PodStreams } from "../../src/kube/pod-exec.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import type { ContractCase, Need } from "./case.ts";
import type { MakeTarget } from "./run-cases.ts";
import { Target } from "./target.ts";
import type { TargetBase } from "./target.ts";

export function emulatorTargets(): MakeTarget {
  return (index, contractCase) =>
    emulatorTarget(index, contractCase, async (server) => ({
      transport: server.transport("admin"),
      pods: server.pods("admin"),
      close: async () => {},
    }));
}

/** The same server, seen over HTTPS. Virtual time passes only while a case waits. */
export function emulatorHttpsTargets(): MakeTarget {
  return (index, contractCase) =>
    emulatorTarget(index, contractCase, async (server) => {
      const served = await serveHttps(server, { port: 0 });
      const transport = httpsTransport({
        server: served.url,
        certificateAuthority: served.caPem,
        token: served.token,
      });
      return {
        transport,
        pods: transport.pods,
        close: async () => {
          transport.close();
          await served.close();
        },
      };
    });
}

interface Connection {
  readonly transport: KubeTransport;
  readonly pods: PodStreams;
  close(): Promise<void>;
}

async function emulatorTarget(
  index: number,
  contractCase: ContractCase,
  connect: (server: ApiServer) => Promise<Connection>,
): Promise<Target> {
  const clock = new VirtualClock();
  const server = createApiServer({ clock, random: seededRandom(index) });
  const ending = new AbortController();
  await startParts(contractCase.needs, server, clock, ending.signal);
  const connection = await connect(server);
  const base: TargetBase = {
    kind: "emulator",
    transport: connection.transport,
    pods: connection.pods,
    pause: async () => {
      await clock.advance(100);
    },
    pausesMax: 1000,
    compact: async () => server.compact(),
    end: async () => {
      ending.abort();
      server.stop();
      await connection.close();
      await clock.advance(1);
    },
  };
  const target = new Target(base, `case-${index}`);
  await target.createNamespace();
  return target;
}

type CommonParts = Pick<StartSchedulerOptions, "client" | "clock" | "random" | "log" | "signal">;

async function startParts(
  needs: Need,
  server: ApiServer,
  clock: VirtualClock,
  signal: AbortSignal,
): Promise<void> {
  if (needs === "nothing") return;
  const parts = (name: string): CommonParts => ({
    client: new KubeClient(server.transport(`system:${name}`), { userAgent: name }),
    clock,
    random: seededRandom(1),
    log: silentLog,
    signal,
  });
  await startControllers(parts("kube-controller-manager")).started;
  if (needs === "scheduler") await startScheduler(parts("kube-scheduler")).started;
}
