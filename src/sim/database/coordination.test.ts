// Quorums, forwards, protocol lines, and databases beside each other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import { bytesOfBinary, bytesOfText } from "../../fdb/bytes.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createLocalCluster } from "./local-cluster.ts";
import {
  plainCoordinators,
  plainServers,
  startPlain,
  startSample,
  summarize,
} from "./sample-cluster.ts";
import { createSimulatedFdb } from "./simulated-fdb.ts";

test("[FDB4] one coordinator of three may be down, two may not", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.stop("log-3");
  await sample.pass(15);
  assert.equal(summarize(await sample.status()).available, true);
  sample.cluster.stop("log-2");
  const status = await sample.status();
  assert.deepEqual(status.cluster, { layers: { _valid: false } });
  assert.deepEqual(
    status.client?.coordinators?.coordinators?.map((coordinator) => coordinator.reachable),
    [true, false, false],
  );
  assert.equal(status.client?.messages?.[0]?.name, "quorum_not_reachable");
  sample.cluster.restart("log-2");
  await sample.pass(5);
  assert.equal(summarize(await sample.status()).available, true);
});

test("[FDB4] status without a quorum takes five seconds, or fails at its time limit", async () => {
  const sample = await startPlain();
  for (const name of ["log-1", "log-2", "log-3"]) sample.cluster.stop(name);
  const startedMs = sample.clock.nowMs();
  const status = await sample.status();
  assert.equal(status.client?.database_status?.available, false);
  assert.equal(sample.clock.nowMs() - startedMs, 5100);
  await assert.rejects(sample.status(5_000), { code: 1031 });
});

test("[FDB5] a client and a process with the old connection string follow the coordinators", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.stop("storage-3");
  const next = ["10.1.0.11:4501", "10.1.0.12:4501", "10.1.0.1:4501"];
  const text = await sample.call(sample.admin.changeCoordinators(next, 60_000));
  assert.match(
    text,
    /^sample:[A-Za-z0-9]{32}@10\.1\.0\.11:4501,10\.1\.0\.12:4501,10\.1\.0\.1:4501$/,
  );
  const stale = sample.fdb.admin.open({
    name: "stale",
    connectionString: sample.connectionString,
    version: "7.3.79",
  });
  assert.equal(await sample.call(stale.connectionString(10_000)), text);
  const path = "/var/fdb/data/fdb.cluster";
  const asServersWriteIt = (line: string): string =>
    `# DO NOT EDIT!\n# This file is auto-generated, it is not to be edited by hand\n${line}\n`;
  assert.equal(sample.cluster.files("log-2").get(path), asServersWriteIt(text));
  assert.equal(
    sample.cluster.files("storage-3").get(path),
    asServersWriteIt(sample.connectionString),
  );
  sample.cluster.restart("storage-3");
  await sample.pass(5);
  assert.equal(sample.cluster.files("storage-3").get(path), asServersWriteIt(text));
  assert.equal(summarize(await sample.status()).processes, 8);
});

test("[FDB5] coordinators may be host names that resolve later", async () => {
  const hosts = new Map<string, string>();
  const servers = plainServers();
  const sample = await startSample({
    servers,
    coordinators: ["log-1.svc:4501", "log-2.svc:4501", "log-3.svc:4501"],
    resolver: { resolve: (host) => hosts.get(host) },
  });
  assert.equal((await sample.status()).client?.coordinators?.quorum_reachable, false);
  for (const index of [1, 2, 3]) hosts.set(`log-${index}.svc`, `10.1.0.1${index}`);
  await sample.pass(10);
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  assert.equal(summarize(await sample.status()).available, true);
});

test("[FDB84] coordinators whose names no longer resolve forward when they do again, or nothing changes", async () => {
  const names = [1, 2, 3].map((index) => [`log-${index}.svc`, `10.1.0.1${index}`] as const);
  const hosts = new Map<string, string>(names);
  const sample = await startPlain({
    coordinators: names.map(([host]) => `${host}:4501`),
    resolver: { resolve: (host) => hosts.get(host) },
  });
  const { clock, connectionString } = sample;
  const stale = sample.fdb.admin.open({ name: "stale", connectionString, version: "7.3.79" });
  const goAway = (): void => hosts.clear();
  const comeBack = (): void => {
    for (const [host, ip] of names) hosts.set(host, ip);
  };
  clock.setTimer(100, goAway);
  const tooShort = sample.admin.changeCoordinators(plainCoordinators, 5_000);
  await assert.rejects(sample.call(tooShort), { code: 1031 });
  comeBack();
  assert.equal(await sample.call(stale.connectionString(10_000)), connectionString);
  clock.setTimer(100, goAway);
  clock.setTimer(5_000, comeBack);
  const text = await sample.call(sample.admin.changeCoordinators(plainCoordinators, 60_000));
  assert.equal(await sample.call(stale.connectionString(10_000)), text);
  const { client } = await sample.call(stale.status(10_000));
  const addresses = client?.coordinators?.coordinators?.map(({ address }) => address);
  assert.deepEqual(addresses, plainCoordinators);
});

