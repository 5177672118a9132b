// `fdb-operator dev --runtime process` on a machine without FoundationDB, and with flags that make no sense.
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineClock } from "../env/clock.ts";
import { silentLog } from "../env/log.ts";
import { findInstallation, installationPlaces } from "../fdb/client/installation.ts";
import { CommandError } from "../env/command-error.ts";
import { openProcesses } from "./dev-processes.ts";
import { runDevOn } from "./dev.ts";

const isInstalled = (await findInstallation(installationPlaces({}))).newest !== undefined;

test(
  "[DB65] without FoundationDB the command says what is missing, where it looked and how to get it",
  { skip: isInstalled && "FoundationDB is installed on this machine" },
  async () => {
    const environment = { FDB_BINARY_DIR: "/nowhere/bin", FDB_LIBRARY_DIR: "/nowhere/lib" };
    const clock = machineClock();
    await assert.rejects(openProcesses({ environment, clock, log: silentLog }), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /fdbserver was not found in \/nowhere\/bin, \/usr\/bin/);
      assert.match(error.message, /libfdb_c\.so .* was not found in \/nowhere\/lib/);
      assert.match(error.message, /releases of FoundationDB/);
      return true;
    });
    clock.stop();
  },
);

test("[DB65] real processes run in real time, and examples have a database of their own", async () => {
  const host = {
    output: { isLive: false, line: () => {}, live: () => {}, settle: () => {} },
    signal: new AbortController().signal,
    realClock: machineClock(),
  };
  const options = { runtime: "process", seed: 1, once: true } as const;
  await assert.rejects(runDevOn({ ...options, speed: 20 }, host as never), /real time/);
  await assert.rejects(
    runDevOn({ ...options, example: "three-data-hall" as never }, host as never),
    /exclude each other/,
  );
  host.realClock.stop();
});
