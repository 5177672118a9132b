// The administration inside of the client process, on a database that is played here and on programs in the place of
// fdbcli.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { machineClock } from "../../env/clock.ts";
import { bytesOfText, concatBytes, printableBytes, textOfBytes } from "../bytes.ts";
import { FdbError } from "../error.ts";
import type { FdbTransaction } from "../admin.ts";
import type { NativeDatabase } from "./native-database.ts";
import { Operations } from "./operations.ts";

interface Played {
  /** Everything that was written, in order. */
  readonly writes: string[];
  /** What the database says after it refused. */
  refusal?: string;
  /** What it answers when it is asked for anything else. */
  answer?: string;
  /** Addresses by which it restarts processes; it lists the first of each. */
  workers?: readonly (readonly string[])[];
}

/** Takes writes down, and refuses the commit when it is told to. */
function playedDatabase(played: Played): NativeDatabase {
  const transaction: FdbTransaction = {
    get: async (key) =>
      textOfBytes(key).endsWith("/error_message") && played.refusal !== undefined
        ? bytesOfText(played.refusal)
        : bytesOfText(played.answer ?? "a:b@127.83.0.1:4501"),
    getRange: async (begin) =>
      (played.workers ?? []).map(([first = ""]) => ({
        key: concatBytes(begin, bytesOfText(first)),
        value: new Uint8Array(),
      })),
    estimatedBytes: async () => 0,
    set: (key, value) => void played.writes.push(`${printableBytes(key)}=${textOfBytes(value)}`),
    clear: (key) => void played.writes.push(`-${printableBytes(key)}`),
    clearRange: (begin, end) =>
      void played.writes.push(`-${printableBytes(begin)}..${printableBytes(end)}`),
  };
  const database = {
    async transact<T>(
      body: (each: FdbTransaction) => Promise<T>,
      options: { specialKeySpaceEnableWrites?: boolean },
      judge?: (each: FdbTransaction, error: FdbError) => Promise<void>,
    ): Promise<T> {
      const result = await body(transaction);
      if (options.specialKeySpaceEnableWrites !== true || played.refusal === undefined) {
        return result;
      }
      const error = new FdbError(2117, "Api call through special keys failed");
      await judge?.(transaction, error);
      throw error;
    },
    rebootWorkers: async (addresses: readonly string[]) =>
      addresses.every((address) => played.workers?.some((each) => each.includes(address))),
  };
  return database as unknown as NativeDatabase;
}

function operationsOn(played: Played, commandPath = "/nowhere/fdbcli"): Operations {
  return new Operations({
    // Time limits of seconds are over in a moment.
    clock: machineClock(100),
    database: playedDatabase(played),
    commandPath,
    clusterFilePath: "/nowhere/fdb.cluster",
    environment: { PATH: "/usr/bin:/bin" },
  });
}

