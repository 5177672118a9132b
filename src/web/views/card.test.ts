// Cards, what is going on now, and the commands to copy. Rules: spec/web.md [WEB1], [WEB4], [WEB5], [WEB14].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  group,
  minutesAgo,
  nowMs,
  sceneCluster,
  scenePod,
  waiting,
} from "../../../test/web/cluster-scene.ts";
import type { Stored } from "../../kube/resource.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { ExplainInput } from "../../plugin/explain/page.ts";
import type { BackupTroubles, ClusterCard } from "../view-model.ts";
import { clusterCard, withBackups } from "./card.ts";
import { clusterCommands, groupCommands } from "./commands.ts";
import { nowModel } from "./now.ts";

const condition = (type: string, status: string): object => ({
  ...{ type, status, reason: "R", message: "m", lastTransitionTime: minutesAgo(3) },
  observedGeneration: 3,
});
const conditions = (...all: readonly object[]): object => ({ conditions: all });
const serving = [condition("Available", "True"), condition("Degraded", "False")];
const busy = conditions(...serving, condition("Reconciled", "False"));

const cards: readonly [string, object, urgency: number][] = [
  ["all is well", {}, 0],
  ["the operator is at work", busy, 1],
  [
    "what it waits for passes",
    { ...busy, blockedBy: [waiting("PodPending", { since: minutesAgo(0) })] },
    1,
  ],
  [
    "what it waits for has taken too long",
    { ...busy, blockedBy: [waiting("PodPending", { since: minutesAgo(300) })] },
    2,
  ],
  ["a person is needed", { ...busy, blockedBy: [waiting("VersionChangeRefused")] }, 3],
  [
    "less sound than it should be",
    conditions(condition("Available", "True"), condition("Degraded", "True")),
    2,
  ],
  ["the database is down", conditions(condition("Available", "False")), 3],
  ["nobody has looked", { conditions: undefined }, 2],
];

for (const [title, status, urgency] of cards) {
  test(`[WEB4] how urgent a card is: ${title}`, () => {
    const cluster = sceneCluster([group("log-1")], status);
    assert.equal(clusterCard(cluster, undefined, nowMs).urgency, urgency);
  });
}

test("[WEB4] a cluster is as urgent as its most urgent backup, which it names, and volumes in quarantine are counted", () => {
  const cluster = sceneCluster([group("log-1")]);
  const backup = (name: string, status: object): Stored<FoundationDBBackup> =>
    ({
      ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
      metadata: { name, namespace: "default", uid: name },
      ...{ spec: { clusterName: "sample", version: "7.3.63" }, status },
    }) as unknown as Stored<FoundationDBBackup>;
  const told = [condition("Running", "True"), condition("Reconciled", "True")];
  const fine = backup("a", { conditions: told });
  const late = backup("b", { conditions: [...told, condition("Behind", "True")] });
  const stuck = backup("c", {
    conditions: told,
    blockedBy: [waiting("BackupUrlInvalid", { remedy: "Mend it." })],
  });
  assert.equal(clusterCard(cluster, [fine], nowMs).urgency, 0);
  const worse = clusterCard(cluster, [fine, late], nowMs);
  assert.deepEqual([worse.urgency, worse.ownUrgency, worse.backups?.inTrouble], [2, 0, 1]);
  const card = clusterCard(cluster, [fine, late, stuck], nowMs);
  assert.deepEqual([card.urgency, card.ownUrgency], [3, 0]);
  assert.deepEqual(card.backups, {
    ...{ total: 3, inTrouble: 2 },
    worst: {
      ...{ backup: "c", urgency: 3 },
      headline: "The backup needs you: it waits: BackupUrlInvalid.",
      remedy: "Mend it.",
    },
  });
  assert.equal(withBackups(3, { inTrouble: 1, worst: { ...worstOf(worse), urgency: 2 } }), 3);
  assert.equal(withBackups(1, undefined), 1);
  assert.equal(card.quarantine, undefined);
  const kept = sceneCluster([], { quarantine: [{ volumeClaim: "a" }, { volumeClaim: "b" }] });
  assert.equal(clusterCard(kept, undefined, nowMs).quarantine, 2);
});

const worstOf = ({ backups }: ClusterCard): NonNullable<BackupTroubles["worst"]> =>
  backups?.worst ?? { backup: "", urgency: 0, headline: "" };

