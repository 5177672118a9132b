// Performing actions and the guard's door, against the emulated API server.
import { ServerClock } from "../../src/kube/server-clock.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { sharedStages } from "../../src/operate/shared-stages.ts";
import { safetyChecks } from "../../src/plan/safety/checks.ts";
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import { createApiServer } from "../../src/emulator/api-server.ts";
import { silentLog } from "../../src/env/log.ts";
import { seededRandom } from "../../src/env/random.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { ConfigMap, Pod } from "../../src/kube/generated/types.ts";
import {
  configMaps,
  customResourceDefinitions as definitions,
  pods,
} from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { makeCaches } from "../../src/operate/caches.ts";
import { Doubts } from "../../src/operate/doubts.ts";
import { Guard } from "../../src/operate/guard.ts";
import type { GuardedDatabase } from "../../src/operate/guard.ts";
import { Ledger } from "../../src/operate/ledger.ts";
import type { LedgerRecord } from "../../src/operate/ledger.ts";
import { carryOutFirst, performActions } from "../../src/operate/perform.ts";
import type { ActionOutcome } from "../../src/operate/perform.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { Action } from "../../src/plan/action.ts";
import type { SafetyView } from "../../src/plan/safety/view.ts";
import { defaultPlanOptions, nothingRemembered } from "../../src/plan/snapshot.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

class Bench {
  readonly clock = new VirtualClock();
  readonly client: KubeClient;
  readonly commands: string[] = [];
  readonly requests: string[] = [];
  readonly database: GuardedDatabase;
  failsToConfigure = false;
  /** When the newest status was asked for; now when absent. */
  statusMs: number | undefined;
  /** Of two clusters: ours, and a foreign one. */
  ownerUids: readonly string[] = [];
  readonly #end = new AbortController();
  readonly #caches;
  readonly #server;

  constructor() {
    const { clock } = this;
    const random = seededRandom(1);
    this.#server = createApiServer({ clock, random });
    this.client = new KubeClient(this.#server.transport("operator"), {
      userAgent: "operator",
      onRequest: ({ verb, resource, name }) => {
        if (verb !== "watch" && verb !== "list")
          this.requests.push(`${verb} ${resource.plural} ${name}`);
      },
    });
    this.#caches = makeCaches({ client: this.client, clock, random, log: silentLog });
    const admin: Partial<AdminClient> = {
      configure: async (text) => {
        await Promise.resolve();
        this.commands.push(text);
        if (this.failsToConfigure) throw new Error("timed out");
      },
    };
    this.database = {
      namespace: "default",
      admin: admin as AdminClient,
      lastWriteMs: 0,
      ledger: new Ledger(clock),
      doubts: new Doubts(),
      isActing: false,
      lease: undefined,
      observe: () => this.#view(),
      noteStatus: () => {},
      peers: () => [],
      shared: () => undefined,
    };
  }

  /** A healthy database, as of now. */
  #view(): SafetyView {
    const { clock, database } = this;
    const names = this.#caches.pods.list().map((pod) => [pod.metadata.name ?? "", pod] as const);
    const nowMs = clock.nowMs();
    return {
      ...nothingRemembered,
      nowMs,
      cluster: {
        apiVersion,
        kind: "FoundationDBCluster",
        metadata: {},
        spec: { version: "7.3.79" },
      },
      pods: new Map(names),
      pvcs: new Map(),
      database: { kind: "seen", status: healthyStatus(), observedMs: this.statusMs ?? nowMs },
      lastDatabaseWriteMs: database.lastWriteMs,
      options: defaultPlanOptions,
      checks: safetyChecks,
      memory: new PlanMemory(),
    };
  }

  async open(): Promise<this> {
    for (const definition of customResourceDefinitions) {
      await this.client.create(definitions, definition);
    }
    this.ownerUids = [await this.#createCluster("sample"), await this.#createCluster("foreign")];
    for (const cache of Object.values(this.#caches)) void cache.start(this.#end.signal);
    await this.clock.advance(1_000);
    this.requests.length = 0;
    return this;
  }

  async #createCluster(name: string): Promise<string> {
    const cluster = await this.client.create(foundationDbClusters, {
      apiVersion,
      kind: "FoundationDBCluster",
      metadata: { name, namespace: "default" },
      spec: { version: "7.3.79" },
    });
    return cluster.metadata.uid ?? "";
  }

  /** The garbage collector takes pods without a living owner, so they have one. */
  pod(name: string, owner = 0): Stored<Pod> {
    const uid = this.ownerUids[owner] ?? "";
    const ownerName = owner === 0 ? "sample" : "foreign";
    const reference = { apiVersion, kind: "FoundationDBCluster", name: ownerName, uid };
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", ownerReferences: [reference] },
      spec: { containers: [{ name: "main", image: "image" }] },
    };
  }

  createPod(name: string): Action {
    return { type: "createPod", step: "addPods", object: this.pod(name), processGroupId: name };
  }

  perform(...actions: Action[]): Promise<ActionOutcome[]> {
    const { client, clock } = this;
    const caches = this.#caches;
    const guard = new Guard({
      client,
      caches,
      clock,
      serverClock: new ServerClock(),
      commandTimeoutMs: 10_000,
      statusTimeoutMs: 10_000,
      stages: sharedStages,
    });
    const network = { request: () => Promise.resolve({ status: 500, body: "" }) };
    const options = { client, caches, guard, network, parallelMax: 2, sidecarTimeoutMs: 1_000 };
    const ownerUid = this.ownerUids[0] ?? "";
    const target = { ownerUid, clusterName: "sample", database: this.database };
    return performActions(options, target, actions);
  }

  cachedPod(name: string): Stored<Pod> | undefined {
    return this.#caches.pods.get({ namespace: "default", name });
  }

  /** The copies hear nothing more from the server. */
  stopWatching(): void {
    this.#end.abort();
  }

  close(): void {
    this.#end.abort();
    this.#server.stop();
  }
}

