// Checklist: commands to the database and their answers, the lock, errors, and the keys that instances share.
import { strict as assert } from "node:assert";
import { updateSets, readSets, clearInstance } from "../../src/fdb/coordination-sets.ts";
import { FdbError, isFdbError, namedFdbError } from "../../src/fdb/error.ts";
import { readLock, releaseLock, takeLock } from "../../src/fdb/lock.ts";
import { confirmLock, extendLock } from "../fdb/lock-steps.ts";
import { isKubeError, KubeError } from "../../src/kube/error.ts";
import { configureArguments } from "../../src/model/configure-command.ts";
import { desiredConfiguration } from "../../src/model/database-configuration.ts";
import { OperatorMetrics } from "../../src/operate/metrics.ts";
import { startPlain } from "../../src/sim/database/sample-cluster.ts";
import type { Sample } from "../../src/sim/database/sample-cluster.ts";
import { handClock, settingsOf } from "../fdb/keys-case.ts";
import { simulatedTarget } from "../fdb/simulated-target.ts";
import { item, shared } from "./checklist-case.ts";
import { actionsOf, Scene } from "./scene.ts";

async function ready(): Promise<Sample> {
  const sample = await startPlain();
  await sample.pass(40);
  return sample;
}

item("D02.7", async () => {
  const sample = await ready();
  await sample
    .call(sample.admin.exclude(["10.1.0.1"], { wait: true, timeoutMs: 60_000 }))
    .catch((error) => {
      assert.ok(isFdbError(error, 1031));
    });
  const status = await sample.status();
  const process = Object.values(status.cluster?.processes ?? {}).find(
    (each) => each.address === "10.1.0.1:4501",
  );
  assert.equal(process?.excluded, true);
});
item("D02.8", async () => {
  const sample = await ready();
  const startedMs = sample.clock.nowMs();
  await sample.call(sample.admin.exclude(["10.1.0.1"], { wait: false, timeoutMs: 60_000 }));
  assert.ok(sample.clock.nowMs() - startedMs < 10_000);
  assert.deepEqual(await sample.call(sample.admin.excluded(10_000)), ["10.1.0.1"]);
});
item("D02.12", async () => {
  const sample = await ready();
  await sample.call(sample.admin.kill(["10.1.0.1:4501"], 10_000));
  assert.equal(sample.cluster.lastExit("storage-1")?.code, 0);
  await assert.rejects(sample.call(sample.admin.kill(["10.9.9.9:4501"], 10_000)), /not recognized/);
});
item("D02.13", async () => {
  const sample = await ready();
  const status = await sample.status();
  assert.equal(status.cluster?.configuration?.redundancy_mode, "double");
});
item("D02.14", async () => {
  const sample = await ready();
  await sample.call(sample.admin.configure("single", 60_000));
  const status = await sample.status();
  assert.equal(status.cluster?.configuration?.redundancy_mode, "single");
});
item("D02.15", () => {
  for (const letter of [";", "\n", "\r"]) {
    const wanted = { perpetual_storage_wiggle_locality: `a:b${letter}kill` };
    assert.ok(!configureArguments(desiredConfiguration(wanted)).ok);
  }
});
item("D02.16", () => {
  const metrics = new OperatorMetrics();
  const act = { type: "changeCoordinators", step: "changeCoordinators", addresses: [] } as const;
  metrics.actionEnded("default/sample", { ...act, evidenceMs: 1, needsLock: false }, "done");
  const line = metrics.registry
    .text()
    .split("\n")
    .find((each) => each.startsWith("fdb_operator_coordinator_changes_total{"));
  assert.ok(line?.endsWith(" 1"), line);
});
item("D05.1", async () => {
  const sample = await ready();
  const exclude = sample.admin.exclude(["bogus"], { wait: false, timeoutMs: 10_000 });
  await assert.rejects(sample.call(exclude), /'bogus' is neither a valid network endpoint address/);
});
item("D05.2", async () => {
  const sample = await ready();
  const zone = "zone-1";
  await sample.call(sample.admin.setMaintenanceZone(zone, 60, 10_000));
  assert.equal((await sample.status()).cluster?.maintenance_zone, zone);
});

