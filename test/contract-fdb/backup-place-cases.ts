// Backups that must prove themselves, each in a folder and in a bucket: users write all the time, and what is restored
// into an empty database is compared key by key. Rules: spec/backup-simulation.md.
import assert from "node:assert/strict";
import { timeText } from "../../src/sim/backup/time-keeper.ts";
import { BackupLoad, empty, loadRange } from "./backup-load.ts";
import {
  backup,
  describe,
  restorableTo,
  restoreInto,
  statusOf,
  toolsOf,
  untilStatus,
} from "./backup-steps.ts";
import type { Described, Shown } from "./backup-steps.ts";
import type { BackupPlace, Destination, ToolOutput } from "./backup-tools.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

interface Where {
  readonly words: string;
  readonly needs: NonNullable<DatabaseCase["needs"]>;
  readonly placeOf: (target: DatabaseTarget) => BackupPlace;
}

const folder: Where = {
  words: "in a folder",
  needs: "backup-tools",
  placeOf: (target) => toolsOf(target).folder,
};

const bucket: Where = {
  words: "in a bucket",
  needs: "object-store",
  placeOf(target) {
    const place = toolsOf(target).bucket;
    assert.ok(place !== undefined, "there is no S3 server");
    return place;
  },
};

const keys = ["-k", `${loadRange.begin} ${loadRange.end}`];
/** Transactions between two looks. */
const pace = 5;

/** A backup that runs while users write: it is restorable, and its agent lives until `end`. */
class RunningBackup {
  readonly target: DatabaseTarget;
  readonly place: BackupPlace;
  readonly tag: string;
  readonly load: BackupLoad;
  url = "";
  #kill: () => void;

  constructor(target: DatabaseTarget, place: BackupPlace, tag: string, seed: number) {
    this.target = target;
    this.place = place;
    this.tag = tag;
    this.load = new BackupLoad(target, seed);
    this.#kill = toolsOf(target).startAgent();
  }

  async start(...more: readonly string[]): Promise<void> {
    await this.load.begin();
    await this.load.write(40);
    const { place, tag, target } = this;
    const args = ["-d", place.urlOf(tag), "-t", tag, "-z", ...keys, ...place.credentials, ...more];
    const started = await backup(target, "start", ...args);
    assert.equal(started.code, 0, started.stderr);
    this.url = (await this.until(({ Restorable }) => Restorable)).DestinationURL;
  }

  /** Users go on writing. */
  until(isSo: (shown: Shown) => boolean): Promise<Shown> {
    return untilStatus(this.target, this.tag, isSo, () => this.load.write(pace));
  }

  describe(...more: readonly string[]): Promise<Described> {
    return describe(this.target, this.place, this.url, ...more);
  }

  async stop(): Promise<void> {
    const ended = await backup(this.target, "abort", "-t", this.tag);
    assert.equal(ended.code, 0, ended.stderr);
  }

  /** Into an empty database, until it has ended. */
  async restore(name: string, ...point: readonly string[]): Promise<ToolOutput> {
    const { place, tag, target, url } = this;
    const destination = await toolsOf(target).destination();
    await empty(target, destination.admin);
    const kill = destination.startAgent();
    try {
      const args = ["-r", url, "-t", `${tag}-${name}`, "-w", ...keys, ...place.credentials];
      return await restoreInto(destination, "start", ...args, ...point);
    } finally {
      kill();
    }
  }

  /** A restore that must succeed; gives the number of the last transaction that is in it. */
  async restored(name: string, ...point: readonly string[]): Promise<number> {
    const { code, stdout, stderr } = await this.restore(name, ...point);
    assert.equal(code, 0, `${stdout}${stderr}`);
    return this.load.verify((await toolsOf(this.target).destination()).admin);
  }

  /** The agent dies, and nothing goes on. */
  async end(): Promise<void> {
    await backup(this.target, "abort", "-t", this.tag);
    this.#kill();
  }
}

async function withBackup(
  target: DatabaseTarget,
  where: Where,
  tag: string,
  seed: number,
  run: (running: RunningBackup) => Promise<void>,
): Promise<void> {
  const running = new RunningBackup(target, where.placeOf(target), tag, seed);
  try {
    await run(running);
  } finally {
    await running.end();
  }
}

const versionOf = (point: { readonly Version: number } | undefined): number => point?.Version ?? 0;