test("[FDB84] so it is with a transaction on special keys", async () => {
  const name = "log-1.svc";
  const hosts = new Map([[name, "10.1.0.11"]]);
  const sample = await startPlain({
    coordinators: [`${name}:4501`],
    resolver: { resolve: (host) => hosts.get(host) },
  });
  const { clock, connectionString } = sample;
  const key = bytesOfBinary("\xff\xff/configuration/coordinators/processes");
  const change = sample.admin.transact(
    async (transaction) => {
      transaction.set(key, bytesOfText(plainCoordinators.join(",")));
      hosts.clear();
      clock.setTimer(5_000, () => hosts.set(name, "10.1.0.11"));
    },
    { timeoutMs: 60_000, specialKeySpaceEnableWrites: true },
  );
  await sample.call(change);
  const stale = sample.fdb.admin.open({ name: "stale", connectionString, version: "7.3.79" });
  assert.match(await sample.call(stale.connectionString(10_000)), /@10\.1\.0\.11:4501,/);
});

test("[FDB84] a transaction whose time is over waits for no coordinators any more", async () => {
  const name = "log-1.svc";
  const hosts = new Map([[name, "10.1.0.11"]]);
  let isAsked = false;
  const resolve = (host: string): string | undefined => {
    isAsked ||= host === name;
    return hosts.get(host);
  };
  const sample = await startPlain({ coordinators: [`${name}:4501`], resolver: { resolve } });
  const key = bytesOfBinary("\xff\xff/configuration/coordinators/processes");
  const change = sample.admin.transact(
    async (transaction) => {
      transaction.set(key, bytesOfText(plainCoordinators.join(",")));
      hosts.clear();
    },
    { timeoutMs: 5_000, specialKeySpaceEnableWrites: true },
  );
  await assert.rejects(sample.call(change), { code: 1031 });
  await sample.pass(10);
  isAsked = false;
  await sample.pass(60);
  assert.equal(isAsked, false);
});

for (const [title, awaySeconds] of [
  ["before anybody has missed them", 0],
  ["after a while", 60],
] as const) {
  test(`[FDB83] all who waited at empty coordinators belong to their database when these are back ${title}`, async () => {
    const coordinators = ["10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"];
    const sample = await startPlain({ coordinators });
    await sample.pass(40);
    const stores = ["storage-1", "storage-2", "storage-3"];
    for (const name of sample.cluster.names()) sample.cluster.stop(name);
    for (const name of sample.cluster.names()) {
      const extraArgs = stores.includes(name) ? ["--datadir=/var/fdb/data/2"] : [];
      sample.cluster.restart(name, { extraArgs });
    }
    await sample.pass(60);
    const { cluster } = await sample.status();
    assert.equal(cluster?.recovery_state?.name, "configuration_never_created");
    for (const name of stores) sample.cluster.stop(name);
    await sample.pass(awaySeconds);
    for (const name of stores) sample.cluster.restart(name, { extraArgs: [] });
    await sample.pass(30);
    const { available, processes } = summarize(await sample.status());
    assert.deepEqual([available, processes], [true, 8]);
    assert.deepEqual(sample.fdb.truth.dataLost(), []);
  });
}

test("[FDB6] patch versions mix; another line cannot join and is listed as incompatible", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.restart("storage-1", { version: "7.3.63" });
  sample.cluster.restart("storage-2", { version: "7.4.1" });
  await sample.pass(10);
  const { cluster } = await sample.status();
  const versions = Object.values(cluster?.processes ?? {}).map((process) => process.version);
  assert.ok(versions.includes("7.3.63") && !versions.includes("7.4.1"));
  assert.deepEqual(cluster?.incompatible_connections, ["10.1.0.2:4501"]);
});

for (const [what, listed] of [
  ["still takes part", ["10.1.0.2:4501"]],
  ["is gone", []],
] as const) {
  test(`[FDB85] a process of another line whose coordinator was replaced and ${what}: ${listed.length} listed`, async () => {
    const servers = plainServers();
    const old = servers.find(({ name }) => name.startsWith("stateless"));
    const sample = await startPlain({ servers, coordinators: [old?.address ?? ""] });
    await sample.pass(40);
    sample.cluster.stop("storage-2");
    await sample.call(sample.admin.changeCoordinators([...plainCoordinators], 60_000));
    if (listed.length === 0) sample.cluster.stop(old?.name ?? "");
    sample.cluster.restart("storage-2", { version: "7.4.1" });
    await sample.pass(10);
    const { cluster } = await sample.status();
    assert.deepEqual(cluster?.incompatible_connections, listed);
  });
}

