// The admin client over real processes that crash, hang and talk nonsense; no FoundationDB is needed.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { machineClock } from "../../env/clock.ts";
import { silentLog } from "../../env/log.ts";
import type { AdminClient } from "../admin.ts";
import { forkStarter } from "./child-handle.ts";
import type { ChildStarter } from "./child-handle.ts";
import type { ChildOpen, ChildStart } from "./child-messages.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { Installation } from "./installation.ts";
import { createProcessAdmin } from "./process-admin.ts";

const client = { version: "7.3.79", libraryPath: "libfdb_c.so", commandPath: "fdbcli" };
const installation: Installation = {
  clients: [client],
  servers: [],
  newest: undefined,
  find(version) {
    if (version === "never-ready") return { ...client, libraryPath: version };
    return version.startsWith("7.3.") ? client : undefined;
  },
  findServer: () => undefined,
  findTool: () => undefined,
  explainMissing: (version) => `no client of ${version}`,
};
const program = join(import.meta.dirname, "../../../test/fixtures/fake-client-program.ts");
const quick: Partial<ClientLimits> = {
  ...{ firstPauseMs: 10, pingIntervalMs: 50, pingLimitMs: 1_000, answerGraceMs: 500 },
};

interface Stage {
  readonly lost: string[];
  readonly starts: ChildStart[];
  readonly opens: ChildOpen[];
  readonly open: (behaviour: string, version?: string) => AdminClient;
  readonly processes: () => number;
  readonly end: () => void;
}

function stage(): Stage {
  const clock = machineClock();
  const lost: string[] = [];
  const starts: ChildStart[] = [];
  const opens: ChildOpen[] = [];
  const opened: AdminClient[] = [];
  const fork = forkStarter(program);
  /** Tells the program of each database whether it was open before. */
  const start: ChildStarter = (environment) => {
    const child = fork(environment);
    return {
      ...child,
      send(message) {
        const said = message as ChildStart | ChildOpen;
        if (said.type === "start") starts.push(said);
        if (said.type !== "open") return child.send(message);
        const isAgain = opens.some(
          ({ connectionString }) => connectionString === said.connectionString,
        );
        opens.push(said);
        const description = isAgain ? "again" : "first";
        return child.send({ ...said, connectionString: `${said.connectionString}:${description}` });
      },
    };
  };
  const onLost = (name: string, reason: string): void => void lost.push(`${name}: ${reason}`);
  const environment = { PATH: "/usr/bin" };
  const factory = createProcessAdmin({
    ...{ installation, clock, log: silentLog, environment, limits: quick, start, onLost },
  });
  return {
    ...{ lost, starts, opens },
    processes: () => factory.processes().length,
    open: (behaviour, version = "7.3.43") => {
      const place = { name: behaviour, connectionString: behaviour, version };
      const admin = factory.open(place);
      opened.push(admin);
      return admin;
    },
    end: () => {
      for (const admin of opened) admin.close();
      clock.stop();
    },
  };
}

const generousMs = 20_000;

test("[DB10] [DB51] a crash costs its own database a moment; the others share a process again", async () => {
  const { open, lost, processes, end } = stage();
  try {
    const [steady, calm] = [open("steady"), open("calm")];
    const pid = (await steady.status(generousMs)).client?.timestamp;
    assert.equal((await calm.status(generousMs)).client?.timestamp, pid, "one process for both");
    const crashing = open("crash");
    const alone = (await crashing.status(generousMs)).client?.timestamp;
    assert.ok(alone !== undefined && alone !== pid, "the second process answered");
    assert.deepEqual(lost, ["crash: it was ended by SIGSEGV"]);
    const shared = (await steady.status(generousMs)).client?.timestamp;
    assert.equal((await calm.status(generousMs)).client?.timestamp, shared);
    assert.notEqual(shared, alone);
    assert.equal(processes(), 2);
  } finally {
    end();
  }
});

test("[DB14] a process that ends while it configures leaves the outcome unknown", async () => {
  const { open, end } = stage();
  try {
    await assert.rejects(open("exit").configure("double", generousMs), {
      code: 1021,
      message: /it ended with code 3/,
    });
  } finally {
    end();
  }
});

test("[DB12] a process that is busy for ever is killed", async () => {
  const { open, lost, end } = stage();
  try {
    await assert.rejects(open("busy").configure("double", generousMs), { code: 1021 });
    assert.match(lost[0] ?? "", /does not answer|ended by/);
  } finally {
    end();
  }
});

test("[DB16] a process that talks nonsense is killed", async () => {
  const { open, lost, end } = stage();
  try {
    await assert.rejects(open("garbage").configure("double", generousMs), { code: 1021 });
    assert.match(lost[0] ?? "", /makes no sense/);
  } finally {
    end();
  }
});

test("[DB15] an answer that is too late, or a process that is never ready, is timed_out", async () => {
  const { open, end } = stage();
  try {
    await assert.rejects(open("slow").status(30), { code: 1031 });
    await assert.rejects(open("never-ready", "never-ready").status(30), { code: 1031 });
  } finally {
    end();
  }
});

test("[DB19] closing a client ends its process and removes its folder", async () => {
  const { open, starts, end } = stage();
  try {
    const admin = open("steady");
    await admin.status(generousMs);
    const folder = starts[0]?.folder ?? "";
    assert.ok(existsSync(folder));
    admin.close();
    assert.ok(!existsSync(folder));
    await assert.rejects(admin.status(generousMs), /closed/);
  } finally {
    end();
  }
});

test("[DB3] a version that is not installed is not supported, and its clients say what is missing", async () => {
  const clock = machineClock();
  const factory = createProcessAdmin({ installation, clock, log: silentLog, environment: {} });
  assert.equal(factory.isVersionSupported("7.3.43"), true);
  assert.equal(factory.isVersionSupported("7.1.67"), false);
  const admin = factory.open({ name: "x", connectionString: "x:x@127.0.0.1:1", version: "7.1.67" });
  await assert.rejects(admin.status(1_000), { message: "no client of 7.1.67" });
  clock.stop();
});

test("[CERT10] authorities of a database are a file of its own client, and of no other", () => {
  const clock = machineClock();
  const seen: Readonly<Record<string, string>>[] = [];
  const start: ChildStarter = (environment) => {
    seen.push(environment);
    const file = environment["FDB_TLS_CA_FILE"] ?? "";
    if (file !== "/common.pem") assert.equal(readFileSync(file, "utf8"), "own authority");
    return forkStarter(program)(environment);
  };
  const environment = { PATH: "/usr/bin", FDB_TLS_CA_FILE: "/common.pem" };
  const factory = createProcessAdmin({
    ...{ installation, clock, log: silentLog, environment, limits: quick, start },
  });
  const place = { name: "a/b", connectionString: "answer", version: "7.3.43" };
  const clients = [factory.open(place), factory.open({ ...place, authorities: "own authority" })];
  for (const each of clients) void each.status(1_000).catch(() => {});
  assert.equal(seen.length, 2);
  assert.equal(seen[0]?.["FDB_TLS_CA_FILE"], "/common.pem");
  const own = seen[1]?.["FDB_TLS_CA_FILE"] ?? "";
  assert.notEqual(own, "/common.pem");
  for (const each of clients) each.close();
  assert.ok(!existsSync(own));
  clock.stop();
});
