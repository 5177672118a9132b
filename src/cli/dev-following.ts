// What `npm start` tells after everything has come up: whatever is changed from then on, with a view of it while it is
// being brought about on a terminal, and a line when it is in force. Rules: spec/cli.md [CLI13].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { sleep } from "../env/clock.ts";
import { isCalm, progressOf } from "./dev-progress.ts";
import { clustersOf, named, shownBeside } from "./dev-watching.ts";
import type { DevHost, Tellers, WatchedSite } from "./dev-watching.ts";
import { formatElapsed, renderBrief, renderProgress } from "./progress-view.ts";

const lookMs = 200;

/** Ends with the signal. */
export async function followChanges(
  sites: readonly WatchedSite[],
  host: DevHost,
  startedMs: number,
  tellers: Tellers,
): Promise<void> {
  /** Since when clusters are being changed to which generation, by name. */
  const changing = new Map<string, { sinceMs: number; generation: number }>();
  /** The generation that was told last, by name: a quick change is over before anybody looks. */
  const told = new Map<string, number>();
  for (const { name, cluster } of await clustersAt(sites)) told.set(name, generationOf(cluster));
  while (!host.signal.aborted) {
    const found = await clustersAt(sites);
    const nowMs = sites[0]?.world.clock.nowMs() ?? startedMs;
    const names = new Set(found.map(({ name }) => name));
    for (const name of changing.keys()) if (!names.has(name)) changing.delete(name);
    for (const { name, cluster } of found) {
      const isChanged = !isCalm(cluster) || told.get(name) !== generationOf(cluster);
      const generation = generationOf(cluster);
      // A spec that is corrected meanwhile is another change: it takes its own time.
      if (isChanged && changing.get(name)?.generation !== generation) {
        changing.set(name, { sinceMs: nowMs, generation });
      }
    }
    const busy = found.filter(({ name }) => changing.has(name));
    const lines = busy.flatMap(({ name, cluster, actions }) => {
      const { sinceMs } = changing.get(name) ?? { sinceMs: nowMs };
      const state = { ...progressOf(cluster, { nowMs, startedMs: sinceMs, actions }), name };
      return found.length === 1
        ? renderProgress(state, host.output)
        : renderBrief(state, host.output);
    });
    if (lines.length > 0) host.output.live(lines);
    const done = busy.filter(({ cluster }) => isCalm(cluster));
    if (done.length > 0) host.output.settle();
    for (const { name, cluster } of done) {
      const elapsedMs = nowMs - (changing.get(name)?.sinceMs ?? nowMs);
      changing.delete(name);
      told.set(name, generationOf(cluster));
      host.output.line(doneText(name, cluster, elapsedMs));
    }
    for (const { world } of sites) {
      for (const { tell } of await shownBeside(world, host.output)) tell(tellers, nowMs);
    }
    await sleep(host.realClock, lookMs, host.signal);
  }
  if (changing.size > 0) host.output.settle();
}

function generationOf({ metadata }: FoundationDBCluster): number {
  return metadata.generation ?? 0;
}

function doneText(name: string, { spec, status }: FoundationDBCluster, elapsedMs: number): string {
  if (spec.skip === true) return `${name} is left alone (spec.skip).`;
  const generation = status?.generations?.reconciled ?? 0;
  return `Reconciled generation ${generation} of ${name} after ${formatElapsed(elapsedMs)}.`;
}

interface FollowedCluster {
  name: string;
  cluster: FoundationDBCluster;
  /** What the operator did last, the newest last. */
  actions: readonly string[];
}

async function clustersAt(sites: readonly WatchedSite[]): Promise<FollowedCluster[]> {
  const found: FollowedCluster[] = [];
  for (const { world, recent } of sites) {
    for (const cluster of await clustersOf(world)) {
      found.push({ name: named(world, cluster.metadata.name ?? ""), cluster, actions: recent });
    }
  }
  return found;
}