test("[WEB4] a card counts waits by concern, and names the one that matters most", () => {
  const blockedBy = [
    waiting("PodPending", { since: minutesAgo(0) }),
    waiting("VersionChangeRefused", { remedy: "Choose another version." }),
  ];
  const card = clusterCard(sceneCluster([], { ...busy, blockedBy }), [], nowMs);
  const { first, ...counts } = card.waits;
  assert.deepEqual(counts, { person: 1, look: 0, passing: 1 });
  assert.deepEqual(
    [first?.reason, first?.remedy],
    ["VersionChangeRefused", "Choose another version."],
  );
  assert.deepEqual(card.backups, { total: 0, inTrouble: 0 });
});

test("[WEB4] backups in trouble are counted", () => {
  const backup = (name: string, behind: string): Stored<FoundationDBBackup> =>
    ({
      ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
      metadata: { name, namespace: "default" },
      spec: { clusterName: "sample", version: "7.3.63" },
      status: conditions(condition("Reconciled", "True"), condition("Behind", behind)),
    }) as unknown as Stored<FoundationDBBackup>;
  const card = clusterCard(sceneCluster([]), [backup("a", "True"), backup("b", "False")], nowMs);
  assert.deepEqual([card.backups?.total, card.backups?.inTrouble], [2, 1]);
});

const around = (cluster: ExplainInput["cluster"]): ExplainInput => ({
  ...{ cluster, pods: [], pvcs: [], events: [], nodes: [], unread: [] },
});

test("[WEB1] a cluster at rest is the same in the next second", () => {
  const cluster = sceneCluster([group("log-1")]);
  const input = { ...around(cluster), pods: [scenePod("log-1", "n1")] };
  assert.deepEqual(nowModel(input, nowMs), nowModel(input, nowMs + 1_000));
  assert.deepEqual(clusterCard(cluster, [], nowMs), clusterCard(cluster, [], nowMs + 1_000));
});

test("[WEB5] now has waits with what they mean, classes, and what is about to be done", () => {
  const model = nowModel(
    around(
      sceneCluster([group("storage-1", ["IncorrectCommandLine"]), group("storage-2")], {
        ...busy,
        blockedBy: [waiting("PodPending")],
        generations: { reconciled: 2, needsBounce: 3, needsGrow: 3 },
      }),
    ),
    nowMs,
  );
  assert.deepEqual(
    model.ahead.map(({ flag, processGroups }) => [flag, processGroups]),
    [
      ["needsGrow", []],
      ["needsBounce", ["storage-1"]],
    ],
  );
  assert.match(model.meanings["PodPending"] ?? "", /\w+ \w+/);
  assert.deepEqual(
    model.classes.find(({ processClass }) => processClass === "storage"),
    { processClass: "storage", wanted: 3, total: 2, well: 1, outdated: 1, starting: 0, leaving: 0 },
  );
});

test("[WEB5] process groups that are only outdated, or never ran, are told apart from those that are not well", () => {
  const groups = [
    group("log-1", ["IncorrectCommandLine"]),
    group("log-2", ["MissingProcesses", "IncorrectConfigMap"]),
    group("log-3", ["Ready"]),
    group("log-4", ["IncorrectCommandLine"], { removalTimestamp: minutesAgo(1) }),
    group("log-5", ["MissingPod", "MissingProcesses"]),
  ].map((one) => (one.processGroupID === "log-5" ? one : { ...one, faultDomain: "n1" }));
  const cluster = sceneCluster(groups);
  const { processGroups } = clusterCard(cluster, [], nowMs);
  const { total, well, outdated, starting, leaving } = processGroups;
  assert.deepEqual([total, well, outdated, starting, leaving], [5, 1, 1, 1, 1]);
  const [log] = nowModel(around(cluster), nowMs).classes;
  assert.deepEqual([log?.well, log?.outdated, log?.starting, log?.leaving], [1, 1, 1, 1]);
});

test("[WEB5] where nothing is about to be done, now says why as plan does", () => {
  const said = (more: object): string | undefined =>
    nowModel(around(sceneCluster([group("log-1")], more)), nowMs).nothingAhead;
  assert.match(said({}) ?? "", /^nothing: generation \d+ is in force$/);
  assert.match(
    said({ ...busy, blockedBy: [waiting("VolumeShrinkRefused")] }) ?? "",
    /^what it says it waits for/,
  );
});

test("[WEB14] commands name cluster and namespace, and change nothing", () => {
  const cluster = sceneCluster([]);
  const all = [...clusterCommands(cluster), ...groupCommands(cluster, "log-1", "sample-log-1")];
  for (const { command } of all) assert.match(command, / -n default( |$)/);
  assert.ok(
    all.every(
      ({ command }) => !/ (remove|delete|patch) /.test(command) || command.endsWith(" --dry-run"),
    ),
  );
  assert.ok(groupCommands(cluster, "log-1", "").every(({ command }) => !command.includes("logs")));
});
