// Contract targets on the emulator: each case gets a fresh server in this process and in virtual time.
import { seededRandom } from "../../src/env/random.ts";
import { silentLog } from "../../src/env/log.ts";
import { createApiServer } from "../../src/emulator/api-server.ts";
import type { ApiServer } from "../../src/emulator/api-server.ts";
import { startControllers } from "../../src/emulator/controller-start.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import type { StartSchedulerOptions } from "../../src/emulator/scheduler.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { VirtualClock } from "../../src/sim/virtual-clock.ts";
import type { Need } from "./case.ts";
import type { MakeTarget } from "./run-cases.ts";
import { Target } from "./target.ts";

export function emulatorTargets(): MakeTarget {
  return async (index, contractCase) => {
    const clock = new VirtualClock();
    const server = createApiServer({ clock, random: seededRandom(index) });
    const ending = new AbortController();
    await startParts(contractCase.needs, server, clock, ending.signal);
    const target = new Target(
      {
        kind: "emulator",
        transport: server.transport("admin"),
        pause: async () => {
          await clock.advance(100);
        },
        pausesMax: 1000,
        compact: async () => server.compact(),
        end: async () => {
          ending.abort();
          server.stop();
          await clock.advance(1);
        },
      },
      `case-${index}`,
    );
    await target.createNamespace();
    return target;
  };
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
