// Where the S3 server of the tests comes from, and that it serves. Skips aloud where it has not been built:
// `npm run contract:fdb` builds it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { buildObjectStore, loseFiles, objectStorePath, startObjectStore } from "./object-store.ts";

const binary = objectStorePath(process.env);
const skip = existsSync(binary)
  ? false
  : "versitygw is not built here: npm run contract:fdb does it";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "fdb-objects-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void test("[DB68] the S3 server lies in the cache folder, and without Go the remedy is named", () =>
  inFolder(async (folder) => {
    const environment = { XDG_CACHE_HOME: folder, PATH: folder };
    assert.match(objectStorePath(environment), /\/foundationdb-operator\/versitygw-[0-9a-f]{16}$/);
    await assert.rejects(
      buildObjectStore(environment, () => {}),
      /no go program to build versitygw, an S3 server with: install Go/,
    );
  }));

void test("[DB68] objects are lost by their keys", () =>
  inFolder(async (folder) => {
    mkdirSync(path.join(folder, "data/one/logs"), { recursive: true });
    for (const key of ["data/one/logs/1", "data/one/logs/2", "data/one/other"]) {
      writeFileSync(path.join(folder, key), "");
    }
    assert.equal(
      loseFiles(folder, (key) => key.includes("/logs/")),
      2,
    );
    assert.deepEqual(
      ["data/one/logs/1", "data/one/other"].map((key) => existsSync(path.join(folder, key))),
      [false, true],
    );
  }));

void test("[DB68] the S3 server answers on loopback, refuses strangers and ends", { skip }, () =>
  inFolder(async (folder) => {
    const account = { key: "key", secret: "secret", region: "us-east-1", bucket: "backups" };
    const store = await startObjectStore({ binary, host: "127.83.99.1", folder, ...account });
    const url = `http://${store.host}:${store.port}/backups/`;
    const answer = await fetch(url);
    assert.equal(answer.status, 403);
    await answer.body?.cancel();
    await store.stop();
    await assert.rejects(fetch(url));
  }),
);
