// Two regions with satellites: the order in which they must be configured, kills by datacenter,
// failover and the way back.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressesOf,
  regionServers,
  regionsWord,
  startSample,
  summarize,
} from "./sample-cluster.ts";
import type { Sample } from "./sample-cluster.ts";

const servers = regionServers();
const nineCoordinators = [
  ...["dc1-log-1", "dc1-log-2", "dc1-storage-1", "dc2-log-1", "dc2-log-2", "dc2-storage-1"],
  ...["dc3-log-1", "dc3-log-2", "dc4-log-1"],
];

async function start(): Promise<Sample> {
  const coordinators = addressesOf(servers, ["dc1-log-1", "dc2-log-1", "dc3-log-1"]);
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new double ssd usable_regions=1", 60_000));
  await sample.pass(40);
  return sample;
}

async function startTwoRegions(): Promise<Sample> {
  const sample = await start();
  for (const step of [regionsWord(-1), "usable_regions=2", regionsWord(0)]) {
    await sample.call(sample.admin.configure(step, 60_000));
    await sample.pass(70);
  }
  await sample.call(
    sample.admin.changeCoordinators(addressesOf(servers, nineCoordinators), 60_000),
  );
  await sample.pass(60);
  return sample;
}

test("[FDB23] the orders that FoundationDB refuses are refused, with its texts", async () => {
  const sample = await start();
  const refusals: [string, RegExp][] = [
    ["usable_regions=2", /^ERROR: These changes would make the configuration invalid$/],
    [
      'regions=[{\\"datacenters\\":[{\\"id\\":\\"dcX\\",\\"priority\\":1}]}]',
      /^ERROR: All storage servers must be in one of the known regions$/,
    ],
  ];
  for (const [words, message] of refusals) {
    await assert.rejects(sample.call(sample.admin.configure(words, 60_000)), { code: 0, message });
  }
  await sample.call(sample.admin.configure(regionsWord(0), 60_000));
  await assert.rejects(sample.call(sample.admin.configure("usable_regions=2", 60_000)), {
    message: "ERROR: When changing usable_regions, only one region can have priority >= 0",
  });
  await assert.rejects(
    sample.call(sample.admin.configure(`usable_regions=2 ${regionsWord(-1)}`, 60_000)),
    {
      message:
        "ERROR: The region configuration cannot be changed while simultaneously changing usable_regions",
    },
  );
  assert.equal(summarize(await sample.status()).generation, 4);
});

test("[FDB16] [FDB26] the three steps to two regions", async () => {
  const sample = await start();
  await sample.call(sample.admin.configure(regionsWord(-1), 60_000));
  assert.equal(summarize(await sample.status()).fullReplication, false);
  await sample.pass(60);
  const first = summarize(await sample.status());
  assert.deepEqual(
    [first.generation, first.primary, first.fullReplication, first.tolerance, first.epochs],
    [4, "dc1", true, [1, 1], ["4:3:1"]],
  );
  assert.deepEqual(first.roles, { ...(first.roles as object), storage: 2 });
  await sample.call(sample.admin.configure("usable_regions=2", 60_000));
  await sample.pass(38);
  const populating = await sample.status();
  const trackers = populating.cluster?.data?.team_trackers;
  assert.deepEqual(
    trackers?.map((tracker) => [tracker.primary, tracker.state?.name]),
    [
      [true, "healthy"],
      [false, "healthy_populating_region"],
    ],
  );
  assert.equal(populating.cluster?.full_replication, false);
  await sample.pass(30);
  const second = await sample.status();
  const set = second.cluster?.logs?.[0];
  assert.equal(set?.log_interfaces?.length, 8);
  assert.deepEqual(
    [set?.satellite_log_replication_factor, set?.satellite_log_fault_tolerance],
    [2, 1],
  );
  assert.deepEqual([set?.remote_log_replication_factor, set?.remote_log_fault_tolerance], [2, 1]);
  const line = summarize(second);
  assert.deepEqual([line.generation, line.fullReplication, line.tolerance], [6, true, [1, 0]]);
  assert.deepEqual(line.roles, { ...(line.roles as object), storage: 4, router: 3 });
  await sample.call(sample.admin.configure(regionsWord(0), 60_000));
  await sample.pass(60);
  assert.deepEqual(summarize(await sample.status()).tolerance, [1, 1]);
  for (const shard of sample.fdb.truth.replicas()) {
    const places = shard.replicas.map((replica) => replica.localities["dcid"] ?? "").toSorted();
    assert.deepEqual(places, ["dc1", "dc1", "dc2", "dc2"]);
  }
});

test("[FDB10] with a second region a recovery passes accepting_commits for seconds", async () => {
  const sample = await startTwoRegions();
  assert.deepEqual(summarize(await sample.status()).tolerance, [2, 1]);
  await sample.call(sample.admin.configure("logs=2", 60_000));
  const first = summarize(await sample.status());
  assert.deepEqual([first.recovery, first.epochs], ["accepting_commits", ["12:4:1", "10:8:1"]]);
  await sample.pass(10);
  assert.equal(summarize(await sample.status()).recovery, "all_logs_recruited");
  await sample.pass(5);
  assert.equal(summarize(await sample.status()).recovery, "fully_recovered");
});

test("[FDB9] [FDB16] kills: all at once two generations, an idle satellite none", async () => {
  const sample = await startTwoRegions();
  const kill = async (pattern: RegExp): Promise<number> => {
    const before = sample.fdb.truth.databases()[0]?.generation ?? 0;
    const names = sample.cluster.names().filter((name) => pattern.test(name));
    await sample.call(
      sample.admin.kill(
        names.map((name) => sample.cluster.address(name)),
        60_000,
      ),
    );
    await sample.pass(30);
    return (sample.fdb.truth.databases()[0]?.generation ?? 0) - before;
  };
  assert.equal(await kill(/./), 2);
  assert.equal(await kill(/^dc1/), 2);
  assert.equal(await kill(/^dc2/), 2);
  assert.equal(await kill(/^dc3/), 2);
  assert.equal(await kill(/^dc4/), 0);
});