function loadCase(where: Where): DatabaseCase {
  return {
    title: `[BSIM13] [BSIM17] [BSIM20] a backup ${where.words} under write load is restored to versions and to a time, key by key`,
    stage: "running",
    needs: where.needs,
    async run(target) {
      await withBackup(target, where, "load", 1, async (running) => {
        await running.start();
        const { load } = running;
        const early = await running.describe();
        assert.equal(early.Restorable, true);
        const first = versionOf(early.MaxRestorablePoint);
        const writtenByThen = load.number;
        // Nobody writes for a while, so that a time in it names one state of the keys.
        await load.write(pace);
        const calm = load.number;
        await target.pass(24);
        const second = Math.floor(target.nowMs() / 1000) - 12;
        await running.until((shown) => (shown.LatestRestorablePoint?.EpochSeconds ?? 0) > second);
        await running.until((shown) => restorableTo(shown) > first + 40_000_000);
        const last = versionOf((await running.describe()).MaxRestorablePoint);
        await running.stop();
        const atFirst = await running.restored("first", "-v", String(first));
        assert.ok(atFirst >= 40 && atFirst <= writtenByThen, `${atFirst} of ${writtenByThen}`);
        const { originalClusterFile } = await toolsOf(target).destination();
        const time = ["--timestamp", timeText(second), "--orig-cluster-file", originalClusterFile];
        assert.equal(await running.restored("time", ...time), calm);
        const atLast = await running.restored("last", "-v", String(last));
        assert.ok(atLast > calm, `${atLast} after ${calm}`);
        assert.ok((await running.restored("latest")) >= atLast);
      });
    },
  };
}

function expireCase(where: Where): DatabaseCase {
  return {
    title: `[BSIM6] [BSIM5] [BSIM14] expire ${where.words} keeps the window that was promised, and describe shows it`,
    stage: "running",
    needs: where.needs,
    async run(target) {
      await withBackup(target, where, "expire", 2, async (running) => {
        // A snapshot of few keys is of one version, and ahead of the logs for half a minute.
        await running.start("-s", "45");
        const before = await untilSnapshots(running);
        await running.stop();
        const oldestEnd = versionOf(before.Snapshots[0]?.End);
        const kept = before.Snapshots.filter(({ Start }) => isLogLater(oldestEnd, Start.Version));
        const [cut, promised] = [versionOf(kept[0]?.Start), versionOf(kept[0]?.End)];
        const expire = (beforeVersion: number, after: number): Promise<ToolOutput> => {
          const versions = ["--expire-before-version", String(beforeVersion)];
          const promise = ["--restorable-after-version", String(after)];
          const there = ["-d", running.url, ...running.place.credentials];
          return backup(target, "expire", ...there, ...versions, ...promise);
        };
        const refused = await expire(promised, oldestEnd);
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /^ERROR: Requested expiration would be unsafe\./);
        assert.deepEqual(await running.describe(), before);
        const done = await expire(cut, promised);
        assert.equal(done.code, 0, done.stderr);
        const after = await running.describe();
        assert.equal(after.Restorable, true);
        const from = versionOf(after.MinRestorablePoint);
        assert.ok(from > oldestEnd && from <= promised, `${oldestEnd} ${from} ${promised}`);
        assert.deepEqual(after.MaxRestorablePoint, before.MaxRestorablePoint);
        assert.deepEqual(after.Snapshots.slice(-kept.length), kept);
        const atPromised = await running.restored("promised", "-v", String(promised));
        const latest = await running.restored("latest");
        assert.ok(atPromised <= latest, `${atPromised} ${latest}`);
        const tooOld = await running.restore("old", "-v", String(oldestEnd));
        assert.equal(tooOld.code, 1);
        assert.match(tooOld.stderr, /ERROR: Restore version \d+ is not possible from /);
      });
    },
  };
}

/** Whether a log may end between two versions: expire does not cut into one. */
function isLogLater(from: number, to: number): boolean {
  return to > from + 25_000_000;
}

/** Describes until two snapshots that one can go back to are a log apart, and the logs have reached beyond them. */
async function untilSnapshots(running: RunningBackup): Promise<Described> {
  for (let look = 0; look < 120; look += 1) {
    const shown = await running.describe();
    const whole = shown.Snapshots.filter(({ Restorable }) => Restorable);
    const isApart = isLogLater(versionOf(whole[0]?.End), versionOf(whole.at(-1)?.Start));
    const isReached = versionOf(shown.MaxLogEnd) > versionOf(shown.Snapshots.at(-1)?.End);
    if (isApart && isReached && whole.length === shown.Snapshots.length) return shown;
    await running.load.write(pace);
    await running.target.pass(2);
  }
  assert.fail(`still ${JSON.stringify(await running.describe())}`);
}

