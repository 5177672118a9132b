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
import { clusterCommands, groupCommands, restoreCommand } from "./commands.ts";
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
  assert.deepEqual([worse.urgency, worse.ownUrgency], [2, 0]);
  assert.deepEqual([worse.backups?.inTrouble, worse.backups?.worthALook], [0, 1]);
  const card = clusterCard(cluster, [fine, late, stuck], nowMs);
  assert.deepEqual([card.urgency, card.ownUrgency], [3, 0]);
  assert.deepEqual(card.backups, {
    ...{ total: 3, inTrouble: 1, worthALook: 1 },
    worst: {
      ...{ backup: "c", urgency: 3 },
      headline: "The backup needs you: it waits: BackupUrlInvalid.",
      remedy: "Mend it.",
    },
  });
  assert.equal(withBackups(3, { ...none, worst: { ...worstOf(worse), urgency: 2 } }), 3);
  assert.equal(withBackups(1, undefined), 1);
  assert.equal(card.quarantine, undefined);
  const kept = sceneCluster([], { quarantine: [{ volumeClaim: "a" }, { volumeClaim: "b" }] });
  assert.equal(clusterCard(kept, undefined, nowMs).quarantine, 2);
});

const none = { inTrouble: 0, worthALook: 0 };
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
  assert.deepEqual(card.backups, { total: 0, inTrouble: 0, worthALook: 0 });
});

test("[WEB4] a backup that runs less well than it should is worth a look, and not in trouble", () => {
  const backup = (name: string, behind: string): Stored<FoundationDBBackup> =>
    ({
      ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
      metadata: { name, namespace: "default" },
      spec: { clusterName: "sample", version: "7.3.63" },
      status: conditions(condition("Reconciled", "True"), condition("Behind", behind)),
    }) as unknown as Stored<FoundationDBBackup>;
  const card = clusterCard(sceneCluster([]), [backup("a", "True"), backup("b", "False")], nowMs);
  const { total, inTrouble, worthALook } = card.backups ?? {};
  assert.deepEqual([total, inTrouble, worthALook], [2, 0, 1]);
});

const around = (cluster: ExplainInput["cluster"]): ExplainInput => ({
  ...{ cluster, pods: [], pvcs: [], events: [], nodes: [], unread: [] },
});

test("[WEB1] a cluster at rest is the same an hour later: there are times, and no ages", () => {
  const cluster = sceneCluster([group("log-1")]);
  const input = { ...around(cluster), pods: [scenePod("log-1", "n1")] };
  const laterMs = nowMs + 3_600_000;
  assert.deepEqual(nowModel(input, nowMs), nowModel(input, laterMs));
  assert.deepEqual(clusterCard(cluster, [], nowMs), clusterCard(cluster, [], laterMs));
  assert.ok(nowModel(input, nowMs).headline.startsWith(`Healthy since ${minutesAgo(60)}: `));
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
    {
      ...{ processClass: "storage", wanted: 3, total: 2, missing: 1 },
      ...{ well: 1, outdated: 1, starting: 0, failing: 0, leaving: 0 },
    },
  );
});

test("[VW22] [WEB5] each process group counts once: outdated, starting and leaving apart from failing", () => {
  const groups = [
    group("log-1", ["IncorrectCommandLine"]),
    group("log-2", ["MissingProcesses", "IncorrectConfigMap"]),
    group("log-3", ["Ready"]),
    group("log-4", ["IncorrectCommandLine"], { removalTimestamp: minutesAgo(1) }),
    group("log-5", ["MissingPod", "MissingProcesses"]),
    group("log-6", ["MissingProcesses"], { removalTimestamp: minutesAgo(1) }),
    group("log-7", ["MissingProcesses"], {
      ...{ removalTimestamp: minutesAgo(1), exclusionTimestamp: minutesAgo(1) },
    }),
  ].map((one) => (one.processGroupID === "log-5" ? one : { ...one, faultDomain: "n1" }));
  const cluster = sceneCluster(groups);
  const counts = { total: 7, failing: 2, starting: 1, leaving: 2, outdated: 1, well: 1 };
  const { wanted: _, missing: _missing, ...told } = clusterCard(cluster, [], nowMs).processGroups;
  assert.deepEqual(told, counts);
  const {
    wanted = 0,
    missing,
    processClass: _class,
    ...log
  } = nowModel(around(cluster), nowMs).classes.find((row) => row.processClass === "log") ?? {};
  assert.deepEqual(log, counts);
  // Those that leave are no part of what is wanted.
  assert.equal(missing, Math.max(0, wanted - 4));
});

test("[VW22] a process group whose pod the operator says cannot start is failing", () => {
  const groups = [group("log-1", ["PodPending"]), group("log-2", ["PodPending"])];
  const blockedBy = [waiting("PodUnschedulable", { object: "pod/sample-log-1" })];
  const { processGroups } = clusterCard(sceneCluster(groups, { blockedBy }), [], nowMs);
  assert.deepEqual([processGroups.failing, processGroups.starting], [1, 1]);
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
  const slept = sceneCluster([], { hibernation: { since: minutesAgo(5) } });
  const asleep = { ...slept, spec: { ...slept.spec, hibernate: true } };
  const restore = { title: "", command: restoreCommand(cluster, "sample-log-1-data") };
  const all = [
    ...[...clusterCommands(cluster), ...groupCommands(cluster, "log-1", "sample-log-1"), restore],
    ...clusterCommands(asleep),
  ];
  assert.match(restore.command, / -c sample -n default sample-log-1-data --dry-run$/);
  assert.match(clusterCommands(asleep)[0]?.command ?? "", /"hibernate":false/);
  for (const { command } of all) assert.match(command, / -n default( |$)/);
  assert.ok(
    all.every(
      ({ command }) =>
        !/ (remove|delete|patch|restore) /.test(command) || / --dry-run(=server)?$/.test(command),
    ),
  );
  assert.ok(groupCommands(cluster, "log-1", "").every(({ command }) => !command.includes("logs")));
});
