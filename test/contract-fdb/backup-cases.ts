// Backup and restore by the tools: what they answer, what they leave in the database, and that what is restored is what was
// there. Rules: spec/backup-simulation.md.
import assert from "node:assert/strict";
import { bytesOfBinary, bytesOfText, textOfBytes } from "../../src/fdb/bytes.ts";
import { decodeTag, pauseKey, propertyKey, tagKey } from "../../src/fdb/backup-keys.ts";
import { readBackupLayer, setAgentsPaused } from "../../src/fdb/backup-layer.ts";
import type { BackupLayer } from "../../src/fdb/backup-layer.ts";
import { readRestoreLayer } from "../../src/fdb/restore-layer.ts";
import type { RestoreLayer, RestoreRecord } from "../../src/fdb/restore-layer.ts";
import { decodeTuple } from "../../src/fdb/tuple.ts";
import { backup, restore, statusOf, toolsOf, untilStatus } from "./backup-steps.ts";
import type { Shown } from "./backup-steps.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

const text = bytesOfText;
const lockAware = { timeoutMs: 30_000, lockAware: true, accessSystemKeys: true };

async function write(
  target: DatabaseTarget,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  await target.finish(
    target.admin.transact(
      async (transaction) => {
        for (const [key, value] of Object.entries(entries)) transaction.set(text(key), text(value));
      },
      { timeoutMs: 30_000 },
    ),
  );
}

async function read(target: DatabaseTarget, prefix: string): Promise<string[]> {
  const items = await target.finish(
    target.admin.transact(
      (transaction) => transaction.getRange(text(prefix), text(`${prefix}\u007f`)),
      { timeoutMs: 30_000 },
    ),
  );
  return items.map(({ key, value }) => `${textOfBytes(key)}=${textOfBytes(value)}`);
}

async function clear(target: DatabaseTarget, prefix: string): Promise<void> {
  await target.finish(
    target.admin.transact(
      async (transaction) => transaction.clearRange(text(prefix), text(`${prefix}\u007f`)),
      { timeoutMs: 30_000 },
    ),
  );
}

function propertyOf(
  target: DatabaseTarget,
  uid: Uint8Array,
  property: string,
): Promise<Uint8Array | undefined> {
  const key = propertyKey(uid, property);
  return target.finish(target.admin.transact((transaction) => transaction.get(key), lockAware));
}

/** Of the keys under bk/; an agent must live. */
async function restorableBackup(target: DatabaseTarget, tag: string): Promise<Shown> {
  const folderUrl = toolsOf(target).folder.urlOf(tag);
  const started = await backup(target, "start", "-d", folderUrl, "-t", tag, "-z", "-k", "bk/ bk0");
  assert.equal(started.code, 0, started.stderr);
  return untilStatus(target, tag, ({ Restorable }) => Restorable);
}

const stage = "running";
const needs = "backup-tools";

