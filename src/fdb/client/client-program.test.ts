// The real client program, without a FoundationDB: how it ends when it has nobody to answer to or nothing to load.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forkStarter } from "./child-handle.ts";
import { clientProgramPath } from "./client-program.ts";
import { machineVersionTeller } from "./installation.ts";

test("[DB17] a client process whose operator is gone ends itself", async () => {
  const child = fork(clientProgramPath(), [], { serialization: "advanced", stdio: "ignore" });
  await once(child, "spawn");
  child.disconnect();
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  assert.ok(code !== 0 || signal !== null);
});

test("[DB10] a library that cannot be loaded is told as the reason of the end", async () => {
  const child = forkStarter(clientProgramPath())({ PATH: "/usr/bin" });
  const folder = mkdtempSync(join(tmpdir(), "fdb-client-test-"));
  const ended = new Promise<string>((resolve) => {
    child.onEnd(resolve);
  });
  child.send({ type: "start", libraryPath: "/nowhere/libfdb_c.so", folder });
  assert.match(await ended, /nowhere\/libfdb_c\.so/);
  assert.ok(!existsSync(folder), "it takes its folder along");
});

test("[DB2] a file that is no library and a program that is none have no version", async () => {
  const teller = machineVersionTeller();
  assert.equal(await teller.library(import.meta.filename), undefined);
  assert.equal(await teller.program("/nowhere/fdbcli"), undefined);
});
