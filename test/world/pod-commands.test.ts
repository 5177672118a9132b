// Commands inside the pods of a database, in virtual time: fdbcli, the end of servers, and a lost quorum that is given back
// by hand.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PodExecResult } from "../../src/kube/pod-exec.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { minuteMs, small, tiny, TestWorld } from "./world-harness.ts";

async function exec(
  world: TestWorld,
  pod: string,
  command: readonly string[],
  stdin?: Uint8Array,
): Promise<PodExecResult> {
  const request = { namespace: "default", pod, container: "foundationdb", timeoutMs: 5 * minuteMs };
  const running = world.world.pods.run({ ...request, command, ...(stdin && { stdin }) });
  return world.during(running, 10 * minuteMs, command.join(" "));
}

async function podNames(world: TestWorld, processClass?: string): Promise<string[]> {
  return (await world.pods(processClass)).map(({ metadata }) => metadata.name ?? "").toSorted();
}

test("[WS15] fdbcli tells the status and runs several commands", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const [pod = ""] = await podNames(world, "storage");
    const json = await exec(world, pod, ["fdbcli", "--exec", "status json"]);
    const status = JSON.parse(json.stdout) as DatabaseStatus;
    assert.equal(status.client?.database_status?.available, true);
    assert.equal(
      status.cluster?.connection_string,
      (await world.cluster()).status?.connectionString,
    );
    const words = ["--timeout", "20", "--exec", "writemode on; set a b; get a; coordinators"];
    const several = await exec(world, pod, ["fdbcli", ...words]);
    assert.match(
      several.stdout,
      /^>>> writemode on\n>>> set a b\nCommitted\n>>> get a\n`a' is `b'\n/,
    );
    assert.match(several.stdout, /Cluster coordinators \(1\): sample-log-/);
    const unknown = await exec(world, pod, ["fdbcli", "--exec", "fly; status"]);
    assert.deepEqual(
      [unknown.exitCode, unknown.stderr],
      [1, "ERROR: Unknown command `fly'. Try `help'?\n"],
    );
    const typed = await exec(world, pod, ["fdbcli"], Buffer.from("get a\nexit\n"));
    assert.match(typed.stdout, /Welcome to the fdbcli[^]*fdb> `a' is `b'\nfdb> $/);
    const missing = await exec(world, pod, ["fdbcli", "-C", "/none", "--exec", "status"]);
    assert.match(missing.stderr, /Unable to read cluster file `\/none'/);
  });
});

test("[WS15] fdbcli kills only what it has listed", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const [pod = ""] = await podNames(world, "storage");
    const listed = await exec(world, pod, ["fdbcli", "--exec", "kill"]);
    const [address = ""] = /^10\.\S+$/m.exec(listed.stdout) ?? [];
    const refused = await exec(world, pod, ["fdbcli", "--exec", `kill ${address}`]);
    assert.deepEqual(
      [refused.exitCode, refused.stderr],
      [1, `ERROR: process \`${address}' not recognized.\n`],
    );
    const line = `kill; kill ${address}; sleep 5; status`;
    const killed = await exec(world, pod, ["fdbcli", "--exec", line]);
    assert.equal(killed.exitCode, 0);
    assert.match(killed.stdout, /Attempted to kill 1 processes/);
    const { processes = {} } = JSON.parse(
      (await exec(world, pod, ["fdbcli", "--exec", "status json"])).stdout,
    ).cluster as NonNullable<DatabaseStatus["cluster"]>;
    const young = Object.values(processes).filter(({ uptime_seconds: up = 0 }) => up < 60);
    assert.deepEqual(
      young.map(({ address: one }) => one),
      [address],
    );
  });
});

test("[WS14] pkill ends the servers of a pod, and the monitor starts them again", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const [pod = ""] = await podNames(world, "storage");
    const before = await exec(world, pod, ["pgrep", "fdbserver"]);
    assert.equal(before.stdout, "10\n");
    const lines: string[] = [];
    const ending = new AbortController();
    const following = world.world.pods.followLog({
      ...{ namespace: "default", pod, container: "foundationdb", tailLines: 0 },
      onLines: (found) => void lines.push(...found),
      signal: ending.signal,
    });
    const killed = await exec(world, pod, ["bash", "-c", "pkill fdbserver || true"]);
    assert.equal(killed.exitCode, 0);
    await world.clock.advance(5_000);
    assert.match(lines.join("\n"), /exited with code 0: killed\n.*starting \/usr\/bin\/fdbserver/s);
    ending.abort();
    await following;
    assert.equal((await exec(world, pod, ["pgrep", "fdbserver"])).exitCode, 0);
  });
});

test("[FDB63] the state of a coordinator that is copied by hand gives a lost quorum back", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.world.stopOperator();
    const found = new Map<string, string>();
    for (const pod of await podNames(world)) {
      const find = ["find", "/var/fdb/data", "-type", "f", "-name", "coordination-0.fdq"];
      const { stdout } = await exec(world, pod, find);
      if (stdout !== "") found.set(pod, stdout.trim());
    }
    assert.equal(found.size, 3);
    const [[survivor = "", file = ""] = [], ...lost] = found;
    const connection = (await world.cluster()).status?.connectionString ?? "";
    const all = await podNames(world);
    const spare = all.filter((pod) => !found.has(pod)).slice(0, 2);
    assert.equal(spare.length, 2);
    for (const [pod] of lost) {
      const { ips = [] } = await place(world, pod);
      for (const ip of ips) world.world.fdb.faults.cutAddress(ip);
    }
    await world.clock.advance(minuteMs);
    const status = async (): Promise<boolean | undefined> => {
      const { stdout } = await exec(world, survivor, ["fdbcli", "--exec", "status json"]);
      return (JSON.parse(stdout) as DatabaseStatus).client?.coordinators?.quorum_reachable;
    };
    assert.equal(await status(), false);
    const addresses: string[] = [];
    for (const pod of [survivor, ...spare])
      addresses.push(`${(await place(world, pod)).ips[0]}:4501`);
    const next = `${connection.split("@")[0]}@${addresses.join(",")}`;
    const folder = file.slice(0, file.lastIndexOf("/"));
    for (const pod of spare) {
      for (const name of ["coordination-0.fdq", "coordination-1.fdq"]) {
        const { stdoutBytes } = await exec(world, survivor, [
          "cp",
          `${folder}/${name}`,
          "/dev/stdout",
        ]);
        await exec(world, pod, ["tee", "-a", `${folder}/${name}`], stdoutBytes);
      }
    }
    for (const pod of all) {
      const line = `echo ${next} > /var/fdb/data/fdb.cluster && pkill fdbserver`;
      assert.equal((await exec(world, pod, ["bash", "-c", line])).exitCode, 0);
    }
    await world.clock.advance(2 * minuteMs);
    const read = ["fdbcli", "-C", "/var/fdb/data/fdb.cluster", "--exec", "status json"];
    const after = JSON.parse((await exec(world, survivor, read)).stdout) as DatabaseStatus;
    assert.equal(after.client?.coordinators?.quorum_reachable, true);
    assert.equal(after.cluster?.connection_string, next);
  });
});

async function place(world: TestWorld, name: string): Promise<{ ips: string[] }> {
  const pod = (await world.pods()).find(({ metadata }) => metadata.name === name);
  return { ips: (pod?.status?.podIPs ?? []).map(({ ip }) => ip ?? "") };
}
