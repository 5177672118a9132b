// What the Kubernetes clusters of a world stand on together: time, chance, the history, one network that all pods are on,
// and one simulated FoundationDB. Carries rules MU1 and MU2.
import { createPodNetwork } from "../emulator/pod-network.ts";
import type { EmulatedPodNetwork } from "../emulator/pod-network.ts";
import type { Clock } from "../env/clock.ts";
import { keyedRandom } from "../env/keyed-random.ts";
import { silentLog } from "../env/log.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import { createSimulatedFdb } from "./database/simulated-fdb.ts";
import type { SimulatedFdb, SimulatedFdbOptions } from "./database/simulated-fdb.ts";
import { standardObjectStore } from "./standard-object-store.ts";
import { traceLog } from "./trace-log.ts";
import type { Trace } from "./trace.ts";

export interface GroundOptions {
  clock: Clock;
  seed: number;
  /** Records the history; logs go there too unless `log` is given. */
  trace?: Trace;
  log?: Log;
  database?: Partial<
    Pick<
      SimulatedFdbOptions,
      "timings" | "initialBytes" | "newcomersFirst" | "supportedVersions" | "commitFault" | "onTool"
    >
  >;
}

export interface Ground {
  readonly clock: Clock;
  readonly trace: Trace | undefined;
  readonly network: EmulatedPodNetwork;
  readonly fdb: SimulatedFdb;
  /** Chances of one part, drawn from the seed and its name. */
  random(part: string): Random;
  logOf(part: string): Log;
}

export function createGround(options: GroundOptions): Ground {
  const { clock, seed, trace } = options;
  const network = createPodNetwork(clock);
  const random = (part: string): Random => keyedRandom(seed, part);
  const fdb = createSimulatedFdb({
    clock,
    random: random("database"),
    resolver: network,
    trace: (line) => trace?.append("database", line),
    onConnection: (from, { host, port, useTls }) =>
      network.noteConnection({ from, host, port, useTls }),
    ...options.database,
  });
  network.shownAt = (ip, port) => fdb.certificateAt(ip, port);
  fdb.objectStores.add(standardObjectStore.address, standardObjectStore);
  return {
    ...{ clock, trace, network, random, fdb },
    logOf: (source) =>
      options.log?.with({ source }) ?? (trace === undefined ? silentLog : traceLog(trace, source)),
  };
}
