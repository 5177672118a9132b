// The guard at work: locks, effects that are read back, one act at a time, and what is written down of them.
import { withoutStage } from "../fixtures/without-check.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { FdbError } from "../../src/fdb/error.ts";
import { encodeLock } from "../../src/fdb/keys.ts";
import type { GuardedDatabase, GuardOutcome } from "../../src/operate/guard.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import {
  emptySampleProcess,
  excludeSample,
  sampleGroup,
  sampleNowMs,
} from "../fixtures/sample-view.ts";
import { Door, keys } from "./guard-door.ts";

function base(needsLock = false) {
  return { step: "test", evidenceMs: sampleNowMs, needsLock };
}

const target = "locality_instance_id:storage-1";

function excluding(needsLock = false): DisruptiveAction & { type: "excludeProcesses" } {
  return {
    ...base(needsLock),
    type: "excludeProcesses",
    targets: [target],
    processGroupIds: ["storage-1"],
  };
}

function reasonOf(outcome: GuardOutcome): string {
  if (outcome.isPerformed) return "";
  return `${outcome.refusal.reason}: ${outcome.refusal.message}`;
}

test("[S40] an act stands in the ledger from its beginning, and its end is our last write", async () => {
  const door = new Door();
  let during = 0;
  door.during = async () => {
    during = door.database.ledger.entries().length;
    await door.clock.advance(3_000);
  };
  const outcome = await door.perform({
    ...base(),
    type: "killProcesses",
    addresses: ["10.0.1.1:4501"],
    processGroupIds: ["log-1"],
    isUpgrade: false,
  });
  assert.equal(outcome.isPerformed, true);
  assert.equal(during, 1);
  const [entry] = door.database.ledger.entries();
  assert.equal(entry?.beganMs, sampleNowMs);
  assert.equal(entry?.atMs, sampleNowMs + 3_000);
  assert.deepEqual(entry?.zones, []);
  assert.deepEqual([...(entry?.starts ?? [])], [["log-1", sampleNowMs - 3_600_000]]);
  assert.equal(door.database.lastWriteMs, sampleNowMs + 3_000);
});

test("[S161] an act is refused when its resource is gone by the time of carrying it out", async () => {
  const ended: DisruptiveAction = {
    ...base(),
    type: "deletePods",
    because: "terminal",
    pods: [
      {
        basis: { name: "sample-stateless-1", uid: "uid-stateless-1", resourceVersion: "1" },
        processGroupId: "stateless-1",
      },
    ],
  };
  for (const action of [excluding(), ended]) {
    const door = new Door();
    const pod = door.sample.pods.get("sample-stateless-1");
    assert.ok(pod);
    door.sample.pods.set("sample-stateless-1", { ...pod, status: { phase: "Failed" } });
    for (let looks = 0; ; looks += 1) {
      let left = looks;
      const { observe } = door.database;
      const database: GuardedDatabase = {
        ...door.database,
        observe: () => (left-- > 0 ? observe() : undefined),
      };
      const outcome = await door.guard().perform(database, action);
      if (left >= 0) {
        assert.ok(looks >= 2, `${action.type} looks ${looks} times`);
        break;
      }
      assert.equal(reasonOf(outcome), "EvidenceStale: the resource is gone");
      assert.deepEqual(door.commands, []);
    }
  }
});

test("[S90] an exclusion or inclusion that succeeded without effect is a failure", async () => {
  const door = new Door();
  door.isIneffective = true;
  await assert.rejects(door.perform(excluding()), /exclusion of .*storage-1 had no effect/);
  assert.equal(door.database.lastWriteMs, sampleNowMs);
  const other = new Door();
  other.excluded.add(target);
  other.isIneffective = true;
  const including: DisruptiveAction = { ...excluding(), type: "includeProcesses" };
  await assert.rejects(other.perform(including), /inclusion of .*storage-1 had no effect/);
  other.isIneffective = false;
  await other.clock.advance(1_000);
  const again = await other.perform({ ...including, evidenceMs: sampleNowMs + 1_000 });
  assert.equal(again.isPerformed, true);
});

test("[S91] coordinators that are not the ones asked for are a failure", async () => {
  const door = new Door();
  const addresses = ["10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501"];
  door.isIneffective = true;
  const changing: DisruptiveAction = { ...base(), type: "changeCoordinators", addresses };
  await assert.rejects(door.perform(changing), /coordinators are 10\.0\.1\.1:4501/);
  const other = new Door();
  assert.equal((await other.perform(changing)).isPerformed, true);
});

test("[S92] coordinators are changed before the exclusion, in one act", async () => {
  const door = new Door();
  const coordinators = ["10.0.0.2:4501"];
  await door.perform({ ...excluding(), coordinators });
  assert.deepEqual(door.commands, ["coordinators 10.0.0.2:4501", `exclude ${target}`]);
  assert.equal(door.database.ledger.entries().length, 1);
});