function basisOf(object: Stored<Pod>): { name: string; uid: string; resourceVersion: string } {
  const { name = "", uid = "", resourceVersion = "" } = object.metadata;
  return { name, uid, resourceVersion };
}

function healthyStatus(): DatabaseStatus {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, "../data/fdb/status/03-healthy-double.json"), "utf8"),
  ) as DatabaseStatus;
}

function reasonOf(outcome: ActionOutcome | undefined): string {
  if (outcome?.kind !== "refused") return "";
  return `${outcome.refusal.reason}: ${outcome.refusal.message}`;
}

test("[OP25] writes follow the order of the plan", async () => {
  const bench = await new Bench().open();
  const configMap: Stored<ConfigMap> = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "default" },
  };
  const outcomes = await bench.perform(
    { type: "createConfigMap", step: "updateConfigMap", object: configMap },
    bench.createPod("a"),
    bench.createPod("b"),
    bench.createPod("c"),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind),
    ["done", "done", "done", "done"],
  );
  assert.deepEqual(bench.requests, [
    "create configmaps c",
    "create pods a",
    "create pods b",
    "create pods c",
  ]);
  bench.close();
});

test("[OP29] what was written is in the local copy before the watch tells of it", async () => {
  const bench = await new Bench().open();
  await bench.perform(bench.createPod("a"));
  assert.equal(bench.cachedPod("a")?.metadata.name, "a");
  bench.close();
});

test("[OP26] an object that exists already counts as created when it is ours", async () => {
  const bench = await new Bench().open();
  await bench.client.create(pods, bench.pod("ours"));
  await bench.client.create(pods, bench.pod("foreign", 1));
  const [ours, foreign] = await bench.perform(bench.createPod("ours"), bench.createPod("foreign"));
  assert.equal(ours?.kind, "done");
  assert.equal(foreign?.kind, "failed");
  assert.match(foreign?.kind === "failed" ? foreign.message : "", /already exists/);
  bench.close();
});

test("[OP27] a conflict is stale, not failed", async () => {
  const bench = await new Bench().open();
  const object: Stored<ConfigMap> = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "default" },
    data: { a: "1" },
  };
  const stored = await bench.client.create(configMaps, object);
  await bench.client.update(configMaps, { ...stored, data: { a: "2" } });
  const basis = { name: "c", uid: stored.metadata.uid ?? "", resourceVersion: "" };
  const [outcome] = await bench.perform({
    type: "updateConfigMap",
    step: "updateConfigMap",
    object: { ...stored, data: { a: "3" } },
    basis,
  });
  assert.equal(outcome?.kind, "stale");
  bench.close();
});

