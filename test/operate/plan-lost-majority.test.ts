// Coordinators that ran ahead of an incompatible upgrade while others are lost, on plain objects. Rules: spec/upgrade.md [U96].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  formatConnectionString,
  parseConnectionString,
} from "../../src/model/connection-string.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { DatabaseObservation } from "../../src/plan/snapshot.ts";
import { UpgradeWorld, newVersion } from "./upgrade-world.ts";

const protocols = {
  ahead: "0fdb00b073000000",
  overtaken: "0fdb00b072000000",
  behind: "0fdb00b071010000",
  slow: "0fdb00b071010000",
} as const;
type Coordinator = keyof typeof protocols | "gone";

/** A status without a cluster controller: only what the coordinators said. Three are pods of this resource. */
function silent(world: UpgradeWorld, found: readonly Coordinator[]): DatabaseObservation {
  const groups = (world.cluster.status?.processGroups ?? []).filter(
    ({ processClass }) => processClass !== "stateless",
  );
  const addresses = groups.slice(0, 3).map(({ addresses: [host = ""] = [] }) => `${host}:4501`);
  const coordinators = found.map((state, index) => ({
    address: addresses[index] ?? `10.77.0.${index}:4501`,
    reachable: state === "behind",
    ...(state === "gone" ? {} : { protocol: protocols[state] }),
  }));
  const known = parseConnectionString(world.cluster.status?.connectionString ?? "");
  assert.ok(known.ok);
  const text = formatConnectionString({ ...known.value, coordinators: addresses });
  world.cluster = { ...world.cluster, status: { ...world.cluster.status, connectionString: text } };
  const status = {
    client: {
      coordinators: { coordinators, quorum_reachable: false },
      database_status: { available: false, healthy: false },
    },
    cluster: {},
  };
  return { kind: "seen", observedMs: world.nowMs, status };
}

function toldBy({ waits }: Plan): string {
  const wait = waits.find(({ step }) => step === "bounceProcesses");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message} ${wait.remedy}`;
}

function prepared(): UpgradeWorld {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  world.kills.length = 0;
  return world;
}

const own = "sample-\\w+-\\d+";
const cases: readonly [found: readonly Coordinator[], restarted: string | undefined][] = [
  [["ahead", "gone", "behind"], own],
  [["ahead", "gone", "slow"], own],
  [["overtaken", "gone", "behind"], `${own} and ${own}`],
  [["ahead", "gone", "overtaken"], own],
  [["ahead", "gone", "gone"], undefined],
  [["ahead", "ahead", "gone"], undefined],
  [["gone", "gone", "behind"], undefined],
  [["slow", "gone", "behind"], undefined],
  [["ahead", "gone", "behind", "gone", "behind"], `${own} and 10\\.77\\.0\\.4:4501`],
  [["ahead", "gone", "behind", "gone", "gone"], undefined],
];
for (const [found, restarted] of cases) {
  const what = restarted === undefined ? "no restart is asked for" : "some are to be restarted";
  test(`[U96] coordinators that are ${found.join(", ")}: ${what}`, () => {
    const world = prepared();
    const plan = world.plan({ database: silent(world, found) });
    assert.deepEqual(
      plan.actions.filter(({ type }) => type === "killProcesses"),
      [],
    );
    const told = toldBy(plan);
    assert.equal(told.includes("run the new version already"), restarted !== undefined, told);
    if (restarted === undefined) return;
    assert.match(told, /^DatabaseUnavailable: .*It may need \w+-\d+.*, which run the new version/);
    assert.match(told, new RegExp(`pkill fdbserver\` for each of ${restarted}\\. `));
  });
}

test("[U96] an upgrade that clients hold stays held", () => {
  const world = prepared();
  const database = silent(world, ["ahead", "gone", "behind"]);
  const plan = world.plan({ database, facts: { clientsIncompatible: world.nowMs - 1_000 } });
  assert.equal(toldBy(plan), "");
  assert.match(plan.status.observedSince?.clientsIncompatible ?? "", /^\d{4}-/);
});

test("[U96] a version that was taken back and is wished for again is announced first", () => {
  const world = prepared();
  const { spec, status } = world.cluster;
  assert.ok(status && world.configMap?.data);
  const data = Object.entries(world.configMap.data).map(([key, text]) => [
    key,
    text.replaceAll(newVersion, "7.1.57"),
  ]);
  world.configMap = { ...world.configMap, data: Object.fromEntries(data) };
  const database = silent(world, ["ahead", "gone", "behind"]);
  const plan = world.plan({ database });
  assert.equal(spec.version, newVersion);
  assert.match(toldBy(plan), /^UpgradeStaging: .*Not prepared yet: the ConfigMap/);
  assert.ok(plan.actions.some(({ type }) => type === "updateConfigMap"));
});