test("[S92] whoever restarts for an upgrade clears its announcements first", async () => {
  const door = new Door();
  door.sample.runningVersion = "7.1.57";
  const announced = Buffer.from(keys.pendingUpgrade("7.4.1", "log-1")).toString("latin1");
  door.stored.set(announced, Buffer.from("log-1"));
  let isCleared = false;
  door.during = () => {
    isCleared = !door.stored.has(announced);
  };
  const outcome = await door.perform({
    ...base(true),
    type: "killProcesses",
    addresses: ["10.0.1.1:4501"],
    processGroupIds: ["log-1"],
    isUpgrade: true,
  });
  assert.equal(outcome.isPerformed, true);
  assert.ok(isCleared);
});

test("[S93] one act at a time, also over the resources that share a database", async () => {
  const door = new Door();
  const other = new Door();
  other.peers.push(door.database);
  let seen = ["", ""];
  door.during = async () => {
    seen = [reasonOf(await door.perform(excluding())), reasonOf(await other.perform(excluding()))];
  };
  await door.perform({ ...base(), type: "configureDatabase", arguments: "triple", isNew: false });
  for (const reason of seen) assert.match(reason, /^ActInFlight: another act is under way/);
  assert.deepEqual(other.commands, []);
  other.database.lastWriteMs = 0;
  assert.equal((await other.perform(excluding())).isPerformed, true);
});

const lockKey = Buffer.from(keys.lock()).toString("latin1");

test("[S94] an act that needs the lock takes it, and is refused with owner and end when another has it", async () => {
  const door = new Door();
  assert.equal((await door.perform(excluding(true))).isPerformed, true);
  assert.ok(door.stored.has(lockKey));
  assert.equal(door.database.lease?.owner, "dc1");
  const other = new Door();
  const endSeconds = sampleNowMs / 1000 + 300;
  other.stored.set(lockKey, encodeLock({ owner: "dc2", startSeconds: 1, endSeconds }));
  const reason = reasonOf(await other.perform(excluding(true)));
  assert.match(
    reason,
    /^LockHeld: .*held by "dc2"; unless it is renewed, it is taken over at 2026-01-02T00:10:00Z/,
  );
  assert.deepEqual(other.commands, []);
  other.stages = withoutStage("lock");
  assert.equal((await other.perform(excluding(true))).isPerformed, true);
});

test("[S94] an instance on the deny list is told so", async () => {
  const door = new Door();
  const entry = Buffer.from(keys.denyListEntry("dc1")).toString("latin1");
  door.stored.set(entry, Buffer.from("dc1"));
  assert.match(reasonOf(await door.perform(excluding(true))), /^LockHeld: .*deny list/);
});

test("[S94] after the lock was taken everything is looked at again", async () => {
  const door = new Door();
  const { shared } = door.database;
  const slow: GuardedDatabase = {
    ...door.database,
    shared: () => {
      door.sample.status.cluster?.messages?.push({ name: "status_incomplete" });
      return shared();
    },
  };
  const outcome = await door.guard().perform(slow, excluding(true));
  assert.match(reasonOf(outcome), /^StatusIncomplete/);
  assert.deepEqual(door.commands, []);
});

test("[S99] who did not hold the lock when the status was asked for asks once more", async () => {
  const door = new Door();
  const before = structuredClone(door.sample.status);
  let questions = 0;
  door.during = () => void (questions += 1);
  const poll = (): void => void ([door.polled, door.polledMs] = [before, door.clock.nowMs() - 1]);
  poll();
  // Another instance has taken a zone down since.
  door.sample.status.cluster?.messages?.push({ name: "status_incomplete" });
  assert.match(reasonOf(await door.perform(excluding(true))), /^StatusIncomplete/);
  assert.equal(questions, 1);
  assert.deepEqual(door.commands, []);
  door.sample.status.cluster?.messages?.pop();
  await door.clock.advance(1);
  poll();
  assert.ok((await door.perform(excluding(true))).isPerformed, "it has held the lock since");
  assert.deepEqual([questions, door.commands.length], [2, 1], "one command, no status");
});

test("[S99] a database that does not answer under the lock is left alone", async () => {
  const door = new Door();
  door.polledMs = sampleNowMs - 1;
  door.during = () => Promise.reject(new FdbError(1031, "timed_out (1031)"));
  assert.match(reasonOf(await door.perform(excluding(true))), /^DatabaseUnreachable: .*1031/);
  assert.deepEqual(door.commands, []);
});

test("[S95] no command begins when the lock might run out before it ends", async () => {
  const door = new Door();
  const { shared } = door.database;
  const short: GuardedDatabase = {
    ...door.database,
    shared: () => {
      const found = shared();
      return found && { ...found, settings: { ...found.settings, durationMs: 15_000 } };
    },
  };
  const outcome = await door.guard().perform(short, excluding(true));
  assert.match(reasonOf(outcome), /^LockHeld: .*too short/);
  const late = new Door();
  const coordinators = ["10.0.0.2:4501"];
  late.during = async () => void (await late.clock.advance(585_000));
  await assert.rejects(late.perform({ ...excluding(true), coordinators }), /lock ran out/);
  assert.deepEqual(late.commands, ["coordinators 10.0.0.2:4501"]);
});

