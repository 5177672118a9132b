// A bad road to the API server: requests that are refused, lose a race, take too long, or are carried out without an
// answer, and watches that break. Chance comes from the world's seed. Rules: spec/world.md [W60].
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { ended } from "../../env/ended.ts";
import { KubeError } from "../../kube/error.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "../../kube/transport.ts";

export interface RoadConditions {
  /** Of a request going wrong, in [0, 1]. */
  failureChance: number;
  /** Of a watch that breaks within two minutes. */
  watchBreakChance: number;
}

export interface FaultyRoad {
  transport: KubeTransport;
  /** May be changed at any time. */
  conditions: RoadConditions;
}

type Mishap =
  | "refused"
  | "tooMany"
  | "conflict"
  | "lostBefore"
  | "lostAfter"
  | "slow"
  | "hangsBefore"
  | "hangsAfter";

/** When a client gives up a request that is never answered. */
const requestDeadlineMs = 30_000;

export function faultyRoad(transport: KubeTransport, clock: Clock, random: Random): FaultyRoad {
  const conditions: RoadConditions = { failureChance: 0, watchBreakChance: 0 };
  const noAnswer = async (): Promise<never> => {
    await sleep(clock, requestDeadlineMs);
    throw new KubeError(0, "Timeout", "no answer came back");
  };
  const mishap = async (request: KubeRequest): Promise<KubeResponse> => {
    switch (randomPick(random, mishapsOf(request))) {
      case "refused":
        return failure(500, "InternalError", "the server has a bad day");
      case "tooMany":
        return { ...failure(429, "TooManyRequests", "too many requests"), retryAfterSeconds: 1 };
      case "conflict":
        return failure(409, "Conflict", "the object has been modified");
      case "lostBefore":
        throw new KubeError(0, "Unreachable", "the connection was reset");
      case "lostAfter":
        await transport.request(request);
        throw new KubeError(0, "Timeout", "no answer came back");
      case "slow":
        await sleep(clock, randomInteger(random, 100, 5_000));
        return transport.request(request);
      case "hangsAfter":
        await transport.request(request);
        return noAnswer();
      case "hangsBefore":
        return noAnswer();
    }
  };
  return {
    conditions,
    transport: {
      async request(request) {
        const goesWrong = random.next() < conditions.failureChance;
        return goesWrong ? mishap(request) : transport.request(request);
      },
      async watch(request, onEvent) {
        if (random.next() >= conditions.watchBreakChance) return transport.watch(request, onEvent);
        const end = new AbortController();
        const abort = (): void => end.abort(ended);
        request.signal?.addEventListener("abort", abort, { once: true });
        const timer = clock.setTimer(randomInteger(random, 0, 120_000), abort);
        await transport.watch({ ...request, signal: end.signal }, onEvent);
        timer.cancel();
        request.signal?.removeEventListener("abort", abort);
        if (request.signal?.aborted === true) return;
        throw new KubeError(0, "Unreachable", "the watch broke");
      },
    },
  };
}

function mishapsOf(request: KubeRequest): readonly Mishap[] {
  if (request.method === "GET") {
    return ["refused", "tooMany", "lostBefore", "slow", "hangsBefore"];
  }
  const mishaps: Mishap[] = [
    ...(["refused", "tooMany", "lostBefore", "lostAfter", "slow"] as const),
    ...(["hangsBefore", "hangsAfter"] as const),
  ];
  return request.method === "PUT" || request.method === "PATCH"
    ? [...mishaps, "conflict"]
    : mishaps;
}

function failure(status: number, reason: string, message: string): KubeResponse {
  const body = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    message,
    code: status,
  };
  return { status, body };
}
