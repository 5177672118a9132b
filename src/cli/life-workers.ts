// Lives of clusters on several processors: each worker is a thread that runs this very program and lives one life after
// the other. What a life is depends on its seed alone, so it does not matter who lives it. Rules: spec/world.md [W69].
import { parentPort, Worker } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { shapeOfSeed } from "../sim/workloads/life-scene.ts";
import { walkLife } from "../sim/workloads/life-walk.ts";
import type { LifeOptions, LifeResult } from "../sim/workloads/life-walk.ts";
import { noStalls } from "../sim/workloads/stall-watch.ts";

/** What a thread can be told. */
export interface LifeRequest {
  seed: number;
  options: Omit<LifeOptions, "onLine" | "checks">;
}

export interface LifeWorkers<R = LifeRequest> {
  /** The program that a worker runs; it must come to `serveLives` with the same `live` when it is asked to simulate. */
  entry: string;
  count: number;
  live: (request: R) => Promise<LifeResult>;
}

/** What tells how a life begins. */
interface AnyRequest {
  seed: number;
  options?: Pick<LifeOptions, "backups">;
}

/** Lives through all of them and hands each result on in the order of the requests, which are drawn one by one. */
export async function liveAll<R extends AnyRequest>(
  requests: Iterable<R>,
  { entry, count, live: liveHere }: LifeWorkers<R>,
  onResult: (result: LifeResult) => void,
): Promise<void> {
  const results = new Map<number, LifeResult>();
  const source = requests[Symbol.iterator]();
  let drawn = 0;
  let told = 0;
  const work = async (): Promise<void> => {
    const begin = (): LifeThread<R> =>
      count > 1 ? lifeThread(entry) : { ask: liveHere, end: async () => 0 };
    let live: LifeThread<R> | undefined;
    for (let next = source.next(); next.done !== true; next = source.next()) {
      const request = next.value;
      const index = drawn++;
      live ??= begin();
      const answer = await live.ask(request).catch((error: unknown) => {
        // A life that ends its thread, by using up its memory for example, is a failed one, not the end of the others.
        live = undefined;
        return endedLife(request, error);
      });
      results.set(index, answer);
      for (let ready = results.get(told); ready !== undefined; ready = results.get(told)) {
        results.delete(told);
        told += 1;
        onResult(ready);
      }
    }
    await live?.end();
  };
  await Promise.all(Array.from({ length: count }, work));
}

export function liveOnce({ seed, options }: LifeRequest): Promise<LifeResult> {
  return walkLife(seed, options);
}

function endedLife({ seed, options }: AnyRequest, error: unknown): LifeResult {
  const shape = shapeOfSeed(seed, options?.backups);
  return {
    ...{ seed, shape, events: [], lastLines: [], hash: "", virtualMinutes: 0 },
    ...{ stalls: noStalls(), transfers: 0 },
    failure: String(error),
  };
}

interface LifeThread<R> {
  ask: (request: R) => Promise<LifeResult>;
  end: () => Promise<number>;
}

function lifeThread<R>(entry: string): LifeThread<R> {
  const worker = new Worker(entry, { argv: ["simulate"] });
  return {
    end: () => worker.terminate(),
    ask: (request) =>
      new Promise((resolve, reject) => {
        const failed = (error: unknown): void => {
          reject(new Error(`it ended its thread: ${String(error)}`));
        };
        worker.once("error", failed);
        worker.once("message", (result: LifeResult) => {
          worker.off("error", failed);
          resolve(result);
        });
        worker.postMessage(request, []);
      }),
  };
}

/** Inside a worker: lives what it is asked to until it is ended. False in the main thread. */
export function serveLives(
  live: LifeWorkers<never>["live"],
  port: MessagePort | null = parentPort,
): boolean {
  if (port === null) return false;
  port.on("message", (request: unknown) => {
    void live(request as never).then((result) => port.postMessage(result));
  });
  return true;
}
