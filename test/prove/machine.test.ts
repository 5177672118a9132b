// What is found on machines with different things installed.
import { strict as assert } from "node:assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findMachine, orderedVersions } from "./machine.ts";
import type { Machine } from "./machine.ts";

const server = ["fdbserver", "fdbcli", "libfdb_c.so"];

/** A machine with these files and an empty cache folder. */
async function machineWith(
  files: Readonly<Record<string, readonly string[]>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-machine-"));
  try {
    for (const [version, names] of Object.entries(files)) {
      mkdirSync(join(folder, version));
      for (const name of names) writeFileSync(join(folder, version, name), "");
    }
    const places = { libraryFolders: [folder], programFolders: [folder] };
    const nothing = { PATH: "", XDG_CACHE_HOME: join(folder, "cache") };
    return await findMachine({ ...nothing, ...environment }, places);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("[PROVE1] every version with server, library and fdbcli is found, the oldest first", async () => {
  const machine = await machineWith({
    "7.3.79": [...server, "fdbbackup", "fdbrestore", "backup_agent"],
    "7.1.57": server,
    "7.3.9": server,
    "7.4.1": ["fdbserver"],
  });
  assert.deepEqual(machine.versions, ["7.1.57", "7.3.9", "7.3.79"]);
  assert.equal(machine.missing, "");
  assert.equal(machine.hasBackupTools, true);
});

test("[PROVE1] a machine without anything says what is missing", async () => {
  const machine = await machineWith({});
  assert.deepEqual(machine.versions, []);
  assert.match(machine.missing, /libfdb_c\.so of FoundationDB 7\.3 was not found/);
  assert.deepEqual(
    [machine.hasBackupTools, machine.hasObjectStore, machine.hasControlPlane],
    [false, false, false],
  );
});

test("[PROVE1] a client without a server is no FoundationDB to run", async () => {
  const machine = await machineWith({ "7.3.79": ["fdbcli", "libfdb_c.so"] });
  assert.deepEqual(machine.versions, []);
  assert.match(machine.missing, /fdbserver is missing: name its folder in FDB_BINARY_DIR/);
});

test("[PROVE1] a control plane of one's own needs no Go", async () => {
  const machine = await machineWith({}, { KUBEBUILDER_ASSETS: "/somewhere" });
  assert.deepEqual([machine.hasControlPlane, machine.hasObjectStore], [true, false]);
});

test("[PROVE1] versions are ordered as numbers, and what is none is left out", () => {
  const found = orderedVersions(["7.3.100", "latest", "7.3.9", "7.1.57"]);
  assert.deepEqual(found, ["7.1.57", "7.3.9", "7.3.100"]);
});
