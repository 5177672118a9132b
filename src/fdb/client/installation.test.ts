// Finding versions in the layouts that images, packages and people use.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findInstallation, installationPlaces } from "./installation.ts";
import type { Installation, VersionTeller } from "./installation.ts";

async function install(
  files: readonly string[],
  told: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  const root = mkdtempSync(join(tmpdir(), "fdb-installation-"));
  try {
    for (const file of files) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), "");
    }
    const tell = async (path: string): Promise<string | undefined> =>
      told[path.slice(root.length + 1)];
    const teller: VersionTeller = { program: tell, library: tell };
    const places = {
      libraryFolders: [join(root, "lib"), join(root, "bin")],
      programFolders: [join(root, "bin")],
    };
    const found = await findInstallation(places, teller);
    const short = (path: string): string => path.slice(root.length + 1);
    return {
      ...found,
      clients: found.clients.map((client) => ({
        version: client.version,
        libraryPath: short(client.libraryPath),
        commandPath: short(client.commandPath),
      })),
    };
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("[DB1] the layouts of the operator's image, of packages and of plain folders are known", async () => {
  const layouts: [string[], Record<string, string>][] = [
    [["lib/libfdb_c_7.3.79.so", "bin/7.3/fdbcli"], { "bin/7.3/fdbcli": "7.3.79" }],
    [
      ["lib/libfdb_c_7.3.so", "bin/7.3/fdbcli"],
      { "lib/libfdb_c_7.3.so": "7.3.79", "bin/7.3/fdbcli": "7.3.79" },
    ],
    [["bin/7.3.79/lib/libfdb_c.so", "bin/7.3.79/bin/7.3.79/fdbcli"], {}],
    [["lib/7.3.79/libfdb_c.so", "bin/7.3.79/fdbcli"], {}],
    [["lib/7.3.79/libfdb_c.so", "bin/7.3.79/bin/fdbcli"], {}],
    [
      ["lib/libfdb_c.so", "bin/fdbcli", "bin/fdbserver"],
      { "lib/libfdb_c.so": "7.3.79", "bin/fdbcli": "7.3.79", "bin/fdbserver": "7.3.79" },
    ],
  ];
  for (const [files, told] of layouts) {
    const { clients } = await install(files, told);
    assert.deepEqual(
      clients.map(({ version }) => version),
      ["7.3.79"],
      files.join(" "),
    );
  }
});

test("[DB1] the very version comes first, then the newest with the same protocol", async () => {
  const versions = ["7.1.67", "7.3.43", "7.3.79"];
  const installation = await install(
    versions.flatMap((version) => [`lib/libfdb_c_${version}.so`, `bin/${version}/fdbcli`]),
  );
  assert.equal(installation.find("7.3.43")?.version, "7.3.43");
  assert.equal(installation.find("7.3.50")?.version, "7.3.79");
  assert.equal(installation.find("7.1.5")?.version, "7.1.67");
  assert.equal(installation.find("7.2.0"), undefined);
  assert.equal(installation.find("nonsense"), undefined);
});

test("[DB1] a library without fdbcli of its protocol is no client", async () => {
  const installation = await install(["lib/libfdb_c_7.3.79.so", "bin/7.1.67/fdbcli"]);
  assert.deepEqual(installation.clients, []);
});

test("[DB1] the newest version that can be both run and reached is known", async () => {
  const installation = await install([
    ...["lib/libfdb_c_7.1.67.so", "bin/7.1.67/fdbcli", "bin/7.1.67/fdbserver"],
    ...["lib/libfdb_c_7.3.9.so", "bin/7.3.9/fdbcli", "bin/7.3.9/fdbserver"],
    ...["lib/libfdb_c_7.3.10.so", "bin/7.3.10/fdbcli", "bin/7.3.10/fdbserver"],
    "bin/7.4.1/fdbserver",
  ]);
  assert.equal(installation.newest, "7.3.10");
  assert.equal(installation.findServer("7.3.9")?.version, "7.3.9");
});

test("[DB67] backup tools are found by name and version, beside the other programs", async () => {
  const installation = await install([
    ...["bin/7.3.79/fdbbackup", "bin/7.3.79/fdbrestore", "bin/7.1.67/fdbbackup"],
  ]);
  assert.match(installation.findTool("fdbbackup", "7.3.63") ?? "", /bin\/7\.3\.79\/fdbbackup$/);
  assert.match(installation.findTool("fdbbackup", "7.1.67") ?? "", /bin\/7\.1\.67\/fdbbackup$/);
  assert.equal(installation.findTool("fdbrestore", "7.1.67"), undefined);
  assert.equal(installation.findTool("backup_agent", "7.3.79"), undefined);
});

test("[DB2] a file that cannot tell its version is not used", async () => {
  const installation = await install(["lib/libfdb_c.so", "bin/fdbcli"], { "bin/fdbcli": "7.3.79" });
  assert.deepEqual(installation.clients, []);
});

test("[DB3] what is missing is named with the places that were searched and where to get it", async () => {
  const nothing = await install([]);
  const text = nothing.explainMissing("7.3.79");
  assert.match(text, /libfdb_c\.so of FoundationDB 7\.3\.79 was not found in .*lib/);
  assert.match(text, /FDB_LIBRARY_DIR/);
  assert.match(text, /FDB_BINARY_DIR/);
  assert.match(text, /releases of FoundationDB/);
  const half = await install(["lib/libfdb_c_7.3.79.so"]);
  assert.doesNotMatch(half.explainMissing("7.3.79"), /FDB_LIBRARY_DIR/);
});

test("[DB1] folders named in the environment come before the usual ones", () => {
  const places = installationPlaces({ FDB_BINARY_DIR: "/a", FDB_LIBRARY_DIR: "/b" });
  assert.deepEqual(places.libraryFolders.slice(0, 2), ["/b", "/a"]);
  assert.equal(places.programFolders[0], "/a");
  const same = installationPlaces({ FDB_BINARY_DIR: "/a", FDB_LIBRARY_DIR: "/a" });
  assert.equal(same.libraryFolders.filter((folder) => folder === "/a").length, 1);
  assert.ok(installationPlaces({}).programFolders.includes("/usr/sbin"));
});
