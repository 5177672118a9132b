// What expire and delete leave in a container that a backup has filled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { capture } from "./captures.ts";
import { credentials, startBackup } from "./restore-bench.ts";
import { timeText } from "./time-keeper.ts";
import { clusterFile, containerUrl, openBench } from "./tool-bench.ts";
import type { ToolEnd } from "./tool-bench.ts";

test("[BSIM6] [BSIM20] times are rounded down: a snapshot's own end is refused, a second more is accepted", async () => {
  const bench = await openBench();
  bench.agent();
  await startBackup(bench, "-s", "30");
  await bench.sample.pass(120);
  const { stdout } = await bench.backup(
    "describe",
    "-C",
    clusterFile,
    "-d",
    containerUrl("daily"),
    "--json",
    "--version-timestamps",
    ...credentials,
  );
  const { Snapshots } = JSON.parse(stdout) as {
    Snapshots: { Start: { EpochSeconds: number }; End: { EpochSeconds: number } }[];
  };
  const kept = Snapshots[2];
  const expire = (seconds: number): Promise<ToolEnd> =>
    bench.backup(
      ...["expire", "-C", clusterFile, "-d", containerUrl("daily"), ...credentials],
      ...["--expire-before-timestamp", timeText(kept?.Start.EpochSeconds ?? 0)],
      ...["--restorable-after-timestamp", timeText(seconds)],
    );
  assert.equal((await expire(kept?.End.EpochSeconds ?? 0)).code, 1);
  const accepted = await expire((kept?.End.EpochSeconds ?? 0) + 1);
  assert.equal(accepted.code, 0, accepted.stderr);
});

test("[BSIM6] expire keeps what was promised and the rest is really gone; delete leaves nothing", async () => {
  const bench = await openBench();
  bench.agent();
  await bench.write({ a: "1" });
  await startBackup(bench, "-s", "30");
  await bench.sample.pass(150);
  const describe = async (): Promise<
    Record<string, { Version: number }> & { Snapshots: Record<string, { Version: number }>[] }
  > => {
    const { stdout } = await bench.backup(
      "describe",
      "-d",
      containerUrl("daily"),
      "--json",
      ...credentials,
    );
    return JSON.parse(stdout) as Awaited<ReturnType<typeof describe>>;
  };
  const { Snapshots } = await describe();
  const kept = Snapshots[2];
  const version = (point: { Version: number } | undefined): string => String(point?.Version);
  const cut = [
    "--expire-before-version",
    version(kept?.["Start"]),
    "--restorable-after-version",
    version(kept?.["End"]),
  ];
  const expired = await bench.backup("expire", "-d", containerUrl("daily"), ...cut, ...credentials);
  assert.equal(
    expired.stdout,
    `\rFinal metadata update...\nAll data before version ${version(kept?.["Start"])} has been deleted.\n`,
  );
  const after = await describe();
  assert.ok((after["MinRestorablePoint"]?.Version ?? Infinity) <= (kept?.["End"]?.Version ?? 0));
  const older = bench.store
    .list("fdb-backups", "")
    .filter(
      ({ content }) =>
        content.kind === "log" && content.endVersion <= (after["ExpiredEnd"]?.Version ?? 0),
    );
  assert.equal(older.length, 0);
  const refused = await bench.backup(
    "expire",
    "-d",
    containerUrl("daily"),
    "--expire-before-version",
    "99999999999",
    ...credentials,
  );
  assert.deepEqual([refused.code, refused.stderr], [1, capture("03-expire/whole-refused").stderr]);
  await bench.backup("abort", "-C", clusterFile, "-t", "daily");
  const removed = await bench.backup("delete", "-d", containerUrl("daily"), ...credentials);
  assert.match(
    removed.stdout,
    /^Deleting blobstore:\S+\.\.\.\n\r\d+ objects deleted\nThe entire container has been deleted\.\n$/,
  );
  assert.deepEqual(bench.store.list("fdb-backups", ""), []);
});
