// Watches whose events arrive late, in order: caches that lag behind what is stored. Rules: spec/world.md [W65].
import type { Clock } from "../../env/clock.ts";
import { sleep } from "../../env/clock.ts";
import type { KubeTransport } from "../../kube/transport.ts";

export interface LagConditions {
  /** How late an event arrives. */
  lagMs: number;
  /** How much later those of a kind, by its plural: a replica of the server that is behind. */
  readonly moreMs?: Map<string, number>;
}

export function laggingWatch(
  transport: KubeTransport,
  clock: Clock,
  conditions: LagConditions,
): KubeTransport {
  return {
    request: (request) => transport.request(request),
    async watch(request, onEvent) {
      const plural = request.path.slice(request.path.lastIndexOf("/") + 1);
      let latestMs = 0;
      const lagMs = (): number => conditions.lagMs + (conditions.moreMs?.get(plural) ?? 0);
      const isOpen = (): boolean => request.signal?.aborted !== true;
      await transport.watch(request, (event) => {
        latestMs = Math.max(latestMs, clock.nowMs() + lagMs());
        if (latestMs === clock.nowMs()) return onEvent(event);
        clock.setTimer(latestMs - clock.nowMs(), () => {
          if (isOpen()) onEvent(event);
        });
      });
      // What is on its way arrives before the end does.
      if (isOpen() && latestMs > clock.nowMs()) await sleep(clock, latestMs - clock.nowMs());
    },
  };
}
