// What a person does for a cluster that does not come to rest. Rules: spec/world.md [W123].
import assert from "node:assert/strict";
import { test } from "node:test";
import { namedFdbError } from "../../fdb/error.ts";
import { followRemedies } from "./helpful-person.ts";
import type { LifeScene } from "./life-scene.ts";

interface Wait {
  reason: string;
  message: string;
  remedy?: string;
}

/** All that was done for a cluster that waits for this. */
async function actsFor(wait: Wait, kill = async (): Promise<void> => {}): Promise<string[]> {
  const acts: string[] = [];
  const processes = [{ address: "10.1.0.1:4501:tls" }, {}, { address: "10.1.0.2:4501" }];
  const life = {
    shape: { members: [{ name: "life" }] },
    layoutOnDisks: { imageType: "split", storageServersPerPod: 2, logServersPerPod: 1 },
    cluster: async () => ({ status: { blockedBy: [wait] } }),
    world: {
      client: {
        list: async () => ({ items: [{ metadata: { name: "life-log-7-data", namespace: "n" } }] }),
        patch: async (_: unknown, key: { name: string }, body: object) =>
          void acts.push(`${key.name} ${JSON.stringify(body)}`),
      },
      pods: {
        run: async ({ pod, command }: { pod: string; command: string[] }) =>
          void acts.push(`${pod} ${command.join(" ")}`),
      },
      fdb: { truth: { databases: () => [{ isConfigured: true, connectionString: "a:b@c:1" }] } },
    },
    watchman: { noteDisturbance: () => acts.push("disturbance") },
    note: () => {},
    patch: async (name: string, spec: object) => void acts.push(`${name} ${JSON.stringify(spec)}`),
    during: (promise: Promise<unknown>) => promise,
    openAdmin: async () => ({
      status: async () => ({ cluster: { processes } }),
      kill: async (addresses: readonly string[]) => {
        await kill();
        acts.push(`kill ${addresses.join(" ")}`);
      },
      close: () => acts.push("close"),
    }),
  };
  await followRemedies(life as unknown as LifeScene);
  return acts;
}

test("[W123] a lost connection string is told", async () => {
  const acts = await actsFor({ reason: "ConnectionStringLost", message: "It is lost" });
  assert.deepEqual(acts, ['life {"seedConnectionString":"a:b@c:1"}']);
});

test("[W123] the connection string about which volumes disagree is told", async () => {
  const wait = { reason: "AdoptionRefused", message: "The volumes disagree" };
  const remedy = "Find out which one is right, and put it into spec.seedConnectionString";
  assert.deepEqual(await actsFor({ ...wait, remedy }), ['life {"seedConnectionString":"a:b@c:1"}']);
  assert.deepEqual(await actsFor({ ...wait, remedy: "Make the selector narrower" }), []);
});

test("[W123] data that is looked for in the wrong place is looked for where it was written", async () => {
  const wait = { reason: "DatabaseNotReady", message: "No database has been created" };
  const acts = await actsFor({ ...wait, remedy: "Set spec.imageType, and more" });
  const layout = '{"imageType":"split","storageServersPerPod":2,"logServersPerPod":1}';
  assert.deepEqual(acts, [`life ${layout}`]);
  const refused = { reason: "AdoptionRefused", message: "Another prefix" };
  for (const remedy of ["Set spec.processGroupIDPrefix to x", "Take spec.processGroupIDPrefix"]) {
    assert.deepEqual(await actsFor({ ...refused, remedy }), [`life ${layout}`]);
  }
  assert.deepEqual(await actsFor({ ...refused, remedy: "Make the selector narrower" }), []);
  assert.deepEqual(await actsFor(wait), []);
});

test("[W123] labels of volume claims that somebody spoilt are corrected", async () => {
  const message =
    "Of 8 volume claims some are not of this cluster: life-log-7-data: processes of class x keep no data";
  const [act = "", ...others] = await actsFor({ reason: "AdoptionRefused", message });
  assert.match(act, /^life-log-7-data .*fdb-process-group-id":"log-7",.*-class":"log"/);
  assert.deepEqual(others, []);
});

test("[W123] what ran ahead of a database that needs it is followed by the others", async () => {
  const message = "It may need log-1, which run the new version already";
  const wait = { reason: "DatabaseUnavailable", message };
  const acts = await actsFor(wait);
  assert.deepEqual(acts, ["disturbance", "kill 10.1.0.1:4501 10.1.0.2:4501", "close"]);
  const refused = await actsFor(wait, () => Promise.reject(namedFdbError(1031)));
  assert.deepEqual(refused, ["disturbance", "close"], "it is tried again at the next look");
});

test("[W123] where no majority of the coordinators is left, those that the remedy names are restarted in their pods", async () => {
  const message = "It may need log-1, which run the new version already";
  const remedy =
    "Run `kubectl exec POD -c foundationdb -- pkill fdbserver` for each of life-log-2, life-log-3 and 10.1.0.9:4501. Then more.";
  const acts = await actsFor({ reason: "DatabaseUnavailable", message, remedy });
  assert.deepEqual(acts, [
    "disturbance",
    "life-log-2 pkill fdbserver",
    "life-log-3 pkill fdbserver",
  ]);
});

test("[W123] where too few fault domains let no storage server change its engine, they are replaced", async () => {
  const reason = "StorageEngineMigrationStuck";
  const message = "servers are in 3 fault domains, and 3 copies of the data need all of them";
  const acts = await actsFor({ reason, message });
  assert.deepEqual(acts, ['life {"automationOptions":{"storageEngineChange":"Replace"}}']);
  assert.deepEqual(await actsFor({ reason, message: "nothing has moved since noon" }), []);
});

test("[W123] a change of the storage engine that is paused goes on", async () => {
  const acts = await actsFor({
    reason: "StorageEngineMigrationPaused",
    message: "None is being changed: perpetual_storage_wiggle is 0",
  });
  const wish = { storage_migration_type: "gradual", perpetual_storage_wiggle: 1 };
  assert.deepEqual(acts, [`life ${JSON.stringify({ databaseConfiguration: wish })}`]);
});

test("[W123] nothing is done that no wait asks a person for", async () => {
  assert.deepEqual(await actsFor({ reason: "PodPending", message: "A pod is starting" }), []);
});
