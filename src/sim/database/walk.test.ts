// Random trouble: whatever happens to the processes, as long as no volume is lost no data is, and
// when everything is back the database comes to rest, healthy and complete.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomInteger, randomPick, seededRandom } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import {
  addressesOf,
  hallServers,
  plainServers,
  startSample,
  summarize,
} from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

type Act = (sample: Sample, random: Random) => Promise<unknown>;

const limitMs = 8_000;

const acts: readonly Act[] = [
  async (sample, random) => sample.cluster.stop(randomPick(random, sample.cluster.names())),
  async (sample, random) => sample.cluster.restart(randomPick(random, sample.cluster.names())),
  async (sample) => {
    for (const name of sample.cluster.names()) sample.cluster.restart(name);
  },
  async (sample, random) => {
    const name = randomPick(random, sample.cluster.names());
    return sample.admin.kill([sample.cluster.address(name)], limitMs);
  },
  async (sample, random) => {
    const name = randomPick(random, sample.cluster.names());
    const wait = random.next() < 0.5;
    // One at a time: with every log process excluded the database cannot recruit any more.
    await sample.admin.include(["all"], limitMs);
    return sample.admin.exclude([sample.cluster.address(name)], { wait, timeoutMs: limitMs });
  },
  async (sample) => sample.admin.include(["all"], limitMs),
  async (sample, random) => sample.admin.configure(`logs=${randomInteger(random, 2, 4)}`, limitMs),
  async (sample, random) => {
    const [name] = [randomPick(random, sample.cluster.names())];
    const ip = sample.cluster.address(name).replace(/:\d+$/, "");
    sample.fdb.faults.cutAddress(ip);
    sample.clock.setTimer(randomInteger(random, 1, 30) * 1000, () =>
      sample.fdb.faults.restoreAddress(ip),
    );
  },
  async (sample, random) => {
    const addresses = sample.cluster.names().map((name) => sample.cluster.address(name));
    const first = randomInteger(random, 0, addresses.length - 3);
    return sample.admin.changeCoordinators(addresses.slice(first, first + 3), limitMs);
  },
  async (sample) => sample.admin.status(limitMs),
];

async function walk(sample: Sample, random: Random): Promise<void> {
  for (let step = 0; step < 40; step += 1) {
    // A command may fail in any state; what counts is the state of the database afterwards.
    await sample.call(randomPick(random, acts)(sample, random)).catch(() => undefined);
    await sample.pass(randomInteger(random, 0, 20));
    assert.deepEqual(sample.fdb.truth.dataLost(), []);
  }
  for (const name of sample.cluster.names()) sample.cluster.restart(name);
  await sample.pass(60);
  await sample.call(sample.admin.include(["all"], 60_000));
  await sample.pass(400);
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`[FDB34] [FDB21] after random trouble the database comes to rest complete (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const isHall = seed % 2 === 0;
    const servers = isHall ? hallServers(3) : plainServers();
    const coordinators = addressesOf(
      servers,
      isHall ? ["log-h1z1", "log-h2z1", "log-h3z1"] : ["log-1", "log-2", "log-3"],
    );
    const sample = await startSample({ servers, coordinators, seed });
    await sample.call(
      sample.admin.configure(isHall ? "new three_data_hall ssd" : "new double ssd", 60_000),
    );
    await walk(sample, random);
    const line = summarize(await sample.status());
    assert.deepEqual(
      [line.available, line.healthy, line.recovery, line.data, line.processes],
      [true, true, "fully_recovered", "healthy", servers.length],
    );
    const copies = isHall ? 3 : 2;
    for (const shard of sample.fdb.truth.replicas()) {
      assert.equal(shard.replicas.filter((replica) => replica.isLive).length, copies);
    }
    assert.equal(sample.clock.pendingTimers, 0);
  });
}
