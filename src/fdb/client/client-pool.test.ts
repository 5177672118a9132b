// Which databases can share a client process at all, and what is told of the processes.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { silentLog } from "../../env/log.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import type { ChildStarter } from "./child-handle.ts";
import { ClientPool } from "./client-pool.ts";
import { healthy, ScriptedChild } from "../../../test/fixtures/scripted-child.ts";

const mebibyte = 1024 ** 2;

function stage(environment: Readonly<Record<string, string>> = {}) {
  const clock = new VirtualClock();
  const children: ScriptedChild[] = [];
  const environments: Readonly<Record<string, string>>[] = [];
  const starter: ChildStarter = (given) => {
    const child = new ScriptedChild(healthy(() => {}, 41 * mebibyte));
    children.push(child);
    environments.push(given);
    queueMicrotask(() => child.ready());
    return child;
  };
  const pool = new ClientPool({ clock, log: silentLog, environment, starter });
  const open = (name: string, version = "7.3.79", authorities?: string) =>
    pool.open(
      { name, connectionString: name, version, authorities },
      { version, libraryPath: `${version}/libfdb_c.so`, commandPath: `${version}/fdbcli` },
    );
  return { clock, children, environments, pool, open };
}

test("[DB50] another version and other authorities are other processes", async () => {
  const { clock, pool, open } = stage();
  open("a");
  open("b");
  open("c", "7.1.67");
  open("d", "7.3.79", "own authority");
  open("e", "7.3.79", "own authority");
  await clock.advance(10_000);
  const told = pool.figures().map(({ version, databases }) => `${version} ${databases}`);
  assert.deepEqual(told, ["7.3.79 2", "7.1.67 1", "7.3.79 2"]);
});

test("[DB50] a cluster that is upgraded moves to a process of its new version, and the old one ends", async () => {
  const { clock, children, pool, open } = stage();
  const before = open("a", "7.1.67");
  open("b");
  await clock.advance(1_000);
  before.close();
  open("a", "7.3.79");
  await clock.advance(1_000);
  assert.equal(children[0]?.isKilled, true);
  assert.deepEqual(
    pool.figures().map(({ version, databases }) => [version, databases]),
    [["7.3.79", 2]],
  );
});

test("[DB56] each process is told with its memory, and its number is used again", async () => {
  const { clock, pool, open } = stage();
  const first = open("a", "7.1.67");
  open("b");
  const figures = { databases: 1, isQuarantine: false, rssBytes: undefined };
  assert.deepEqual(pool.figures()[0], { number: 1, version: "7.1.67", ...figures });
  await clock.advance(6_000);
  assert.deepEqual(
    pool.figures().map(({ number, rssBytes }) => [number, rssBytes]),
    [
      [1, 41 * mebibyte],
      [2, 41 * mebibyte],
    ],
  );
  first.close();
  open("c", "7.1.67");
  assert.deepEqual(
    pool.figures().map(({ number, version }) => [number, version]),
    [
      [1, "7.1.67"],
      [2, "7.3.79"],
    ],
  );
});

test("[CERT10] [DB19] authorities are a file of the process, which goes with it", () => {
  const { environments, open, clock } = stage({ FDB_TLS_CA_FILE: "/common.pem" });
  const own = open("a", "7.3.79", "own authority");
  const common = open("b");
  const file = environments[0]?.["FDB_TLS_CA_FILE"] ?? "";
  assert.equal(readFileSync(file, "utf8"), "own authority");
  assert.equal(environments[1]?.["FDB_TLS_CA_FILE"], "/common.pem");
  own.close();
  common.close();
  assert.ok(!existsSync(file));
  assert.equal(clock.pendingTimers, 0);
});