test("[OP27] an object to be changed that is gone is stale, not failed", async () => {
  const bench = await new Bench().open();
  const stored = await bench.client.create(pods, bench.pod("a"));
  await bench.client.delete(pods, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
  const [outcome] = await bench.perform({
    type: "patchPod",
    step: "x",
    basis: basisOf(stored),
    patch: { annotations: { told: "yes" } },
    processGroupId: "a",
  });
  assert.equal(outcome?.kind, "stale");
  bench.close();
});

test("[OP75] a pod that is gone when we delete it is gone in the local copy at once", async () => {
  const bench = await new Bench().open();
  const ended = await endedPod(bench, "Failed");
  bench.stopWatching();
  await bench.client.delete(pods, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
  assert.notEqual(bench.cachedPod("a"), undefined);
  const [outcome] = await bench.perform(deleting(ended));
  assert.equal(outcome?.kind, "done");
  assert.equal(bench.cachedPod("a"), undefined);
  bench.close();
});

test("[OP28] a failure ends its kind and leaves the rest of the plan alone", async () => {
  const bench = await new Bench().open();
  const broken = bench.createPod("Not A Name");
  const outcomes = await bench.perform(bench.createPod("a"), broken, bench.createPod("b"), {
    type: "createConfigMap",
    step: "x",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } },
  });
  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind),
    ["done", "failed", "done"],
  );
  assert.deepEqual(bench.requests, [
    "create pods a",
    "create pods Not A Name",
    "create configmaps c",
  ]);
  bench.close();
});

