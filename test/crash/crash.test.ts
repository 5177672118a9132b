// A sample of the crashes that `npm run crashes` enumerates, and the proof that its comparison notices what is wrong.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bytesOfText, concatBytes } from "../../src/fdb/bytes.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { person } from "../world/removal-harness.ts";
import { TestWorld, tiny } from "../world/world-harness.ts";
import { runScenario } from "./crash-run.ts";
import { crashAt, differencesOf, problemsOf, writesToTry } from "./enumerate.ts";
import { finalState } from "./final-state.ts";
import { scenarios, variant } from "./scenarios.ts";

/** How many writes of a scenario are tried besides the commands to the database. */
const sampledWrites = 3;

/** `npm run crashes` tries all of them. */
const sampled = scenarios.filter(({ name }) => name === "create");

for (const scenario of sampled) {
  test(`[CR1][CR2][CR3][CR4] ${scenario.name}: a crash at a write leads to the same end (long)`, async () => {
    const whole = await runScenario(scenario);
    assert.deepEqual(problemsOf(scenario, whole), []);
    const chosen = writesToTry(whole.writes, Math.ceil(whole.writes.length / sampledWrites));
    assert.ok(chosen.length >= sampledWrites);
    for (const [index, write] of chosen.entries()) {
      const moment = momentOf(index);
      const { name, failure } = await crashAt(scenario, whole, { write, moment });
      assert.equal(failure, undefined, `crash ${moment} write ${write} (${name})`);
    }
  });
}

/** One of the two moments for each: `npm run crashes` has both, for every write. */
function momentOf(index: number): "before" | "after" {
  return index % 2 === 0 ? "before" : "after";
}

test("[CR4] the run without a crash is judged by itself", async () => {
  const [scenario] = sampled;
  assert.ok(scenario !== undefined);
  const { writes, end, ...rest } = await runScenario(scenario);
  const wrong = {
    ...end,
    ...{ isDataLost: true, isRestless: true, restarts: end.restarts + 1, creations: 2 },
    ...{ excluded: ["10.9.9.9"], commandLines: end.commandLines.slice(1) },
  };
  assert.deepEqual(problemsOf(scenario, { ...rest, writes: writes.slice(0, 7), end: wrong }), [
    "7 writes, at least 8 are expected",
    'excluded: ["10.9.9.9"] instead of []',
    "isDataLost: true instead of false",
    "creations: 2 instead of 1",
    "restarts: 1 instead of 0",
    "isRestless: true instead of false",
    "2 command lines, one for each of 3 classes is expected",
  ]);
});

test("[CR5] an incompatible upgrade that died around its restart has one restart and one version (long)", async () => {
  const scenario = scenarios.find(({ name }) => name === "incompatible-upgrade");
  assert.ok(scenario !== undefined);
  const whole = await runScenario(scenario);
  const write = whole.writes.findIndex((name) => name.startsWith("kill ")) + 1;
  assert.ok(write > 0);
  for (const death of [
    { write: write - 1, moment: "after" },
    { write: write + 1, moment: "before" },
  ] as const) {
    const { hasCrashed, end } = await runScenario(scenario, death);
    assert.ok(hasCrashed);
    assert.deepEqual([end.restarts, end.versions, end.runningVersion], [1, ["7.3.63"], "7.3.63"]);
  }
});

test("[CR4][CR5] a pod that the dead operator deleted and did not make anew costs no command to its old process (long)", async () => {
  const upgrade = scenarios.find(({ name }) => name === "incompatible-upgrade");
  assert.ok(upgrade !== undefined);
  const scenario = variant(upgrade, { seed: 7, spec: {} });
  const whole = await runScenario(scenario);
  const isMadeAnew = (name: string, index: number): boolean =>
    name.endsWith("/pods") && (whole.writes[index - 1] ?? "").startsWith("DELETE default/pods");
  const chosen = whole.writes.flatMap((name, index) =>
    isMadeAnew(name, index) ? [index + 1] : [],
  );
  assert.ok(chosen.length >= 2);
  for (const write of chosen) {
    const { failure } = await crashAt(scenario, whole, { write, moment: "before" });
    assert.equal(failure, undefined, `crash before write ${write}`);
  }
});

