// Replacement buckets in the plan of a cluster: every trigger, what is said, and what is measured.
// Rules: spec/buckets.md [BKT7]-[BKT9], [BKT12]-[BKT18].
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { validateDocument } from "../../src/api/validate-document.ts";
import { MetricsRegistry } from "../../src/env/metrics.ts";
import { registerClusterMetrics } from "../../src/operate/metrics-cluster.ts";
import { exampleCluster, exampleText } from "../world/example.ts";
import { runCommand } from "../cli/run-command.ts";
import { locality, removalIds, RemovalWorld, waitOf } from "./removal-world.ts";

type Replacements = NonNullable<ClusterSpec["automationOptions"]>["replacements"];

const long = 7201;
const buckets = { replacementBucket: { enabled: true } };
const processCounts = { storage: 5, log: 4, stateless: 3 };
const taintReplacementOptions = [{ key: "example.org/bad", durationInSeconds: 5 }];

function settled(replacements: Replacements = buckets): RemovalWorld {
  return RemovalWorld.settled({ processCounts, automationOptions: { replacements } });
}

function lose(world: RemovalWorld, id: string): void {
  world.silent.add(id);
  world.condition(id, "MissingProcesses", long);
}

function crashLoop(world: RemovalWorld, id: string): void {
  const pod = world.pods.get(world.podNameOf(id));
  assert.ok(pod?.status !== undefined);
  const containerStatuses = (pod.status.containerStatuses ?? []).map((status) => ({
    ...status,
    ready: false,
    state: { waiting: { reason: "CrashLoopBackOff" } },
  }));
  world.changeObject(world.pods, world.podNameOf(id), {
    status: { ...pod.status, containerStatuses },
  });
  world.condition(id, "PodFailing", long);
}

function taint(world: RemovalWorld, id: string): void {
  const name = world.pods.get(world.podNameOf(id))?.spec?.nodeName ?? "";
  world.nodes.set(name, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { taints: [{ key: "example.org/bad", effect: "NoSchedule" }] },
  });
  world.condition(id, "NodeTaintDetected", long);
  world.condition(id, "NodeTaintReplacing", long);
}

const triggers: readonly [string, (world: RemovalWorld, id: string) => void][] = [
  ["a process that is missing", lose],
  ["a pod that crashes again and again", crashLoop],
  ["a node that is tainted", taint],
];

for (const [title, fail] of triggers) {
  test(`[BKT8] ${title}: storage has its bucket, stateless another`, () => {
    const world = settled({ ...buckets, taintReplacementOptions });
    const [storage, stateless] = [world.id("storage"), world.id("stateless")];
    world.mark(world.id("storage", 1));
    fail(world, storage);
    assert.deepEqual(removalIds(world.plan()), [world.id("storage", 1)]);
    assert.match(waitOf(world.plan(), "ReplacementLimited"), /bucket storage/);
    const other = settled({ ...buckets, taintReplacementOptions });
    other.mark(world.id("storage", 1));
    fail(other, stateless);
    assert.ok(removalIds(other.plan()).includes(stateless));
  });
}

test("[BKT8] one of each bucket is replaced in one pass, in the order of their ids", () => {
  const world = settled();
  for (const processClass of ["storage", "log", "stateless"]) {
    for (const index of [0, 1]) lose(world, world.id(processClass, index));
  }
  const first = ["log", "stateless", "storage"].map((one) => world.id(one));
  assert.deepEqual(removalIds(world.plan()), first);
});

test("[BKT7] a misconfigured process group is replaced although its bucket is full, and counts there", () => {
  const world = settled();
  const [failed, held] = world.ids("log");
  world.mark(failed ?? "");
  world.changeSpec({ processGroupIDPrefix: "dc1" });
  assert.equal(removalIds(world.plan()).length, 12, "a new prefix replaces everybody at once");
  const limited = settled();
  limited.mark(failed ?? "");
  lose(limited, held ?? "");
  limited.changeSpec({ logServersPerPod: 2 });
  limited.changeSpec({
    automationOptions: { maxConcurrentReplacements: 1, replacements: buckets },
  });
  assert.deepEqual(removalIds(limited.plan()), [failed], "the other limit holds");
  const message = waitOf(limited.plan(), "ReplacementQueued");
  assert.match(message, /automationOptions.maxConcurrentReplacements allows 1/);
});

test("[BKT9] what is held back names bucket, limit and holder, one wait for each bucket", () => {
  const world = settled();
  for (const processClass of ["storage", "log"]) {
    world.mark(world.id(processClass, 1));
    lose(world, world.id(processClass));
  }
  const waits = world.plan().waits.filter(({ reason }) => reason === "ReplacementLimited");
  assert.deepEqual(
    waits.map(({ object }) => object),
    ["replacement-bucket/log", "replacement-bucket/storage"],
  );
  const [log] = waits;
  assert.match(
    log?.message ?? "",
    new RegExp(
      `^${world.id("log")} should be replaced \\(MissingProcesses since .*\\), but ` +
        `${world.id("log", 1)} holds the replacement bucket log, and automationOptions.` +
        "replacements.replacementBucket.log allows 1 at a time \\(process groups\\)$",
    ),
  );
});

