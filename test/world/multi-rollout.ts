// A knob rolled out to all clusters of one database, counted: kills, recoveries by the database's generation, and time
// from the first change until all are reconciled. Tests and the bench both take it from here.
import { keyedRandom } from "../../src/env/keyed-random.ts";
import type { Random } from "../../src/env/random.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions } from "./multi-regions.ts";
import type { RegionLayout } from "./multi-regions.ts";
import { knobs } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

export interface Rollout {
  mode: "local" | "global";
  /** The processes come back one after the other within this time; at once when absent. */
  spreadMs?: number;
  /** Decides the order in which they come back. */
  seed?: number;
}

export interface RolloutResult {
  clusters: number;
  mode: Rollout["mode"];
  spreadMs: number;
  /** Names of the clusters whose operators killed processes, in order. */
  killers: string[];
  /** Processes that each kill restarted. */
  killed: number[];
  recoveries: number;
  /** From the first process that stopped to the last one that was back. */
  backMs: number;
  seconds: number;
}

interface Absence {
  firstMs: number;
  lastMs: number;
}

/** One after the other on one database, with a long pause before each. */
export async function rollOut(
  layout: RegionLayout,
  minimumUptimeSeconds: number,
  rollouts: readonly Rollout[],
): Promise<RolloutResult[]> {
  const results: RolloutResult[] = [];
  const absence: Absence = { firstMs: Infinity, lastMs: 0 };
  const onLine = (line: string): void => noteAbsence(absence, line);
  const minimumUptimeSecondsForBounce = minimumUptimeSeconds;
  await MultiTestWorld.run({ names: layout.names, onLine }, async (world) => {
    await createRegions(world, layout, { minimumUptimeSecondsForBounce });
    for (const rollout of rollouts) {
      const { mode: synchronizationMode } = rollout;
      await world.changeAll({ automationOptions: { synchronizationMode } });
      // The last recovery is long ago.
      await world.clock.advance(minimumUptimeSeconds * 1000 + 5 * minuteMs);
      const knob = `knob_max_trace_lines=${1000 + results.length}`;
      results.push(await rollOne(world, rollout, knob, absence));
    }
    world.assertDataSafe();
  });
  return results;
}

async function rollOne(
  world: MultiTestWorld,
  { mode, spreadMs = 0, seed = 1 }: Rollout,
  knob: string,
  absence: Absence,
): Promise<RolloutResult> {
  await delayStarts(world, spreadMs, keyedRandom(seed, "delays"));
  absence.firstMs = Infinity;
  const { generation } = world.database;
  const startMs = world.clock.nowMs();
  await world.changeAll(knobs(knob));
  const tookMs = await world.untilAllReconciled(3 * hourMs);
  // What the restart has set off comes to its end.
  await world.clock.advance(minuteMs);
  const kills = world.acts("killProcesses", startMs);
  return {
    ...{ clusters: world.names.length, mode, spreadMs },
    killers: kills.map(({ name }) => name),
    killed: kills.map(({ action }) => action.addresses.length),
    recoveries: (world.database.generation - generation) / 2,
    backMs: absence.lastMs - absence.firstMs,
    seconds: Math.round(tookMs / 1000),
  };
}

function noteAbsence(absence: Absence, line: string): void {
  const atMs = Number(line.split(" ")[0]);
  if (/ database fdbserver \S+ stops: /.test(line)) {
    absence.firstMs = Math.min(absence.firstMs, atMs);
  } else if (/ registered \S+ \w+$/.test(line)) absence.lastMs = atMs;
}

/** In random order, evenly over the time. */
async function delayStarts(
  { worlds, multi }: MultiTestWorld,
  spreadMs: number,
  random: Random,
): Promise<void> {
  if (spreadMs === 0) return;
  const pods = (await Promise.all(worlds.map((world) => world.pods()))).flat();
  const order = pods
    .map((pod) => ({ pod, draw: random.next() }))
    .toSorted((left, right) => left.draw - right.draw);
  for (const [index, { pod }] of order.entries()) {
    const delayMs = Math.floor((index * spreadMs) / Math.max(1, pods.length - 1));
    for (const { ip = "" } of pod.status?.podIPs ?? []) {
      multi.ground.fdb.faults.delayStart(ip, delayMs);
    }
  }
}
