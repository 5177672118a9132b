// The cluster files of databases in one client process, in a folder of this machine.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { ClusterFiles } from "./cluster-files.ts";

const minuteMs = 60_000;

test("[DB53] a cluster file outlives its database for ten minutes, and its name is not used again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cluster-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new VirtualClock();
  const files = new ClusterFiles(folder, clock);
  const first = files.write("a:b@10.0.0.1:4501");
  assert.equal(readFileSync(first.path, "utf8"), "a:b@10.0.0.1:4501\n");
  assert.equal(statSync(first.path).mode & 0o777, 0o600);
  first.release();
  const second = files.write("a:b@10.0.0.2:4501");
  assert.notEqual(second.path, first.path);
  await clock.advance(9 * minuteMs);
  assert.ok(existsSync(first.path), "the library may still look at it");
  await clock.advance(2 * minuteMs);
  assert.ok(!existsSync(first.path));
  assert.ok(existsSync(second.path), "and that of an open database stays");
});

test("[DB58] a folder that somebody has removed is made again, for nobody else to read", (t) => {
  const above = mkdtempSync(join(tmpdir(), "cluster-files-"));
  t.after(() => rmSync(above, { recursive: true, force: true }));
  const folder = join(above, "removed");
  const { path } = new ClusterFiles(folder, new VirtualClock()).write("a:b@10.0.0.1:4501");
  assert.ok(existsSync(path));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});
