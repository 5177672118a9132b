// The program fdbcli as the operator starts it: which one, with what environment and for how long.
import { strict as assert } from "node:assert";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClock } from "../../src/env/clock.ts";
import { runCommand } from "../../src/fdb/client/command-line.ts";
import { findInstallation } from "../../src/fdb/client/installation.ts";
import { item } from "./checklist-case.ts";

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "checklist-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program in the place of fdbcli that tells its flags and its environment. */
async function told(folder: string, timeoutMs: number): Promise<string> {
  const programPath = join(folder, "fdbcli");
  writeFileSync(programPath, '#!/bin/sh\necho "$@"\n/usr/bin/env\n');
  chmodSync(programPath, 0o755);
  const { stdout } = await runCommand("status", {
    clock: machineClock(),
    programPath,
    clusterFilePath: "/somewhere/fdb.cluster",
    environment: { OWN: "1" },
    timeoutMs,
  });
  return stdout;
}

item("D01.3", () =>
  inFolder(async (folder) => {
    for (const version of ["7.1.57", "7.3.63"]) {
      mkdirSync(join(folder, version));
      for (const name of ["fdbcli", "libfdb_c.so"]) writeFileSync(join(folder, version, name), "");
    }
    const places = { libraryFolders: [folder], programFolders: [folder] };
    const teller = { program: async () => undefined, library: async () => undefined };
    const installed = await findInstallation(places, teller);
    const path = (version: string): string | undefined => installed.find(version)?.commandPath;
    assert.equal(path("7.1.57"), join(folder, "7.1.57", "fdbcli"));
    assert.equal(path("7.3.63"), join(folder, "7.3.63", "fdbcli"));
    assert.equal(path("6.3.25"), undefined);
  }),
);

item("D04.1", () =>
  inFolder(async (folder) => {
    const lines = (await told(folder, 5_000)).split("\n").slice(1);
    assert.ok(lines.includes("OWN=1"));
    assert.ok(lines.every((line) => !line.startsWith("HOME=")));
  }),
);

item("D04.2", () =>
  inFolder(async (folder) => {
    assert.match(await told(folder, 0), /^-C \/somewhere\/fdb\.cluster .*--timeout 1\n/);
  }),
);