test("[RUN20] nothing begins or goes on when the term might end before a command does", async () => {
  const door = new Door();
  door.termMs = 9_999;
  assert.match(reasonOf(await door.perform(excluding(false))), /^NotLeading: another instance/);
  assert.deepEqual(door.commands, []);
  door.termMs = 10_000;
  assert.ok((await door.perform(excluding(false))).isPerformed);
  const late = new Door();
  late.during = () => void (late.termMs = 0);
  const coordinators = ["10.0.0.2:4501"];
  await assert.rejects(late.perform({ ...excluding(true), coordinators }), /or the Lease/);
  assert.deepEqual(late.commands, ["coordinators 10.0.0.2:4501"]);
});

test("[OVER9] nothing begins or goes on when another operator has taken the resource over", async () => {
  const door = new Door();
  door.isTakenOver = true;
  assert.match(reasonOf(await door.perform(excluding(false))), /^NotLeading: another operator/);
  assert.deepEqual(door.commands, []);
  const late = new Door();
  late.during = () => void (late.isTakenOver = true);
  const coordinators = ["10.0.0.2:4501"];
  await assert.rejects(late.perform({ ...excluding(true), coordinators }), /another operator/);
  assert.deepEqual(late.commands, ["coordinators 10.0.0.2:4501"]);
});

test("[RUN21] the guard is idle when the act that is under way has ended", async () => {
  const door = new Door();
  const guard = door.guard();
  await guard.idle();
  let finish = (): void => {};
  door.during = () => new Promise((resolve) => (finish = resolve));
  const history: string[] = [];
  const act = guard.perform(door.database, excluding(false)).then(() => history.push("acted"));
  const idle = guard.idle().then(() => history.push("idle"));
  await door.clock.advance(1_000);
  assert.deepEqual(history, []);
  finish();
  await Promise.all([act, idle]);
  assert.deepEqual(history, ["acted", "idle"]);
});

test("[S7] a waiting exclusion is sent only for what is excluded already", async () => {
  const door = new Door();
  const guard = door.guard();
  await assert.rejects(guard.verifyExclusion(door.database, [target], 1_000), /is not excluded/);
  assert.deepEqual(door.commands, []);
  excludeSample(door.sample, { locality: target });
  await guard.verifyExclusion(door.database, [target], 1_000);
  assert.deepEqual(door.commands, [`exclude ${target} and wait`]);
});

test("[S67] a proof is void when somebody took back the exclusion since the status", async () => {
  const door = new Door();
  emptySampleProcess(door.sample, "storage-1");
  sampleGroup(door.sample, "storage-1").removalTimestamp = "2026-01-01T00:00:00Z";
  const removal: DisruptiveAction = {
    ...base(),
    type: "removeProcessGroups",
    groups: [{ processGroupId: "storage-1", proof: "certificate" }],
  };
  assert.match(
    reasonOf(await door.perform(removal)),
    /^CertificateMissing: .* taken back .*storage-1/,
  );
  door.excluded.add(target);
  assert.equal((await door.perform(removal)).isPerformed, true);
});

function deleting(because: "update" | "terminal" = "update"): DisruptiveAction {
  const basis = { name: "sample-storage-1", uid: "uid-storage-1", resourceVersion: "1" };
  const pods = [{ basis, processGroupId: "storage-1" }];
  return { ...base(), type: "deletePods", because, pods };
}

test("[S107] [S108] what the API server says of a claim counts, also while our copy has lost touch", async () => {
  const door = new Door();
  const { observe } = door.database;
  const database: GuardedDatabase = {
    ...door.database,
    observe: () => {
      const view = observe();
      return view && { ...view, claimsProblem: "the server is away" };
    },
  };
  const name = "sample-storage-1-data";
  const claim = door.claims.get(name);
  assert.ok(claim);
  door.claims.delete(name);
  assert.match(
    reasonOf(await door.guard().perform(database, deleting())),
    /^VolumeAtRisk: the volume claim sample-storage-1-data is gone/,
  );
  door.claims.set(name, claim);
  assert.equal(reasonOf(await door.guard().perform(database, deleting())), "");
});

for (const because of ["update", "terminal"] as const) {
  test(`[S107] the API server is asked for the claims before pods go: ${because}`, async () => {
    const door = new Door();
    sampleGroup(door.sample, "storage-1").volumeClaim = "claim-storage-1";
    const pod = door.sample.pods.get("sample-storage-1");
    if (because === "terminal" && pod !== undefined) pod.status = { phase: "Failed" };
    const name = "sample-storage-1-data";
    const claim = door.claims.get(name) ?? { apiVersion: "v1", kind: "", metadata: {} };
    const deletionTimestamp = "2026-01-02T00:00:00Z";
    door.claims.set(name, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
    assert.match(
      reasonOf(await door.perform(deleting(because))),
      /^VolumeAtRisk: the volume claim sample-storage-1-data is being deleted/,
    );
    door.claims.delete(name);
    assert.match(
      reasonOf(await door.perform(deleting(because))),
      /^VolumeAtRisk: the volume claim sample-storage-1-data is gone/,
    );
    assert.deepEqual(door.commands, []);
    door.claims.set(name, claim);
    assert.equal(reasonOf(await door.perform(deleting(because))), "");
  });
}
