// Rules PIC31, PIC35: a bundle is whole or not there, and tar reads it.
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import {
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { filesOfTar } from "../preview/tar.ts";
import { refuseExisting, writeBundle } from "./write-bundle.ts";

const place = mkdtempSync(join(tmpdir(), "bundles-"));
after(() => rmSync(place, { recursive: true }));

const long = `b/logs/pods/${"sample-storage-".repeat(16)}1/foundationdb.log`;
const files = [
  { path: "b/index.md", text: "# sample\n" },
  { path: "b/empty.txt", text: "" },
  { path: long, text: "ä\n".repeat(1000) },
  { path: "b/block.txt", text: "x".repeat(512) },
];

test("[PIC31] tar lists and unpacks a bundle, also files with long names, and it is the same each time", async () => {
  const [one, other] = [join(place, "one.tar.gz"), join(place, "other.tar.gz")];
  const bytes = await writeBundle(one, files, 1_700_000_000);
  await writeBundle(other, files, 1_700_000_000);
  assert.deepEqual(readFileSync(one), readFileSync(other));
  assert.equal(readFileSync(one).length, bytes);
  const listed = execFileSync("tar", ["-tzf", one], { encoding: "utf8" });
  assert.deepEqual(
    listed.trim().split("\n"),
    files.map(({ path }) => path),
  );
  execFileSync("tar", ["-xzf", one, "-C", place]);
  for (const { path, text } of files) assert.equal(readFileSync(join(place, path), "utf8"), text);
  const read = filesOfTar(gunzipSync(readFileSync(one))) ?? [];
  assert.deepEqual(
    read.map(({ path }) => path),
    files.map(({ path }) => path),
  );
});

test("[PIC35] a disk that is full leaves nothing behind", async () => {
  const folder = mkdtempSync(join(place, "full-"));
  const file = join(folder, "bundle.tar.gz");
  const open = (path: string): Writable => {
    const inner = createWriteStream(path);
    const failing = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
    });
    return new Writable({
      write: (chunk, _encoding, done) => inner.write(chunk, () => done(failing)),
      destroy: (error, done) => inner.destroy(undefined) && done(error),
    });
  };
  await assert.rejects(writeBundle(file, files, 0, open), /cannot write .*: ENOSPC/);
  assert.deepEqual(readdirSync(folder), []);
});

test("[PIC35] a folder that cannot be written to is one line", async () => {
  const file = join(place, "nowhere", "bundle.tar.gz");
  await assert.rejects(writeBundle(file, files, 0), /cannot write .*: ENOENT/);
});

test("[PIC35] a file that is there is not overwritten", async () => {
  const file = join(place, "precious.tar.gz");
  writeFileSync(file, "precious");
  await assert.rejects(refuseExisting(file), /exists already: name another file/);
  await assert.rejects(writeBundle(file, files, 0), /exists already/);
  assert.equal(readFileSync(file, "utf8"), "precious");
  assert.deepEqual(
    readdirSync(place).filter((name) => name.includes("partial")),
    [],
  );
});
