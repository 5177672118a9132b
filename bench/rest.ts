// An operator at rest: waits until nothing of the work before is left, and names every write after that, with what it
// changed in a status. A cluster at rest must cause none but those to the Lease.
import { createPatch } from "rfc6902";
import { foundationDbClusters } from "../src/api/cluster.ts";
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import { sleep } from "../src/env/clock.ts";
import type { Clock } from "../src/env/clock.ts";
import { machineRandom } from "../src/env/random.ts";
import { Reflector } from "../src/kube/reflector.ts";
import type { Stored } from "../src/kube/resource.ts";
import { operatorUser } from "../test/end-to-end/installation.ts";
import type { Program } from "../test/end-to-end/programs.ts";
import type { EndToEnd } from "../test/end-to-end/scenario.ts";
import { scrape } from "./scraped-metrics.ts";
import type { Metrics } from "./scraped-metrics.ts";

/** News that may wait are written within half a minute, and at rest a database is asked twice a minute. */
const quietMs = 60_000;
const settleWithinMs = 300_000;
const writingVerbs: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

export interface Rest {
  /** Absent when writes went on for as long as the limit allowed. */
  settledAfterSeconds: number | undefined;
  begun: Metrics;
  rested: Metrics;
  /** Leases left out. */
  writesBefore: readonly RestWrite[];
  writes: readonly RestWrite[];
}

export interface RestWrite {
  atMs: number;
  text: string;
}

export async function watchRest(
  world: EndToEnd,
  operator: Program,
  clock: Clock,
  seconds: number,
): Promise<Rest> {
  const changes = new StatusChanges();
  const ending = new AbortController();
  const { client, controlPlane } = world;
  const random = machineRandom();
  const reflector = new Reflector({ client, resource: foundationDbClusters, clock, random });
  reflector.onChange(({ object, old }) => changes.note(object, old));
  void reflector.start(ending.signal);
  await reflector.synced;
  const watchedMs = clock.nowMs();
  const settledAfterSeconds = await settle(operator, clock);
  const begunMs = clock.nowMs();
  const begun = await scrape(operator);
  await sleep(clock, seconds * 1000);
  const rested = await scrape(operator);
  ending.abort();
  const writes = controlPlane
    .audited(operatorUser)
    .filter(({ atMs }) => atMs >= watchedMs)
    .filter(({ verb, resource }) => writingVerbs.has(verb) && resource !== "leases")
    .map(({ verb, resource, namespace = "", name = "", code, atMs }) => {
      const isStatus = resource === "foundationdbclusters/status" && code === 200;
      const what = isStatus ? changes.next(name) : "";
      return { atMs, text: `${verb} ${resource} ${namespace}/${name}: ${code} ${what}` };
    });
  return {
    ...{ settledAfterSeconds, begun, rested },
    writesBefore: writes.filter(({ atMs }) => atMs < begunMs),
    writes: writes.filter(({ atMs }) => atMs >= begunMs),
  };
}

/** Waits until no pass is under way and nothing was written for a while. */
async function settle(operator: Program, clock: Clock): Promise<number | undefined> {
  const startedMs = clock.nowMs();
  let quietSinceMs = startedMs;
  let writes = -1;
  while (clock.nowMs() - startedMs < settleWithinMs) {
    const metrics = await scrape(operator);
    const waiting = metrics.sum("fdb_operator_queue_depth");
    if (metrics.writes() !== writes || waiting > 0) quietSinceMs = clock.nowMs();
    writes = metrics.writes();
    if (clock.nowMs() - quietSinceMs >= quietMs) return (quietSinceMs - startedMs) / 1000;
    await sleep(clock, 2_000);
  }
  return undefined;
}

class StatusChanges {
  readonly #texts = new Map<string, string[]>();

  note(object: Stored<FoundationDBCluster>, old: Stored<FoundationDBCluster> | undefined): void {
    if (old === undefined) return;
    const { name = "" } = object.metadata;
    const texts = createPatch(old.status ?? {}, object.status ?? {}).map(
      (change) =>
        `${change.op} ${change.path} ${JSON.stringify("value" in change ? change.value : "")}`,
    );
    this.#texts.set(name, [...(this.#texts.get(name) ?? []), texts.join(", ")]);
  }

  /** What the next write to this resource changed. */
  next(name: string): string {
    return this.#texts.get(name)?.shift() ?? "";
  }
}