async function withProgram(
  script: string,
  run: (path: string, log: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-command-"));
  try {
    const [path, log] = [join(folder, "fdbcli"), join(folder, "log")];
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\n${script}\n`);
    chmodSync(path, 0o755);
    await run(path, log);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const prefix = "\\xff\\xff/management";

test("[DB42] configure runs fdbcli with the cluster file and a time limit", async () => {
  await withProgram("echo 'Configuration changed'", async (path, log) => {
    const text = 'triple regions=[{\\"datacenters\\":[{\\"id\\":\\"a\\"}]}]';
    await operationsOn({ writes: [] }, path).configure(text, 9_500);
    const flags = ["-C", "/nowhere/fdb.cluster", "--exec", `configure ${text}`, "--timeout", "10"];
    assert.deepEqual(readFileSync(log, "utf8").trimEnd().split("\n"), flags);
  });
});

test("[DB44] a text that would be another command is refused before anything runs", async () => {
  await withProgram("echo 'Configuration changed'", async (path, log) => {
    for (const text of ["double; kill all", "double\nkill all", "", "double\u0000", "dreifach ä"]) {
      await assert.rejects(
        operationsOn({ writes: [] }, path).configure(text, 10_000),
        /plain words only/,
      );
    }
    assert.ok(!existsSync(log));
  });
});

test("[DB41] an fdbcli that never ends is killed, and that is timed_out", async () => {
  await withProgram("exec sleep 1000", async (path) => {
    await assert.rejects(operationsOn({ writes: [] }, path).configure("double", 5_000), {
      code: 1031,
    });
  });
});

test("[DB43] an fdbcli that cannot be run is told with the cause", async () => {
  await assert.rejects(operationsOn({ writes: [] }).configure("double", 5_000), /ENOENT/);
});

test("[DB32] exclusions and inclusions are writes of special keys, addresses and localities apart", async () => {
  const played: Played = { writes: [] };
  const operations = operationsOn(played);
  await operations.exclude(["10.1.0.1:4501", "10.1.0.2", "locality_zoneid:a"], false, 5_000);
  await operations.include(["[fd00::1]:4501", "locality_zoneid:a"], 5_000);
  await operations.include(["all"], 5_000);
  assert.deepEqual(played.writes, [
    `${prefix}/excluded/10.1.0.1:4501=`,
    `${prefix}/excluded/10.1.0.2=`,
    `${prefix}/excluded_locality/locality_zoneid:a=`,
    `-${prefix}/excluded/[fd00::1]:4501`,
    `-${prefix}/excluded_locality/locality_zoneid:a`,
    `-${prefix}/excluded/..${prefix}/excluded0`,
    `-${prefix}/excluded_locality/..${prefix}/excluded_locality0`,
  ]);
});

test("[DB32] what is no target is refused whole, before anything is written", async () => {
  const played: Played = { writes: [] };
  for (const wrong of [
    "storage-1",
    "10.1.0.1:4501:tls",
    "10.1.0.1:70000",
    "locality_x",
    "",
    "all",
  ]) {
    const targets = ["10.1.0.1", wrong];
    await assert.rejects(operationsOn(played).exclude(targets, false, 5_000), /neither a valid/);
    await assert.rejects(operationsOn(played).include(targets, 5_000), /neither a valid/);
  }
  await assert.rejects(operationsOn(played).exclude([], false, 5_000), /must be provided/);
  assert.deepEqual(played.writes, []);
});

test("[DB34] a refusal is told in the words of the database", async () => {
  const refusal = JSON.stringify({
    ...{ retriable: false, command: "exclude", message: "ERROR: free space would drop\n" },
  });
  await assert.rejects(operationsOn({ writes: [], refusal }).exclude(["10.1.0.1"], false, 5_000), {
    code: 0,
    message: "exclude: ERROR: free space would drop",
  });
  const nonsense = operationsOn({ writes: [], refusal: "no json" });
  await assert.rejects(nonsense.exclude(["10.1.0.1"], false, 5_000), { code: 2117 });
});

test("[DB34] coordinators that need no change are no refusal, doubled ones never get there", async () => {
  const message = "No change (existing configuration satisfies request)";
  const refusal = JSON.stringify({ retriable: false, command: "coordinators", message });
  const played: Played = { writes: [], refusal };
  const operations = operationsOn(played);
  assert.equal(
    await operations.changeCoordinators(["10.1.0.1:4501", "10.1.0.2:4501"], 5_000),
    "a:b@127.83.0.1:4501",
  );
  assert.deepEqual(played.writes, [
    "\\xff\\xff/configuration/coordinators/processes=10.1.0.1:4501,10.1.0.2:4501",
  ]);
  await assert.rejects(
    operations.changeCoordinators(["10.1.0.1:4501", "10.1.0.1:4501"], 5_000),
    /redundant/,
  );
  await assert.rejects(operations.changeCoordinators([], 5_000), /no coordinators/);
});

test("[DB35] a process that the database does not list is not killed, nor are others", async () => {
  await assert.rejects(
    operationsOn({ writes: [] }).kill(["10.1.0.1:4501"], 5_000),
    /10\.1\.0\.1:4501' not recognized/,
  );
});

test("[DB35] a process that listens in two ways is killed by either address", async () => {
  const both = ["10.1.0.1:4501", "10.1.0.1:4500"];
  const operations = operationsOn({ writes: [], workers: [both] });
  for (const address of both) await operations.kill([address], 5_000);
  await assert.rejects(operations.kill(["10.1.0.1:4509"], 5_000), /could be reached; none was/);
  await assert.rejects(operations.kill(["10.1.0.1:4500:tls"], 5_000), /not recognized/);
  await assert.rejects(operations.kill([...both, "10.1.0.2:4501"], 5_000), /0\.2:4501' not rec/);
});

test("[DB37] a maintenance zone takes the place of another in one transaction", async () => {
  const played: Played = { writes: [] };
  await operationsOn(played).setMaintenanceZone("zone-1", 600, 5_000);
  assert.deepEqual(played.writes, [
    `-${prefix}/maintenance/..${prefix}/maintenance0`,
    `${prefix}/maintenance/zone-1=600`,
  ]);
});

test("[DB39] a status that is no JSON, or no status, is a failed call with that reason", async () => {
  for (const [answer, reason] of [
    ["{", /no JSON/],
    ["null", /no JSON object/],
    ['{"client":{"database_status":null}}', /client\.database_status in its status/],
  ] as const) {
    const failure = { name: "FdbError", message: reason };
    await assert.rejects(operationsOn({ writes: [], answer }).status(1_000), failure);
  }
  const answer = '{"client":{},"cluster":{"clients":null,"processes":{"p":null}}}';
  const { unreadable } = await operationsOn({ writes: [], answer }).status(1_000);
  assert.deepEqual(unreadable, ["cluster.clients", "cluster.processes.p"]);
});

test("[DB33] an exclusion is not complete on a status of which parts cannot be read", async () => {
  const whole = '{"client":{},"cluster":{"processes":{}}}';
  await operationsOn({ writes: [], answer: whole }).exclude(["127.83.0.1"], true, 3_000);
  const answer = '{"client":{},"cluster":{"processes":{"p":null}}}';
  const excluding = operationsOn({ writes: [], answer }).exclude(["127.83.0.1"], true, 3_000);
  await assert.rejects(excluding, { code: 1031 });
});