test("[FDB16] [FDB26] the primary region is lost, the other takes over, and gives back", async () => {
  const sample = await startTwoRegions();
  for (const name of sample.cluster.names()) if (name.startsWith("dc1")) sample.cluster.stop(name);
  await sample.pass(15);
  assert.equal(summarize(await sample.status()).available, false);
  await sample.pass(35);
  const taken = summarize(await sample.status());
  assert.deepEqual(
    [taken.available, taken.primary, taken.recovery, taken.tolerance],
    [true, "dc2", "accepting_commits", [-1, -1]],
  );
  for (const name of sample.cluster.names())
    if (name.startsWith("dc1")) sample.cluster.restart(name);
  await sample.pass(40);
  const back = summarize(await sample.status());
  assert.deepEqual(
    [back.primary, back.recovery, back.tolerance],
    ["dc1", "fully_recovered", [2, 1]],
  );
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB62] a recovery is forced into the datacenter that is left, from its logs", async () => {
  const sample = await startTwoRegions();
  const coordinators = addressesOf(servers, ["dc2-log-1", "dc2-log-2", "dc2-storage-1"]);
  const connection = await sample.call(sample.admin.changeCoordinators(coordinators, 60_000));
  const key = new TextEncoder().encode("kept");
  const write = sample.admin.transact(async (transaction) => transaction.set(key, key), {
    timeoutMs: 60_000,
  });
  await sample.call(write);
  await sample.pass(60);
  for (const name of sample.cluster.names()) if (!name.startsWith("dc2")) sample.cluster.stop(name);
  await sample.pass(120);
  assert.equal(summarize(await sample.status()).available, false);
  const answers: string[] = [];
  const fdbcli = async (command: string): Promise<number> => {
    const tool = sample.fdb.runtime.startTool?.({
      ...{ name: "fdbcli", calledAs: "fdbcli", binaryPath: "/usr/bin/fdbcli", version: "7.3.79" },
      args: ["-C", "/f", "--exec", command, "--timeout", "60"],
      pod: { namespace: "default", name: "a", uid: "a", ips: ["10.4.0.9"] },
      nodeName: "node",
      files: { read: () => connection, write: () => false, locate: () => undefined },
      write: (_stream, text) => void answers.push(text),
    });
    return (await sample.call(tool?.exited ?? Promise.resolve({ code: -1 }))).code;
  };
  assert.equal(await fdbcli("force_recovery_with_data_loss dc9"), 1);
  assert.deepEqual(answers, ["ERROR: There is no region with the datacenter dc9\n"]);
  assert.equal(await fdbcli("force_recovery_with_data_loss dc2"), 0);
  await sample.pass(120);
  const forced = summarize(await sample.status());
  assert.deepEqual(
    [forced.available, forced.primary, forced.recovery],
    [true, "dc2", "fully_recovered"],
  );
  const { cluster } = await sample.status();
  assert.equal(cluster?.configuration?.usable_regions, 1);
  const read = sample.admin.transact((transaction) => transaction.get(key), { timeoutMs: 60_000 });
  assert.deepEqual(await sample.call(read), key);
});

test("[FDB82] swapped priorities move the primary in two recoveries; a region that is far behind waits", async () => {
  const sample = await startTwoRegions();
  const swapped = regionsWord(2);
  sample.fdb.faults.lagRegions(60);
  assert.deepEqual((await sample.status()).cluster?.datacenter_lag, {
    seconds: 60,
    versions: 60_000_000,
  });
  await sample.call(sample.admin.configure(swapped, 60_000));
  await sample.pass(120);
  assert.equal(summarize(await sample.status()).primary, "dc1");
  sample.fdb.faults.lagRegions(0);
  await sample.pass(60);
  assert.equal(summarize(await sample.status()).primary, "dc2");
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
  const before = sample.fdb.truth.databases()[0]?.recoveries.length ?? 0;
  await sample.call(sample.admin.configure(regionsWord(0), 60_000));
  // The first one is where the primary was, for the configuration; seconds later the other one moves it.
  await sample.pass(2);
  assert.equal(summarize(await sample.status()).primary, "dc2");
  await sample.pass(4);
  assert.equal(summarize(await sample.status()).primary, "dc1");
  await sample.pass(60);
  assert.equal(summarize(await sample.status()).primary, "dc1");
  assert.equal((sample.fdb.truth.databases()[0]?.recoveries.length ?? 0) - before, 2);
});

test("[FDB82] priorities that are swapped and swapped back leave the primary where it is", async () => {
  const sample = await startTwoRegions();
  await sample.call(sample.admin.configure(regionsWord(2), 60_000));
  await sample.pass(1);
  await sample.call(sample.admin.configure(regionsWord(0), 60_000));
  await sample.pass(60);
  assert.equal(summarize(await sample.status()).primary, "dc1");
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB82] a datacenter that dies while the primary moves to it gets it when it is back", async () => {
  const sample = await startTwoRegions();
  await sample.call(sample.admin.configure(regionsWord(2), 60_000));
  await sample.pass(1);
  const names = sample.cluster.names().filter((name) => name.startsWith("dc2"));
  for (const name of names) sample.cluster.stop(name);
  await sample.pass(60);
  const without = summarize(await sample.status());
  assert.deepEqual([without.available, without.primary], [true, "dc1"]);
  for (const name of names) sample.cluster.restart(name);
  await sample.pass(60);
  assert.equal(summarize(await sample.status()).primary, "dc2");
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});
