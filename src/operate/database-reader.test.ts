// Questions to a database and their answers, on a client that answers when it is told to.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient } from "../fdb/admin.ts";
import { encodeLock, encodeMaintenance, operatorKeys } from "../fdb/keys.ts";
import type { KeyValue } from "../fdb/admin.ts";
import { sleep } from "../env/clock.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import type { DatabaseKnowledge, DatabaseQuestion } from "../plan/questions.ts";
import { DatabaseReader } from "./database-reader.ts";

const keys = operatorKeys();
const text = (key: Uint8Array): string => Buffer.from(key).toString("latin1");

class Library {
  readonly clock = new VirtualClock();
  readonly asked: string[] = [];
  readonly opened: string[] = [];
  readonly closed: string[] = [];
  readonly stored = new Map<string, Uint8Array>();
  excluded = ["10.0.0.1"];
  reachableVersion = "7.4.1";
  installed: string[] = [];
  processVersion: string | undefined;
  verification: () => Promise<void> = () => Promise.resolve();
  /** Seconds that an answer takes; it fails when absent. */
  answersAfterMs: number | undefined = 100;
  wakes = 0;
  client = this.newClient("7.3.79");
  readonly reader: DatabaseReader;

  constructor() {
    const { clock } = this;
    this.reader = new DatabaseReader({
      clock,
      admin: {
        open: ({ version }) => {
          this.opened.push(version);
          return this.newClient(version);
        },
        isVersionSupported: (version) => version !== "6.3.0",
        installedVersions: () => this.installed,
      },
      client: () => this.client,
      target: () => ({ name: "x", connectionString: "a:b@10.0.0.1:4501", version: "7.3.79" }),
      shared: () => ({ keys: { admin: this.client, keys } }),
      verifyExclusion: (targets) => {
        this.asked.push(`verify ${targets.join(" ")}`);
        return this.verification();
      },
      timeoutMs: 10_000,
      statusTimeoutMs: 10_000,
      verificationTimeoutMs: 30_000,
      minimumIntervalMs: 2_000,
      onAnswer: () => {
        this.wakes += 1;
      },
    });
  }

  newClient(version: string): AdminClient {
    const answer = async <T>(question: string, value: () => T): Promise<T> => {
      this.asked.push(question);
      await sleep(this.clock, this.answersAfterMs ?? 5_000);
      if (this.answersAfterMs === undefined) throw new Error("timed out");
      return value();
    };
    const items = (begin: Uint8Array, end: Uint8Array): KeyValue[] =>
      [...this.stored]
        .filter(([key]) => key >= text(begin) && key < text(end))
        .map(([key, value]) => ({ key: Buffer.from(key, "latin1"), value }));
    const client: Partial<AdminClient> = {
      excluded: () => answer("excluded", () => [...this.excluded]),
      exclusionsInProgress: () => answer("in progress", () => ["10.0.0.1:4501"]),
      status: () =>
        answer(`status ${version}`, () => ({
          client: { coordinators: { quorum_reachable: version === this.reachableVersion } },
          cluster: {
            processes: { a: this.processVersion ? { version: this.processVersion } : {} },
          },
        })),
      transact: (body) =>
        answer("keys", () =>
          body({
            get: (key) => Promise.resolve(this.stored.get(text(key))),
            getRange: (begin, end) => Promise.resolve(items(begin, end)),
            estimatedBytes: () => Promise.resolve(0),
            set: () => {},
            clear: () => {},
            clearRange: () => {},
          }),
        ) as ReturnType<AdminClient["transact"]> as never,
      close: () => void this.closed.push(version),
    };
    return client as AdminClient;
  }

  /** Asks and lets some time pass. */
  async ask(questions: DatabaseQuestion[], durationMs = 200): Promise<void> {
    this.reader.ask(questions);
    await this.clock.advance(durationMs);
  }
}

test("[S1] an answer is there later, and until then the field is absent", async () => {
  const library = new Library();
  library.reader.ask([{ type: "exclusions" }]);
  assert.equal(library.reader.knowledge.exclusions, undefined);
  await library.clock.advance(200);
  const { knowledge } = library.reader;
  assert.deepEqual(knowledge.exclusions?.excluded, ["10.0.0.1"]);
  assert.deepEqual(knowledge.exclusions.inProgress, ["10.0.0.1:4501"]);
});