test("[OP30] a patch never hits a successor of the same name", async () => {
  const bench = await new Bench().open();
  const stored = await bench.client.create(pods, bench.pod("a"));
  const patch = { annotations: { told: "yes" } };
  const action: Action = {
    type: "patchPod",
    step: "x",
    basis: basisOf(stored),
    patch,
    processGroupId: "a",
  };
  const [first] = await bench.perform(action);
  assert.equal(first?.kind, "done");
  await bench.client.delete(pods, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
  await bench.client.create(pods, bench.pod("a"));
  const [second] = await bench.perform(action);
  assert.notEqual(second?.kind, "done");
  const successor = await bench.client.get(pods, { namespace: "default", name: "a" });
  assert.equal(successor.metadata.annotations, undefined);
  bench.close();
});

async function endedPod(bench: Bench, phase: string): Promise<Stored<Pod>> {
  const stored = await bench.client.create(pods, bench.pod("a"));
  const ended = await bench.client.updateStatus(pods, { ...stored, status: { phase } });
  await bench.clock.advance(100);
  return ended;
}

const deleting = (object: Stored<Pod>): Action => ({
  type: "deletePods",
  step: "deleteTerminalPods",
  pods: [{ basis: basisOf(object), processGroupId: "a" }],
  because: "terminal",
  evidenceMs: 0,
  needsLock: false,
});

test("[OP21] a terminal pod is deleted", async () => {
  const bench = await new Bench().open();
  const [outcome] = await bench.perform(deleting(await endedPod(bench, "Failed")));
  assert.equal(outcome?.kind, "done");
  await bench.clock.advance(100);
  assert.equal(await bench.client.find(pods, { namespace: "default", name: "a" }), undefined);
  assert.equal(bench.cachedPod("a"), undefined);
  bench.close();
});

test("[OP21] a pod that runs, another one or one that changed is not deleted", async () => {
  const bench = await new Bench().open();
  const running = await endedPod(bench, "Running");
  const [refused] = await bench.perform(deleting(running));
  assert.deepEqual(reasonOf(refused), "EvidenceStale: the pod has not ended");
  const other = { ...running, metadata: { ...running.metadata, uid: "other" } };
  const [another] = await bench.perform(deleting(other));
  assert.deepEqual(reasonOf(another), "EvidenceStale: the pod is another one");
  const failed = await bench.client.updateStatus(pods, { ...running, status: { phase: "Failed" } });
  await bench.client.updateStatus(pods, {
    ...failed,
    status: { phase: "Failed", message: "again" },
  });
  await bench.clock.advance(100);
  const [stale] = await bench.perform(deleting(failed));
  assert.equal(stale?.kind, "stale");
  bench.close();
});

const configuring = (evidenceMs: number): Action => ({
  type: "configureDatabase",
  step: "updateDatabaseConfiguration",
  arguments: "double",
  isNew: false,
  evidenceMs,
  needsLock: false,
});

test("[OP22] a configuration needs a status newer than our own last change and not too old", async () => {
  const bench = await new Bench().open();
  const nowMs = bench.clock.nowMs();
  const [done] = await bench.perform(configuring(nowMs));
  assert.equal(done?.kind, "done");
  const [again] = await bench.perform(configuring(nowMs));
  assert.match(reasonOf(again), /older than our own last act/);
  await bench.clock.advance(120_000);
  const [old] = await bench.perform(configuring(nowMs + 1));
  assert.match(reasonOf(old), /more than 60 seconds old/);
  assert.deepEqual(bench.commands, ["double"]);
  bench.close();
});

test("[OP23] a command that failed counts as a change", async () => {
  const bench = await new Bench().open();
  bench.failsToConfigure = true;
  const nowMs = bench.clock.nowMs();
  const [failed] = await bench.perform(configuring(nowMs));
  assert.equal(failed?.kind, "failed");
  assert.equal(bench.database.lastWriteMs, nowMs);
  const [refused] = await bench.perform(configuring(nowMs));
  assert.equal(refused?.kind, "refused");
  bench.close();
});

test("[S121] why a command failed stands in the ledger until a status shows what came of it", async () => {
  const bench = await new Bench().open();
  const { ledger } = bench.database;
  const records: LedgerRecord[] = [];
  const begin = ledger.begin.bind(ledger);
  ledger.begin = (...input) => {
    const record = begin(...input);
    records.push(record);
    return record;
  };
  bench.failsToConfigure = true;
  await bench.perform(configuring(bench.clock.nowMs()));
  assert.deepEqual(
    records.map(({ problem }) => problem),
    ["timed out"],
  );
  bench.close();
});

test("[S97] a command that is refused does not hold up those after it, one that is carried out does", async () => {
  const tried: string[] = [];
  const attempt =
    (results: Readonly<Record<string, ActionOutcome["kind"]>>) =>
    async (action: Action): Promise<ActionOutcome | undefined> => {
      await Promise.resolve();
      tried.push(action.step);
      const kind = results[action.step] ?? "done";
      if (kind === "refused") {
        return { kind, action, refusal: { reason: "LockHeld", message: "by another" } };
      }
      return kind === "failed" ? { kind, action, message: "no" } : { kind, action };
    };
  const commands = ["a", "b", "c"].map((step) => ({ ...configuring(0), step }));
  assert.equal(await carryOutFirst(commands, attempt({ a: "refused", b: "failed" })), true);
  assert.deepEqual(tried.splice(0), ["a", "b"]);
  const none = attempt({ a: "refused", b: "refused", c: "refused" });
  assert.equal(await carryOutFirst(commands, none), false);
  assert.deepEqual(tried.splice(0), ["a", "b", "c"]);
});

test("[OP20] disruptive effects are imported by the guard alone, and nothing else deletes or commands", () => {
  const root = join(import.meta.dirname, "../../src");
  // The client process of a database carries out what it is told: who tells it is what counts.
  const files = globSync("{plan,operate,build,api,model,cli,fdb}/**/*.ts", { cwd: root }).filter(
    (file) => !file.endsWith(".test.ts") && !file.startsWith("fdb/client/"),
  );
  const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
  const importers = files.filter((file) => textOf(file).includes('/disruptive-effects.ts"'));
  assert.deepEqual(importers, ["operate/guard.ts"]);
  const guards = files.filter((file) => /new Guard\(/.test(textOf(file)));
  assert.deepEqual(guards, ["operate/reconcile-options.ts"]);
  const commands =
    "configure|exclude|include|kill|changeCoordinators|setMaintenanceZone|resetMaintenanceZone|evictPod";
  // The client of a real database is what carries commands out, on the far side of the guard; the fence passes on what
  // it is given while the operator leads, and the look at statuses passes on everything else.
  const passers = new Set(["operate/fence.ts", "fdb/readable-status.ts"]);
  const callers = files
    .filter((file) => !file.startsWith("fdb/client/") && !passers.has(file))
    .filter((file) => new RegExp(`[^.]\\.(${commands})\\(`).test(textOf(file)));
  assert.deepEqual(callers, ["operate/disruptive-effects.ts"]);
  // Beside the guard only the headless service, which no process needs, and the budget for evictions are deleted, and agents
  // and commands of backups.
  const withDelete = files.filter((file) => textOf(file).includes("client.delete("));
  assert.deepEqual(withDelete, ["operate/delete-exactly.ts"]);
  const deleters = files.flatMap((file) =>
    [...textOf(file).matchAll(/deleteExactly\((?:tools|deleting), ([a-zA-Z]+)/g)].map(
      ([, what]) => `${file}: ${what}`,
    ),
  );
  const users = files.filter((file) => textOf(file).includes('/delete-exactly.ts"'));
  assert.deepEqual(users.toSorted(), [
    "operate/backup/write-action.ts",
    "operate/disruptive-effects.ts",
    "operate/perform.ts",
    "operate/write-budget.ts",
    "operate/write-network-policy.ts",
  ]);
  assert.deepEqual(
    deleters.filter((deleter) => deleter.startsWith("operate/perform.ts")),
    ["operate/perform.ts: services"],
  );
  assert.deepEqual(
    deleters.filter((deleter) => deleter.startsWith("operate/write-budget.ts")),
    ["operate/write-budget.ts: podDisruptionBudgets"],
  );
});