test("[BKT9] a closed bucket says that nobody holds it", () => {
  const world = settled({ replacementBucket: { enabled: true, log: 0 } });
  lose(world, world.id("log"));
  const message = waitOf(world.plan(), "ReplacementLimited");
  assert.match(message, /bucket log is closed: .*replacementBucket.log allows 0/);
});

/** One that leaves and one that has failed, by default in a mode that spares nobody. */
function stalemate(
  mode: "single" | "double" = "single",
  replacements: Replacements = buckets,
): {
  world: RemovalWorld;
  leaving: string;
  failed: string;
} {
  const world = RemovalWorld.settled({
    processCounts,
    automationOptions: { replacements },
    databaseConfiguration: { redundancy_mode: mode },
  });
  const [leaving = "", failed = ""] = world.ids("storage");
  world.mark(leaving);
  lose(world, failed);
  return { world, leaving, failed };
}

test("[BKT15] a removal that waits for a failed process group gives its place to it", () => {
  const { world, leaving, failed } = stalemate();
  assert.deepEqual(removalIds(world.plan()).sort(), [leaving, failed].sort());
});

test("[BKT15] in a bucket of all classes the place goes to one of its own class", () => {
  const { world, leaving, failed } = stalemate("single", {});
  lose(world, world.id("log"));
  assert.deepEqual(removalIds(world.plan()).sort(), [leaving, failed].sort());
});

/** With one bucket, in a mode that spares nobody. */
function single(): RemovalWorld {
  return RemovalWorld.settled({
    processCounts,
    databaseConfiguration: { redundancy_mode: "single" },
  });
}

/** Of a class one leaves and one has failed. */
function stuckClass(world: RemovalWorld, processClass: string): [string, string] {
  const [leaving = "", failed = ""] = world.ids(processClass);
  world.mark(leaving);
  lose(world, failed);
  return [leaving, failed];
}

test("[BKT16] removals of two classes that wait for failed process groups of both let one of these go first", () => {
  const { world, leaving } = stalemate("single", {});
  const log = stuckClass(world, "log");
  assert.deepEqual(removalIds(world.plan()).sort(), [leaving, ...log].sort());
});

test("[BKT16] a removal that waits for no failed process group keeps its place beside those that do", () => {
  const { world, leaving } = stalemate("single", {});
  world.mark(world.id("log"));
  assert.deepEqual(removalIds(world.plan()).sort(), [world.id("log"), leaving].sort());
});

test("[BKT17] a removal that is held up by another class of the transaction system gives its place to a failed one of that", () => {
  const world = single();
  const log = stuckClass(world, "log");
  world.mark(world.id("stateless"));
  assert.deepEqual(removalIds(world.plan()).sort(), [...log, world.id("stateless")].sort());
});

test("[BKT17] a dead process group whose exclusion another class of the transaction system holds up gives its place as well", () => {
  const world = single();
  const log = world.id("log");
  world.mark(log);
  lose(world, log);
  const stateless = stuckClass(world, "stateless");
  assert.deepEqual(removalIds(world.plan()).sort(), [log, ...stateless].sort());
});

test("[BKT15] a removal keeps its place while others may still come up and make the room", () => {
  const { world, leaving } = stalemate("double");
  world.silent.add(world.id("storage", 2));
  world.condition(world.id("storage", 2), "MissingProcesses", 60);
  assert.deepEqual(removalIds(world.plan()), [leaving]);
});

test("[BKT15] a removal whose exclusion has begun keeps its place", () => {
  const { world, leaving } = stalemate();
  world.exclusions.push({ locality: `locality_instance_id:${leaving}` });
  assert.deepEqual(removalIds(world.plan()), [leaving]);
});

/** As few as the mode needs, or one more: the first leaves, the second has failed, and the successor reports unless told otherwise. */
function fewZones(
  mode: "double" | "triple",
  storage: number,
  isSuccessorUp = true,
): { world: RemovalWorld; leaving: string; failed: string } {
  const world = RemovalWorld.settled({
    processCounts: { ...processCounts, storage },
    databaseConfiguration: { redundancy_mode: mode },
  });
  const before = world.ids("storage");
  const [leaving = "", failed = ""] = before;
  world.changeSpec({ processGroupsToRemove: [leaving] });
  world.pass();
  if (isSuccessorUp) world.runPods();
  lose(world, failed);
  const successor = world.ids("storage").find((id) => !before.includes(id)) ?? "";
  if (!isSuccessorUp) world.condition(successor, "MissingProcesses", 600);
  return { world, leaving, failed };
}

const zoneCases: readonly [
  mode: "double" | "triple",
  storage: number,
  isSuccessorUp: boolean,
  gives: boolean,
][] = [
  ["double", 2, true, true],
  ["triple", 3, true, true],
  ["double", 3, true, false],
  ["triple", 4, true, false],
  ["double", 2, false, false],
  ["triple", 3, false, false],
];