test("[FDB6] an incompatible upgrade: all killed at once, the database comes back with the new line", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  const before = sample.fdb.truth.databases()[0]?.generation;
  for (const name of sample.cluster.names()) sample.cluster.restart(name, { version: "7.4.1" });
  await sample.pass(20);
  const admin = sample.fdb.admin.open({
    name: "new",
    connectionString: sample.connectionString,
    version: "7.4.1",
  });
  const status = await sample.call(admin.status(30_000));
  assert.equal(status.client?.database_status?.available, true);
  assert.equal(status.cluster?.protocol_version, "fdb00b074000000");
  assert.equal(status.cluster?.generation, (before ?? 0) + 2);
  const old = await sample.status();
  assert.equal(old.client?.coordinators?.quorum_reachable, false);
  assert.deepEqual(sample.fdb.truth.dataLost(), []);
});

test("[FDB86] a client learns the protocol of a coordinator that it does not understand, with a quorum and without", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  sample.cluster.restart("log-1", { version: "7.4.1" });
  await sample.pass(10);
  const told = async (): Promise<unknown> =>
    (await sample.status()).client?.coordinators?.coordinators?.map(
      ({ protocol, reachable }) => `${protocol} ${reachable}`,
    );
  const [ahead, behind] = ["0fdb00b074000000 false", "0fdb00b073000000 true"];
  assert.deepEqual(await told(), [ahead, behind, behind]);
  sample.cluster.stop("log-2");
  assert.deepEqual(await told(), [ahead, "undefined false", behind]);
});

test("[FDB6] with a majority of coordinators upgraded the old line is an island", async () => {
  const sample = await startPlain();
  await sample.pass(40);
  for (const name of ["log-1", "log-2", "stateless-1"])
    sample.cluster.restart(name, { version: "7.4.1" });
  await sample.pass(20);
  const admin = sample.fdb.admin.open({
    name: "new",
    connectionString: sample.connectionString,
    version: "7.4.1",
  });
  const status = await sample.call(admin.status(30_000));
  assert.equal(status.client?.database_status?.available, false);
  assert.equal(status.cluster?.incompatible_connections?.length, 5);
});

test("[FDB2] everything works over IPv6, and with a plain and a TLS address side by side", async () => {
  const servers = plainServers().map((server, index) => ({
    ...server,
    address: `[fd00::${index + 1}]:4500:tls,[fd00::${index + 1}]:4501`,
  }));
  const coordinators = ["[fd00::4]:4501", "[fd00::5]:4500:tls", "[fd00::6]:4501"];
  const sample = await startSample({ servers, coordinators });
  await sample.call(sample.admin.configure("new double ssd", 60_000));
  await sample.pass(40);
  const { cluster } = await sample.status();
  assert.ok(
    Object.values(cluster?.processes ?? {}).some(({ address }) => address === "[fd00::1]:4500:tls"),
  );
  for (const target of ["fd00::1", "[fd00::1]:4500", "[fd00::1]:4501"]) {
    await sample.call(sample.admin.exclude([target], { wait: false, timeoutMs: 10_000 }));
    const status = await sample.status();
    const excluded = Object.values(status.cluster?.processes ?? {}).filter(
      (process) => process.excluded,
    );
    assert.deepEqual(
      excluded.map(({ address }) => address),
      ["[fd00::1]:4500:tls"],
      target,
    );
    await sample.call(sample.admin.include([target], 10_000));
  }
});

test("[FDB39] two databases of one simulation know nothing of each other", async () => {
  const clock = new VirtualClock();
  const fdb = createSimulatedFdb({
    clock,
    random: seededRandom(1),
    resolver: { resolve: () => undefined },
  });
  const strings = [1, 2].map((index) => `db${index}:id${index}@10.${index}.0.11:4501`);
  for (const [index, text] of strings.entries()) {
    const cluster = createLocalCluster(clock, fdb, text);
    for (const server of plainServers()) {
      const address = server.address.replace("10.1.", `10.${index + 1}.`);
      cluster.start({ ...server, name: `${index}-${server.name}`, address });
    }
  }
  const [first, second] = strings.map((connectionString) =>
    fdb.admin.open({ name: connectionString, connectionString, version: "7.3.79" }),
  );
  const created = first?.configure("new double ssd", 60_000);
  await clock.run({ untilMs: clock.nowMs() + 60_000 });
  await created;
  const statuses = Promise.all([first?.status(60_000), second?.status(60_000)]);
  await clock.run({ untilMs: clock.nowMs() + 60_000 });
  const [one, other] = await statuses;
  assert.equal(one?.client?.database_status?.available, true);
  assert.equal(other?.cluster?.recovery_state?.name, "configuration_never_created");
  assert.equal(Object.keys(other?.cluster?.processes ?? {}).length, 8);
});