export const backupCases: readonly DatabaseCase[] = [
  {
    title: "[BSIM8] commands for unknown tags, and without an agent, end as they should",
    ...{ stage, needs },
    async run(target) {
      const unknown = await backup(target, "status", "-t", "never", "--json");
      assert.equal(
        unknown.stdout,
        '{"SchemaVersion":"1.0.0","BackupAgentsPaused":false,"Tag":"never"}\n',
      );
      const aborted = await backup(target, "abort", "-t", "never");
      assert.deepEqual(aborted, {
        code: 1,
        stdout: "",
        stderr:
          "ERROR: A backup was not running on tag `never'\nFatal Error: Backup unneeded request\n",
      });
      const folderUrl = toolsOf(target).folder.urlOf("lonely");
      const lonely = await backup(target, "start", "-d", folderUrl, "-t", "lonely", "-z");
      assert.deepEqual(lonely, {
        code: 0,
        stdout:
          "The backup on tag `lonely' was successfully submitted but no backup agents are responding.\n",
        stderr: "",
      });
      const twice = await backup(target, "start", "-d", folderUrl, "-t", "lonely", "-z");
      assert.equal(
        twice.stderr,
        "ERROR: A backup is already running on tag `lonely'\nFatal Error: Backup error\n",
      );
      assert.equal((await statusOf(target, "lonely")).Status.Name, "Submitted");
      const ended = await backup(target, "abort", "-t", "lonely");
      assert.equal(ended.stdout, "The backup on tag `lonely' was successfully aborted.\n");
    },
  },
  {
    title:
      "[BK20] [BK21] [BK23] the operator reads of a backup what the tool shows, and pauses agents as the tool does",
    ...{ stage, needs },
    async run(target) {
      const kill = toolsOf(target).startAgent();
      const layerOf = (tag: string): Promise<BackupLayer> =>
        target.finish(readBackupLayer(target.admin, { tag, retainedSeconds: 10 }, 30_000));
      try {
        await write(target, { "bk/a": "1" });
        const before = await restorableBackup(target, "operator");
        const { record, isPaused, times, retainedFrom } = await layerOf("operator");
        const after = await statusOf(target, "operator");
        assert.deepEqual(
          [record?.uid, record?.state, record?.url, isPaused],
          [after.UID, after.Status.Name, after.DestinationURL, false],
        );
        const [low, high] = [before, after].map(
          (shown) => shown.LatestRestorablePoint?.Version ?? 0,
        );
        const to = record?.restorableTo ?? 0;
        assert.ok(to >= (low ?? 0) && to <= (high ?? 0), `${low} ${to} ${high}`);
        assert.ok((record?.restorableFrom ?? 0) > 0 && (record?.restorableFrom ?? 0) <= to);
        assert.ok((times[0]?.version ?? 0) > (retainedFrom ?? 0) && (retainedFrom ?? 0) > 0);
        await target.finish(setAgentsPaused(target.admin, true, 30_000));
        assert.equal((await statusOf(target, "operator")).BackupAgentsPaused, true);
        assert.equal((await layerOf("operator")).isPaused, true);
        await backup(target, "resume");
        assert.equal((await layerOf("operator")).isPaused, false);
        await backup(target, "abort", "-t", "operator");
        assert.equal((await layerOf("operator")).record?.state, "Aborted");
        assert.equal((await layerOf("unheard-of")).record, undefined);
      } finally {
        await target.finish(setAgentsPaused(target.admin, false, 30_000));
        kill();
      }
    },
  },
  {
    title:
      "[RS20] [RS21] the operator reads of a restore what the tool shows, and who holds the lock",
    ...{ stage, needs },
    async run(target) {
      const kill = toolsOf(target).startAgent();
      const ranges = [{ begin: "rs/", end: "rs0" }];
      const look = (): Promise<RestoreLayer> =>
        target.finish(readRestoreLayer(target.admin, { tag: "reading", ranges }, 30_000));
      const recordOf = ({ restores }: RestoreLayer): RestoreRecord | undefined =>
        restores.find(({ tag }) => tag === "reading");
      try {
        await write(target, { "bk/a": "1" });
        const { DestinationURL: url } = await restorableBackup(target, "read");
        await backup(target, "abort", "-t", "read");
        const before = await look();
        assert.deepEqual([before.lockUid, before.occupied], [undefined, undefined]);
        // Paused agents leave it queued.
        await target.finish(setAgentsPaused(target.admin, true, 30_000));
        const keys = ["-k", "bk/ bk0", "--add-prefix", "rs/"];
        const started = await restore(target, "start", "-r", url, "-t", "reading", ...keys);
        assert.equal(started.code, 0, started.stderr);
        const queued = await look();
        const shown = (await restore(target, "status", "-t", "reading")).stdout;
        const uid = /UID: (\w+)/.exec(shown)?.[1];
        assert.deepEqual(
          [recordOf(queued)?.state, recordOf(queued)?.uid, queued.lockUid, queued.isPaused],
          ["queued", uid, uid, true],
        );
        assert.equal(recordOf(queued)?.version, Number(/Version: (\d+)\s*$/.exec(shown)?.[1]));
        await target.finish(setAgentsPaused(target.admin, false, 30_000));
        let ended = await look();
        for (let count = 0; count < 120 && recordOf(ended)?.state !== "completed"; count += 1) {
          await target.pass(1);
          ended = await look();
        }
        assert.deepEqual([recordOf(ended)?.state, ended.lockUid], ["completed", undefined]);
        assert.equal(ended.occupied?.key, "rs/bk/a");
        assert.equal(recordOf(ended)?.blocks, recordOf(ended)?.blocksFinished);
      } finally {
        await target.finish(setAgentsPaused(target.admin, false, 30_000));
        await restore(target, "abort", "-t", "reading");
        await clear(target, "rs/");
        kill();
      }
    },
  },
  {
    title:
      "[BSIM13] [BSIM17] [BSIM21] a backup becomes restorable, its keys say so, and an older version comes back under a prefix",
    ...{ stage, needs },
    async run(target) {
      const tools = toolsOf(target);
      const kill = tools.startAgent();
      try {
        await clear(target, "bk/");
        await clear(target, "copy/");
        await write(target, { "bk/a": "1", "bk/b": "2" });
        const { UID, DestinationURL } = await restorableBackup(target, "contract");
        const first = (await statusOf(target, "contract")).LatestRestorablePoint?.Version ?? 0;
        await write(target, { "bk/b": "3", "bk/c": "4" });
        const tag = await target.finish(
          target.admin.transact((transaction) => transaction.get(tagKey("contract")), lockAware),
        );
        const uid = decodeTag(tag ?? new Uint8Array());
        assert.ok(uid !== undefined);
        const halves = [uid.slice(0, 8), uid.slice(8)].map((half) =>
          Buffer.from(half.toReversed()).toString("hex"),
        );
        assert.equal(halves.join(""), UID);
        assert.deepEqual(await propertyOf(target, uid, "stateEnum"), bytesOfBinary("\x15\x03"));
        const [url] = decodeTuple(
          (await propertyOf(target, uid, "backupContainer")) ?? new Uint8Array(),
        );
        assert.equal(textOfBytes(url as Uint8Array), DestinationURL);
        const newer = await untilStatus(
          target,
          "contract",
          ({ LatestRestorablePoint: point }) => (point?.Version ?? 0) > first + 21_000_000,
        );
        const toVersion = async (version: number, prefix: string): Promise<string[]> => {
          const args = ["-r", DestinationURL, "-v", String(version), "-t", prefix, "-w"];
          const end = await restore(
            target,
            "start",
            ...args,
            "-k",
            "bk/ bk0",
            "--add-prefix",
            prefix,
          );
          assert.equal(end.code, 0, end.stderr);
          assert.match(end.stdout, new RegExp(`\nRestored to version ${version}\n$`));
          return read(target, prefix);
        };
        assert.deepEqual(await toVersion(first, "copy/1/"), ["copy/1/bk/a=1", "copy/1/bk/b=2"]);
        const last = newer.LatestRestorablePoint?.Version ?? 0;
        assert.deepEqual(await toVersion(last, "copy/2/"), [
          "copy/2/bk/a=1",
          "copy/2/bk/b=3",
          "copy/2/bk/c=4",
        ]);
        const again = await restore(
          target,
          "start",
          "-r",
          DestinationURL,
          "-t",
          "x",
          "-k",
          "bk/ bk0",
          "--add-prefix",
          "copy/1/",
        );
        assert.match(
          again.stderr,
          /^ERROR: Attempted to restore into a non-empty destination database\n/,
        );
        assert.equal((await backup(target, "abort", "-t", "contract")).code, 0);
      } finally {
        kill();
      }
    },
  },
  {
    title:
      "[BSIM12] [BSIM8] the pause key alone pauses, discontinue completes, and describe and expire work on what is there",
    ...{ stage, needs },
    async run(target) {
      const tools = toolsOf(target);
      const kill = tools.startAgent();
      const setPause = (isPaused: boolean): Promise<void> =>
        target.finish(
          target.admin.transact(async (transaction) => {
            if (isPaused) transaction.set(pauseKey, new Uint8Array());
            else transaction.clear(pauseKey);
          }, lockAware),
        );
      await write(target, { "bk/a": "1" });
      const { DestinationURL } = await restorableBackup(target, "paused");
      await setPause(true);
      assert.equal((await statusOf(target, "paused")).BackupAgentsPaused, true);
      await setPause(false);
      const stopped = await backup(target, "discontinue", "-t", "paused");
      assert.equal(stopped.stdout, "The backup on tag `paused' was successfully discontinued.\n");
      await untilStatus(target, "paused", ({ Status }) => Status.Name === "Completed");
      kill();
      const described = await backup(target, "describe", "-d", DestinationURL, "--json");
      const shown = JSON.parse(described.stdout) as {
        Restorable: boolean;
        Snapshots: unknown[];
        MaxLogEnd: { Version: number };
      };
      assert.deepEqual([shown.Restorable, shown.Snapshots.length > 0], [true, true]);
      const refused = await backup(
        target,
        "expire",
        "-d",
        DestinationURL,
        "--expire-before-version",
        String(shown.MaxLogEnd.Version),
      );
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /^ERROR: Requested expiration would be unsafe\./);
      const removed = await tools.run("fdbbackup", ["delete", "-d", DestinationURL]);
      assert.equal(removed.code, 0, removed.stderr);
      const gone = await backup(target, "describe", "-d", DestinationURL);
      assert.equal(gone.code, 1);
      assert.match(gone.stderr, /^ERROR: Backup does not exist\n/);
    },
  },
];