function pauseCase(where: Where): DatabaseCase {
  return {
    title: `[BSIM12] [BSIM8] a paused backup ${where.words} stands still, and goes on when it is resumed`,
    stage: "running",
    needs: where.needs,
    async run(target) {
      await withBackup(target, where, "pause", 3, async (running) => {
        await running.start();
        const paused = await backup(target, "pause");
        assert.equal(paused.code, 0, paused.stderr);
        try {
          // A task that an agent had begun is finished.
          await target.pass(10);
          const stands = restorableTo(await statusOf(target, running.tag));
          await target.pass(40);
          const shown = await statusOf(target, running.tag);
          assert.deepEqual([shown.BackupAgentsPaused, restorableTo(shown)], [true, stands]);
          await running.load.write(pace);
          const written = running.load.number;
          assert.equal((await backup(target, "resume")).code, 0);
          await running.until((each) => restorableTo(each) > stands + 40_000_000);
          assert.equal((await statusOf(target, running.tag)).BackupAgentsPaused, false);
          await running.stop();
          assert.ok((await running.restored("resumed")) >= written);
        } finally {
          await backup(target, "resume");
        }
      });
    },
  };
}

function lossCase(where: Where): DatabaseCase {
  return {
    title: `[BSIM5] [BSIM18] a backup ${where.words} whose objects were deleted is not restored, and nothing is written or locked`,
    stage: "running",
    needs: where.needs,
    async run(target) {
      await withBackup(target, where, "loss", 4, async (running) => {
        await running.start();
        const first = versionOf((await running.describe()).MaxRestorablePoint);
        await running.until((shown) => restorableTo(shown) > first + 20_000_000);
        const last = versionOf((await running.describe()).MaxRestorablePoint);
        await running.stop();
        const own = running.url.replace(/^[a-z]+:\/\/[^/]*/, "").replace(/\?.*$/, "");
        const name = own.split("/").at(-1) ?? "";
        const lose = (part: RegExp): number =>
          running.place.lose((key) => key.includes(`${name}/`) && part.test(key));
        // The newest logs: what they held cannot be had any more, what came before can.
        const newestLogs = (key: string): boolean =>
          key.includes(`${name}/`) && logBegin(key) >= first;
        assert.ok(running.place.lose(newestLogs) > 0);
        // What a look noted is believed, until somebody looks at every log.
        assert.equal(versionOf((await running.describe()).MaxRestorablePoint), last);
        const deep = versionOf((await running.describe("--deep")).MaxRestorablePoint);
        assert.ok(deep >= first && deep < last, `${first} ${deep} ${last}`);
        assert.equal(versionOf((await running.describe()).MaxRestorablePoint), deep);
        const tooNew = await running.restore("new", "-v", String(last));
        assert.equal(tooNew.code, 1);
        assert.match(tooNew.stderr, /ERROR: Restore version \d+ is not possible from /);
        await running.restored("shorter", "-v", String(first));
        assert.ok(lose(/\/kvranges\//) > 0);
        const lost = await running.restore("lost", "-v", String(first));
        assert.deepEqual(
          [lost.code, lost.stderr],
          [1, "ERROR: Missing backup data\nFatal Error: Missing backup data\n"],
        );
        await assertUntouched(target, await toolsOf(target).destination());
      });
    },
  };
}

/** Of a log's key; -1 for another one. */
function logBegin(key: string): number {
  return Number(/\/logs\/.*\/log,(\d+),/.exec(key)?.[1] ?? -1);
}

/** Neither locked nor written to. */
async function assertUntouched(target: DatabaseTarget, { admin }: Destination): Promise<void> {
  const items = await target.finish(
    admin.transact((each) => each.getRange(new Uint8Array(), Uint8Array.of(0xff), { limit: 1 }), {
      timeoutMs: 30_000,
    }),
  );
  assert.deepEqual(items, []);
}

export const backupPlaceCases: readonly DatabaseCase[] = [folder, bucket].flatMap((where) => [
  loadCase(where),
  expireCase(where),
  pauseCase(where),
  lossCase(where),
]);