test("[CR7] a crash around a command or the map of times of a backup begins nothing twice (long)", async () => {
  const scenario = scenarios.find(({ name }) => name === "backup");
  assert.ok(scenario !== undefined);
  const whole = await runScenario(scenario);
  assert.deepEqual(whole.end.commands, ["describe", "start"]);
  const isChosen = (name: string): boolean => /^POST .*\/(pods|configmaps)$/.test(name);
  const chosen = whole.writes.flatMap((name, index) => (isChosen(name) ? [index + 1] : []));
  assert.equal(chosen.length, 3);
  for (const write of chosen) {
    for (const moment of ["before", "after"] as const) {
      const { name, failure } = await crashAt(scenario, whole, { write, moment });
      assert.equal(failure, undefined, `crash ${moment} write ${write} (${name})`);
    }
  }
});

test("[CR8][RS63] a crash around a command, the agents or the finalizer of a restore begins nothing twice (long)", async () => {
  const scenario = scenarios.find(({ name }) => name === "restore");
  assert.ok(scenario !== undefined);
  const whole = await runScenario(scenario);
  assert.deepEqual(whole.end.commands, ["describe", "describe", "start"]);
  assert.deepEqual(whole.end.restores.slice(1), ["old/k/1=one", "old/k/2=two"]);
  const isChosen = (name: string): boolean =>
    /^(POST|DELETE|PATCH) /.test(name) && !/^DELETE .*\/pods\//.test(name);
  const chosen = whole.writes.flatMap((name, index) => (isChosen(name) ? [index + 1] : []));
  assert.ok(chosen.length >= 6, whole.writes.join());
  for (const [index, write] of chosen.entries()) {
    const moment = momentOf(index);
    const { name, failure } = await crashAt(scenario, whole, { write, moment });
    assert.equal(failure, undefined, `crash ${moment} write ${write} (${name})`);
  }
});

test("[CR9] a crash around the cluster, the restore and the verdict of a drill leads to the same end (long)", async () => {
  const scenario = scenarios.find(({ name }) => name === "drill");
  assert.ok(scenario !== undefined);
  const whole = await runScenario(scenario);
  assert.deepEqual(whole.end.commands, ["describe", "start"]);
  assert.deepEqual(whole.end.objects["foundationdbclusters"], 1);
  assert.match(whole.end.backups[0] ?? "", /"Passed"/);
  const isChosen = (name: string): boolean => /^(POST|DELETE) .*\/foundationdb/.test(name);
  const chosen = whole.writes.flatMap((name, index) => (isChosen(name) ? [index + 1] : []));
  assert.equal(chosen.length, 4, whole.writes.join());
  for (const [index, write] of chosen.entries()) {
    // One of the two moments for each, as for restores.
    const moment = index % 2 === 0 ? "after" : "before";
    const { name, failure } = await crashAt(scenario, whole, { write, moment });
    assert.equal(failure, undefined, `crash ${moment} write ${write} (${name})`);
  }
});

test("[CR6] the comparison notices what is left over and what differs (long)", async () => {
  await TestWorld.runWithCluster({ nodes: 3, spec: tiny }, async (world) => {
    const before = await finalState(world);
    await world.during(world.world.stopOperator(), 60_000, "the operator stops");
    await person(world, async (client) => {
      await client.exclude(["10.9.9.9"], { wait: false, timeoutMs: 10_000 });
      const key = concatBytes(operatorKeys().prefix, bytesOfText("/readyForRestart/storage-1"));
      await client.transact(async (transaction) => transaction.set(key, new Uint8Array(1)), {
        timeoutMs: 10_000,
        accessSystemKeys: true,
      });
    });
    const stray = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "stray", namespace: "default" },
    };
    await world.client.create(configMaps, stray);
    const after = await finalState(world);
    const rest = {
      creations: 1,
      restarts: 0,
      commands: [],
      isStallTooLong: false,
      isRestless: false,
    };
    const expected = { ...before, ...rest };
    const fields = (other: typeof expected): string[] =>
      differencesOf(expected, other).map((line) => line.split(":")[0] ?? "");
    assert.deepEqual(fields(expected), []);
    assert.deepEqual(fields({ ...after, ...rest }), ["excluded", "operatorKeys", "objects"]);
    const commandLines = before.commandLines.map((line) => `${line} --knob_other=1`);
    const classes = { ...before.classes, storage: 2 };
    const other = { ...expected, commandLines, classes, restarts: 1, creations: 2 };
    assert.deepEqual(fields(other), ["classes", "commandLines", "creations", "restarts"]);
  });
});