test("[S2] a question under way or just answered is not asked again", async () => {
  const library = new Library();
  const question: DatabaseQuestion = { type: "exclusions" };
  library.reader.ask([question, question]);
  library.reader.ask([question]);
  await library.clock.advance(200);
  await library.ask([question]);
  assert.equal(library.asked.length, 2);
  await library.clock.advance(2_000);
  await library.ask([question]);
  assert.equal(library.asked.length, 4);
});

test("[S3] answers carry the time of their question", async () => {
  const library = new Library();
  const beganMs = library.clock.nowMs();
  await library.ask([{ type: "lock" }]);
  assert.equal(library.reader.knowledge.lock?.observedMs, beganMs);
});

test("[S4] without an answer the pauses double", async () => {
  const library = new Library();
  library.answersAfterMs = undefined;
  const times: number[] = [];
  for (let second = 0; second < 40; second += 1) {
    const before = library.asked.length;
    library.reader.ask([{ type: "denyList" }]);
    if (library.asked.length > before) times.push(second);
    await library.clock.advance(1_000);
  }
  assert.deepEqual(times, [0, 6, 13, 22, 35]);
  assert.equal(library.wakes, 0);
});

test("[S5] only news wake the cluster", async () => {
  const library = new Library();
  await library.ask([{ type: "exclusions" }], 3_000);
  assert.equal(library.wakes, 1);
  await library.ask([{ type: "exclusions" }], 3_000);
  assert.equal(library.wakes, 1);
  library.excluded = [];
  await library.ask([{ type: "exclusions" }], 3_000);
  assert.equal(library.wakes, 2);
});

test("[S6] another connection voids the knowledge and the answers under way", async () => {
  const library = new Library();
  await library.ask([{ type: "exclusions" }], 3_000);
  library.reader.ask([{ type: "exclusions" }]);
  library.client = library.newClient("7.4.1");
  assert.equal(library.reader.knowledge.exclusions, undefined);
  await library.clock.advance(3_000);
  assert.equal(library.reader.knowledge.exclusions, undefined);
});

test("[S1] the keys that the instances share are read", async () => {
  const library = new Library();
  const { stored } = library;
  stored.set(text(keys.denyListEntry("dc9")), Buffer.from("dc9"));
  stored.set(text(keys.pendingUpgrade("7.4.1", "log-1")), Buffer.from("log-1"));
  stored.set(text(keys.maintenanceEntry("storage-1")), encodeMaintenance(1_000));
  const endSeconds = Math.floor(library.clock.nowMs() / 1000) + 60;
  stored.set(text(keys.lock()), encodeLock({ owner: "dc1", startSeconds: 1, endSeconds }));
  await library.ask([
    { type: "denyList" },
    { type: "pendingUpgrades", version: "7.4.1" },
    { type: "maintenanceList" },
    { type: "lock" },
  ]);
  const { knowledge } = library.reader;
  assert.deepEqual(knowledge.denyList?.ids, ["dc9"]);
  assert.deepEqual(knowledge.pendingUpgrades?.ids, ["log-1"]);
  assert.deepEqual([...(knowledge.maintenanceList?.entries ?? [])], [["storage-1", 1_000]]);
  assert.deepEqual(knowledge.lock?.stored, { owner: "dc1", startSeconds: 1, endSeconds });
});

test("[T78] [T79] maintenance entries have times of our own clock, and the list can be asked for once more", async () => {
  const library = new Library();
  const nowSeconds = Math.floor(library.clock.nowMs() / 1000);
  const entry = text(keys.maintenanceEntry("storage-1"));
  library.stored.set(entry, encodeMaintenance(nowSeconds + 3_600));
  await library.ask([{ type: "maintenanceList" }]);
  const listed = (): unknown[] => [
    ...(library.reader.knowledge.maintenanceList?.entries ?? [["nothing"]]),
  ];
  assert.deepEqual(listed(), [["storage-1", nowSeconds]]);
  library.reader.noteMaintenance();
  assert.deepEqual(listed(), [["nothing"]]);
  await library.ask([{ type: "maintenanceList" }]);
  assert.deepEqual(listed(), [["storage-1", nowSeconds]]);
});