item("D06.1", () => {
  const scene = new Scene({ lockOptions: { disableLocks: true } }).spec({
    databaseConfiguration: { redundancy_mode: "triple" },
  });
  const [act] = actionsOf(scene.decide("updateDatabaseConfiguration"), "configureDatabase");
  assert.equal(act?.needsLock, false);
  const locking = new Scene({ lockOptions: { disableLocks: false } }).spec({
    databaseConfiguration: { redundancy_mode: "triple", logs: 4 },
  });
  const [locked] = actionsOf(locking.decide("updateDatabaseConfiguration"), "configureDatabase");
  assert.equal(locked?.needsLock, true);
});
item("D06.2", async () => {
  const target = await simulatedTarget();
  const clock = handClock();
  const settings = settingsOf("dc1");
  const lease = await target.finish(takeLock(target.shared, settings, clock));
  assert.ok(lease.isHeld);
  assert.equal((await target.finish(readLock(target.partner)))?.owner, "dc1");
  assert.ok(await target.finish(confirmLock(target.shared, lease)));
  clock.set(clock.nowMs() + 60_000);
  const extended = await target.finish(extendLock(target.shared, lease, settings, clock));
  assert.ok(extended.isHeld);
  await target.finish(releaseLock(target.shared, extended));
  assert.equal(await target.finish(readLock(target.partner)), undefined);
  await target.end();
});
item("D06.3", async () => {
  const failure = new FdbError(1031, "timed_out (1031)");
  const admin = { transact: () => Promise.reject(failure) } as never;
  const target = await simulatedTarget();
  const broken = { admin, keys: target.shared.keys };
  const lock = { owner: "dc1", startSeconds: 1, endSeconds: 1 };
  const lease = { ...lock, isHeld: true, untilMs: 1, heldSinceMs: 1 } as const;
  const attempts = [
    takeLock(broken, settingsOf("dc1"), handClock()),
    extendLock(broken, lease, settingsOf("dc1"), handClock()),
    releaseLock(broken, lock),
    readLock(broken),
    confirmLock(broken, lease),
  ];
  for (const attempt of attempts) await assert.rejects(attempt, failure);
  await target.end();
});

const sets = shared(async () => {
  const target = await simulatedTarget();
  const add = { action: "add" } as const;
  const entries = new Map([
    ["dc1-log-1", add],
    ["dc1-log-2", add],
  ] as const);
  await target.finish(updateSets(target.shared, "dc1", { pendingForRestart: entries }));
  await target.finish(
    updateSets(target.shared, "dc2", { pendingForRestart: new Map([["dc2-log-1", add]]) }),
  );
  return target;
});
const restarting = async (): Promise<string[]> => {
  const target = await sets();
  const found = await target.finish(readSets(target.partner, ["pendingForRestart"]));
  return found.pendingForRestart.entries.map((entry) => entry.processGroupId);
};
item("C03.5", async () => {
  assert.deepEqual(await restarting(), ["dc1-log-1", "dc1-log-2", "dc2-log-1"]);
  const target = await sets();
  const gone = new Map([["dc1-log-1", { action: "delete" } as const]]);
  await target.finish(updateSets(target.shared, "dc1", { pendingForRestart: gone }));
  assert.deepEqual(await restarting(), ["dc1-log-2", "dc2-log-1"]);
});
item("C03.6", async () => {
  const target = await sets();
  await target.finish(clearInstance(target.shared, "dc1"));
  assert.deepEqual(await restarting(), ["dc2-log-1"]);
});

item("C06.1", () =>
  assert.ok(isKubeError(new KubeError(0, "NetworkError", "no route"), "NetworkError")),
);
item("C06.2", () => {
  const error = new KubeError(403, "Forbidden", "exceeded quota: pods");
  assert.ok(isKubeError(error, "Forbidden") && !isKubeError(error, "Conflict"));
});
item("C06.3", () => assert.ok(isFdbError(namedFdbError(1031), 1031)));
item("C06.4", () => {
  assert.equal(namedFdbError(2117).message, "special_keys_api_failure (2117)");
  assert.ok(isFdbError(namedFdbError(2117), 2117));
});
item("C06.5", () => {
  const wrapped = new Error("while excluding", { cause: namedFdbError(1031) });
  assert.ok(!isFdbError(wrapped) && isFdbError(wrapped.cause, 1031));
});
item("C09.2", () => {
  const text = new OperatorMetrics().registry.text();
  for (const name of ["fdb_operator_reconciles_total", "fdb_operator_actions_total"]) {
    assert.ok(text.includes(name), name);
  }
});