for (const [mode, storage, isSuccessorUp, gives] of zoneCases) {
  const successor = isSuccessorUp ? "up" : "only coming up";
  test(`[BKT18] ${mode} with ${storage} storage servers and a successor that is ${successor}: a removal ${gives ? "gives" : "keeps"} its place`, () => {
    const { world, leaving, failed } = fewZones(mode, storage, isSuccessorUp);
    const plan = world.plan();
    assert.deepEqual(removalIds(plan), gives ? [leaving, failed] : [leaving]);
  });
}

test("[BKT18] a dead process group that is kept for the zones of another one gives its place as well", () => {
  const { world, leaving, failed } = fewZones("triple", 3);
  world.changeSpec({ processGroupsToRemove: [leaving, failed] });
  world.pass();
  world.runPods();
  const other = world
    .groups("storage")
    .find(({ removalTimestamp }) => removalTimestamp === undefined)?.processGroupID;
  lose(world, other ?? "");
  assert.deepEqual(removalIds(world.plan()).sort(), [leaving, failed, other].sort());
});

const few: readonly [mode: "double" | "triple", storage: number][] = [
  ["double", 2],
  ["triple", 3],
];

for (const [mode, storage] of few) {
  test(`[BKT18] ${mode} with ${storage} storage servers: the one that leaves and the one that failed are both gone in the end`, () => {
    const { world, leaving, failed } = fewZones(mode, storage);
    world.settle();
    world.emptied.add(leaving);
    const targets = [locality(failed)];
    world.verified.set(failed, { targets, completedMs: world.nowMs });
    world.settle();
    const left = world.ids("storage");
    assert.deepEqual(
      [left.length, left.includes(leaving), left.includes(failed)],
      [storage, false, false],
    );
  });
}

function metricsOf(world: RemovalWorld): string {
  const registry = new MetricsRegistry();
  registerClusterMetrics(registry, { clusters: () => [world.cluster], nowMs: () => world.nowMs });
  return registry.text();
}

test("[BKT9] metrics name each bucket, its limit and who holds it", () => {
  const world = settled();
  const holder = world.id("storage");
  world.mark(holder);
  const { name, namespace } = world.cluster.metadata;
  const whose = `namespace="${namespace}",name="${name}"`;
  const text = metricsOf(world);
  for (const bucket of ["storage", "log", "stateless"]) {
    const used = bucket === "storage" ? 1 : 0;
    assert.ok(text.includes(`replacement_bucket_limit{${whose},bucket="${bucket}"} 1\n`), bucket);
    assert.ok(text.includes(`replacement_bucket_used{${whose},bucket="${bucket}"} ${used}\n`));
  }
  assert.ok(
    text.includes(
      `replacement_bucket_holder{${whose},bucket="storage",process_group="${holder}"} 1\n`,
    ),
  );
  assert.ok(!text.includes('bucket="general"'));
  assert.ok(metricsOf(settled({})).includes(`replacement_bucket_limit{${whose},bucket="general"}`));
});

test("[BKT12] turning buckets on or off changes nothing in a healthy cluster", () => {
  const world = settled({});
  world.changeSpec({ automationOptions: { replacements: buckets } });
  const plan = world.plan();
  assert.deepEqual([plan.actions, removalIds(plan)], [[], []]);
});

const mistakes: readonly [string, unknown, RegExp][] = [
  ["storage", -1, /greater than or equal to 0/],
  ["log", 1.5, /integer/],
  ["stateless", "two", /integer/],
];

function withBucket(field: string, value: unknown) {
  const { metadata, spec, ...head } = exampleCluster("replacement-buckets.yaml");
  const replacements = { replacementBucket: { enabled: true, [field]: value } };
  return { ...head, metadata, spec: { ...spec, automationOptions: { replacements } } };
}

const bucketPath = "spec.automationOptions.replacements.replacementBucket";

for (const [field, value, message] of mistakes) {
  test(`[BKT13] replacementBucket.${field}: ${JSON.stringify(value)} is refused`, () => {
    const [finding] = validateDocument(withBucket(field, value) as never);
    assert.equal(finding?.severity, "error");
    assert.equal(finding?.field, `${bucketPath}.${field}`);
    assert.match(finding?.message ?? "", message);
  });
}

test("[BKT13] `validate` refuses the same, and takes the example without a warning", async () => {
  const wrong = mistakes.map(([field, value]) => JSON.stringify(withBucket(field, value)));
  const text = [exampleText("replacement-buckets.yaml"), ...wrong].join("\n---\n");
  const result = await runCommand(["validate", "-f", "-"], text);
  assert.equal(result.code, 1);
  assert.match(result.stdout, /^.*FoundationDBCluster sample: valid\n/, result.stderr);
  for (const [field] of mistakes) assert.ok(result.stdout.includes(`${bucketPath}.${field}: `));
});

test("[BKT14] the manual shows the example that the tests apply", () => {
  const page = join(import.meta.dirname, "..", "..", "docs", "replacement-buckets.md");
  const shown = `\`\`\`yaml\n${exampleText("replacement-buckets.yaml")}\`\`\``;
  assert.ok(readFileSync(page, "utf8").includes(shown));
});