test("[S7] a confirmed exclusion is kept with its targets, one that fails is not", async () => {
  const library = new Library();
  const question: DatabaseQuestion = {
    type: "verifyExclusion",
    processGroupId: "storage-1",
    targets: ["10.0.0.1"],
  };
  library.verification = () => Promise.reject(new Error("still in progress"));
  await library.ask([question], 2_000);
  assert.equal(library.reader.knowledge.verified.size, 0);
  library.verification = () => Promise.resolve();
  const askedMs = library.clock.nowMs();
  await library.ask([question], 2_000);
  const found = library.reader.knowledge.verified.get("storage-1");
  assert.deepEqual(found, { targets: ["10.0.0.1"], completedMs: askedMs });
  assert.equal(library.wakes, 1);
});

test("[S8] versions are tried in their order until one reaches the coordinators", async () => {
  const library = new Library();
  const versions = ["6.3.0", "7.3.79", "7.4.1", "7.5.0"];
  await library.ask([{ type: "reachableVersion", versions }], 1_000);
  assert.equal(library.reader.knowledge.reachableVersion?.version, "7.4.1");
  assert.deepEqual(library.opened, ["7.3.79", "7.4.1"]);
  assert.deepEqual(library.closed, ["7.3.79", "7.4.1"]);
});

const verifications: DatabaseQuestion[] = ["storage-1", "storage-2"].map(
  (processGroupId, index) => ({
    type: "verifyExclusion",
    processGroupId,
    targets: [`10.0.0.${index + 1}`],
  }),
);

test("[S9] answers that come in one turn are all kept", async () => {
  const library = new Library();
  const { promise, resolve } = Promise.withResolvers<void>();
  library.verification = () => promise;
  library.reader.ask(verifications);
  resolve();
  await library.clock.advance(100);
  assert.deepEqual([...library.reader.knowledge.verified.keys()], ["storage-1", "storage-2"]);
});

test("[S120] a confirmed exclusion is forgotten when it proves nothing any more", async () => {
  const library = new Library();
  await library.ask(verifications, 299_000);
  await library.ask([]);
  assert.equal(library.reader.knowledge.verified.size, 2);
  await library.ask([], 2_000);
  await library.ask([]);
  assert.equal(library.reader.knowledge.verified.size, 0);

  await library.ask(verifications);
  const { promise, resolve } = Promise.withResolvers<void>();
  library.verification = () => promise;
  await library.ask(verifications, 130_000);
  library.reader.ask(verifications);
  const act = { step: "include", evidenceMs: 0, needsLock: false, processGroupIds: [] };
  library.reader.noteWrite({ type: "includeProcesses", ...act, targets: ["10.0.0.2"] });
  resolve();
  await library.clock.advance(100);
  const { verified } = library.reader.knowledge;
  assert.deepEqual([...verified.keys()], ["storage-1"], "what is included may hold data again");
});

test("[U31] then one client of each other protocol that is installed, and the processes tell their version", async () => {
  const library = new Library();
  library.installed = ["7.3.1", "7.3.79", "7.4.1", "7.5.0"];
  library.processVersion = "7.4.6";
  await library.ask([{ type: "reachableVersion", versions: ["7.3.63"] }], 1_000);
  assert.equal(library.reader.knowledge.reachableVersion?.version, "7.4.6");
  assert.deepEqual(library.opened, ["7.3.63", "7.4.1"]);
});

test("[U37] since when no look has found another announcement, for all versions", async () => {
  const library = new Library();
  const question: DatabaseQuestion = { type: "pendingUpgrades" };
  const key = text(keys.pendingUpgrade("7.4.1", "log-1"));
  library.stored.set(key, Buffer.from("log-1"));
  await library.ask([question]);
  assert.deepEqual(library.reader.knowledge.pendingUpgrades?.ids, ["log-1"]);
  library.stored.delete(key);
  await library.clock.advance(5_000);
  const goneMs = library.clock.nowMs();
  for (const pauseMs of [0, 5_000, 5_000]) {
    await library.clock.advance(pauseMs);
    await library.ask([question]);
    const { knowledge }: { knowledge: DatabaseKnowledge } = library.reader;
    const found = knowledge.pendingUpgrades;
    assert.deepEqual([found?.ids, found?.sinceMs], [[], goneMs]);
  }
});
