// The reflector on the emulated API server behind a link that cuts streams, loses requests, forgets history
// and is slow, while other clients create, change and delete objects: nothing may be missed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "../../src/emulator/api-server.ts";
import { sleep } from "../../src/env/clock.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { ConfigMap } from "../../src/kube/generated/types.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { configMaps } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

type StoredMap = Stored<ConfigMap>;

/** A transport that fails now and then; `cut` breaks all open watches. */
function unreliable(inner: KubeTransport, clock: VirtualClock, random: Random) {
  const open = new Set<() => void>();
  const broken = () => new KubeError(0, "Unreachable", "cut");
  const transport: KubeTransport = {
    async request(request) {
      await sleep(clock, randomInteger(random, 0, 300));
      if (random.next() < 0.2) throw broken();
      const answer = await inner.request(request);
      await sleep(clock, randomInteger(random, 0, 300));
      if (random.next() < 0.1) throw broken();
      return answer;
    },
    async watch(request, onEvent) {
      if (random.next() < 0.2) throw broken();
      const end = new AbortController();
      const { promise, reject } = Promise.withResolvers<never>();
      const cut = (): void => {
        end.abort();
        reject(broken());
      };
      const abort = (): void => end.abort();
      request.signal?.addEventListener("abort", abort, { once: true });
      open.add(cut);
      try {
        await Promise.race([inner.watch({ ...request, signal: end.signal }, onEvent), promise]);
      } finally {
        open.delete(cut);
        request.signal?.removeEventListener("abort", abort);
      }
    },
  };
  const cut = (): void => {
    for (const end of open) end();
  };
  return { transport, cut };
}

/** Creates, changes or deletes one of a few objects, whatever is possible. */
async function changeSomething(client: KubeClient, random: Random, turn: number): Promise<void> {
  const key = { namespace: "default", name: `m${randomInteger(random, 0, 5)}` };
  const current = await client.find(configMaps, key);
  const data = { turn: String(turn) };
  if (current === undefined) {
    const map: StoredMap = { apiVersion: "v1", kind: "ConfigMap", metadata: key, data };
    await client.create(configMaps, map);
  } else if (random.next() < 0.3) {
    await client.delete(configMaps, key);
  } else {
    await client.update(configMaps, { ...current, data });
  }
}

/** Changes an object over the unreliable link and hands the answer to the cache, however late it comes. */
async function changeOurselves(
  client: KubeClient,
  reflector: Reflector<StoredMap>,
  random: Random,
  deletedUids: Set<string>,
): Promise<string | undefined> {
  const all = reflector.list();
  const held = all[randomInteger(random, 0, all.length)];
  try {
    if (held === undefined) {
      const metadata = { namespace: "default", name: `m${randomInteger(random, 0, 5)}` };
      const map: StoredMap = { apiVersion: "v1", kind: "ConfigMap", metadata };
      reflector.observeWrite(await client.create(configMaps, map));
      return undefined;
    }
    const key = { namespace: "default", name: held.metadata.name ?? "" };
    if (random.next() < 0.3) {
      const preconditions = { uid: held.metadata.uid };
      const answer = await client.delete(configMaps, key, { preconditions });
      reflector.observeDelete(held, answer);
      deletedUids.add(held.metadata.uid ?? "");
      const isBack = reflector.get(key)?.metadata.uid === held.metadata.uid;
      return isBack ? `${key.name} is read after our own delete` : undefined;
    }
    const patch = { data: { ours: String(random.next()) } };
    const written = await client.patch(configMaps, key, patch, { type: "merge" });
    reflector.observeWrite(written);
    const seen = [reflector.get(key)?.metadata.resourceVersion, reflector.resourceVersion];
    const isSeen = seen.some(
      (version) => Number(version) >= Number(written.metadata.resourceVersion),
    );
    // Two of our own calls may overtake each other: the delete can be known before the older write.
    const isGone = deletedUids.has(written.metadata.uid ?? "");
    return isSeen || isGone ? undefined : `${key.name} is not read after our own write`;
  } catch (error) {
    // Lost races and a broken link are part of the game; the writer would look again.
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

async function playWorld(
  seed: number,
): Promise<{ cuts: number; compactions: number; changes: number }> {
  const random = keyedRandom(seed, "faults");
  const clock = new VirtualClock();
  const server = createApiServer({ clock, random: keyedRandom(seed, "server") });
  const link = unreliable(server.transport(), clock, keyedRandom(seed, "link"));
  const writer = new KubeClient(server.transport(), { userAgent: "writer" });
  const client = new KubeClient(link.transport, { userAgent: "reader" });
  const reflector = new Reflector<StoredMap>({
    client,
    resource: configMaps,
    clock,
    random: keyedRandom(seed, "reflector"),
    namespace: "default",
    pageSize: 2,
  });
  // What a listener can rebuild from changes alone must be the copy at all times.
  const rebuilt = new Map<string, string>();
  const gaps: string[] = [];
  const deletedUids = new Set<string>();
  const ours: Promise<string | undefined>[] = [];
  let changes = 0;
  reflector.onChange(({ type, object, old }) => {
    const { name = "", resourceVersion = "" } = object.metadata;
    changes += 1;
    if (old?.metadata.resourceVersion !== rebuilt.get(name)) gaps.push(`${type} of ${name}`);
    if (type === "DELETED") rebuilt.delete(name);
    else rebuilt.set(name, resourceVersion);
  });
  const stop = new AbortController();
  const running = reflector.start(stop.signal);
  const counts = { cuts: 0, compactions: 0 };
  for (let turn = 0; turn < 120; turn += 1) {
    const choice = random.next();
    if (choice < 0.1) {
      link.cut();
      counts.cuts += 1;
    } else if (choice < 0.15) {
      server.compact();
      counts.compactions += 1;
    }
    for (let count = randomPick(random, [0, 1, 1, 5]); count > 0; count -= 1) {
      await changeSomething(writer, random, turn);
    }
    if (random.next() < 0.7) ours.push(changeOurselves(client, reflector, random, deletedUids));
    await clock.advance(randomPick(random, [20, 50, 100, 100, 300, 10_000]));
  }
  // A last change shows that the copy still follows.
  await changeSomething(writer, random, 120);
  const state = async () => {
    const { items } = await writer.list(configMaps, { namespace: "default" });
    return items.map((item) => [item.metadata.name, item.metadata.resourceVersion]).toSorted();
  };
  await clock.advance(200_000);
  const copy = reflector.list().map((item) => [item.metadata.name, item.metadata.resourceVersion]);
  assert.deepEqual(copy.toSorted(), await state());
  assert.deepEqual([...rebuilt].toSorted(), await state());
  assert.deepEqual(gaps, []);
  assert.deepEqual((await Promise.all(ours)).filter(Boolean), []);
  stop.abort();
  await running;
  return { ...counts, changes };
}

test("[KUBE29] whatever the link does, the copy ends as the server's state and no change is missed", async () => {
  const sum = { cuts: 0, compactions: 0, changes: 0 };
  for (let seed = 1; seed <= 30; seed += 1) {
    const counts = await playWorld(seed);
    sum.cuts += counts.cuts;
    sum.compactions += counts.compactions;
    sum.changes += counts.changes;
  }
  assert.ok(sum.cuts > 200 && sum.compactions > 100 && sum.changes > 2000, JSON.stringify(sum));
});
