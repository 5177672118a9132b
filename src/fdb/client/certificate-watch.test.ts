// Certificates that are exchanged while clients run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { watchFiles } from "./certificate-watch.ts";

test("[DB18] new content of a certificate file is noticed once, when it has settled", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-certificates-"));
  try {
    const [certificate, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    writeFileSync(certificate, "one");
    const clock = new VirtualClock();
    let changes = 0;
    const stop = watchFiles(clock, [certificate, key], () => (changes += 1));
    await clock.advance(300_000);
    assert.equal(changes, 0);
    writeFileSync(certificate, "two");
    await clock.advance(30_000);
    writeFileSync(key, "key of two");
    await clock.advance(30_000);
    assert.equal(changes, 0, "the pair was still changing");
    await clock.advance(30_000);
    assert.equal(changes, 1);
    await clock.advance(300_000);
    assert.equal(changes, 1);
    stop();
    assert.equal(clock.pendingTimers, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[DB18] without certificates nothing is watched", () => {
  const clock = new VirtualClock();
  watchFiles(clock, [], () => assert.fail())();
  assert.equal(clock.pendingTimers, 0);
});
