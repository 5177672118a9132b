// What the page says in few letters. Rules: spec/page.md [PAGE2], [PAGE7].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Urgency } from "../view-model.ts";
import type { Verdict } from "../../plugin/explain/page.ts";
import {
  backupsText,
  chipOf,
  clockText,
  commandIn,
  dateText,
  durationText,
  listThatFits,
  momentText,
  shortTrouble,
  toldParts,
  wellText,
  wordsIn,
} from "./words.ts";

test("[PAGE2] a cluster is called at work only when the operator is", () => {
  const words = (urgency: Urgency, verdict: Verdict, reason: string | undefined): string =>
    chipOf({ urgency, ownUrgency: urgency, verdict, reason, backup: "off-site" })[1];
  assert.equal(words(1, "working", undefined), "The operator is at work");
  assert.equal(words(1, "working", "PodPending"), "The operator is at work");
  assert.equal(words(1, "working", "MaintenanceWindowClosed"), "Waits for its window");
  assert.equal(words(1, "paused", undefined), "Left alone");
  assert.equal(words(1, "deleting", undefined), "Being deleted");
  assert.equal(words(1, "starting", undefined), "Starting");
  assert.equal(words(0, "asleep", undefined), "Asleep");
  assert.equal(words(0, "healthy", undefined), "All is well");
  assert.equal(words(3, "down", "MaintenanceWindowClosed"), "Somebody is needed");
});

test("[PAGE2] where a backup needs somebody more than its cluster, the chip says so", () => {
  const chip = (urgency: Urgency, ownUrgency: Urgency, verdict: Verdict): string =>
    chipOf({ urgency, ownUrgency, verdict, reason: undefined, backup: "off-site" }).join(" ");
  assert.equal(chip(3, 0, "healthy"), "✕ Somebody is needed: backup off-site");
  assert.equal(chip(2, 0, "asleep"), "! Worth a look: backup off-site");
  assert.equal(chip(3, 2, "degraded"), "✕ Somebody is needed: backup off-site");
  assert.equal(chip(3, 3, "down"), "✕ Somebody is needed");
});

test("[PAGE2] backups that are worth a look are not called in trouble", () => {
  const told = (inTrouble: number, worthALook: number, total: number): string =>
    backupsText({ inTrouble, worthALook }, total);
  assert.equal(told(1, 1, 2), "1 of 2 backups in trouble, 1 worth a look");
  assert.equal(told(1, 0, 1), "1 of 1 backup in trouble");
  assert.equal(told(0, 2, 3), "2 of 3 backups worth a look");
});

test("[PAGE2] process groups that are not well are told by what they are instead", () => {
  const none = { failing: 0, missing: 0, outdated: 0, starting: 0, leaving: 0 };
  const told = (counts: object, noun?: string): string =>
    wellText({ ...{ well: 9, total: 9, wanted: 10 }, ...none, ...counts }, noun);
  assert.equal(told({ total: 11, starting: 1, leaving: 1 }), "9 of 11 well, 1 starting, 1 leaving");
  assert.equal(
    told({ total: 11, outdated: 2 }, "process groups"),
    "9 of 11 process groups well, 2 outdated",
  );
  assert.equal(told({ missing: 1 }), "9 of 10 well, 1 missing");
  assert.equal(
    told({ total: 2000, well: 1782, failing: 20, outdated: 198 }),
    "1782 of 2000 well, 20 failing, 198 outdated",
  );
});

test("[PAGE18] times are those of UTC, whatever the clock of the browser says", () => {
  const atMs = Date.parse("2026-01-02T23:04:05Z");
  assert.equal(clockText(atMs), "23:04:05");
  assert.equal(dateText(atMs), "Jan 2, 23:04 UTC");
  assert.equal(clockText(Number.NaN), "");
  assert.equal(momentText(atMs, Date.parse("2026-01-02T23:59:59Z")), "23:04:05");
  assert.equal(momentText(atMs, Date.parse("2026-01-03T00:00:00Z")), "Jan 2, 23:04");
});

test("[PAGE18] times in the sentences of the operator are told as all others are", () => {
  const atMs = Date.parse("2026-11-18T02:00:00Z");
  assert.deepEqual(toldParts("opens at 2026-11-18T02:00:00Z): restart log-1"), [
    ...["opens at ", { atMs, text: "Nov 18, 02:00 UTC" }, "): restart log-1"],
  ]);
  assert.deepEqual(toldParts("2026-11-18T02:00:00.123Z"), [
    { atMs: atMs + 123, text: "Nov 18, 02:00 UTC" },
  ]);
  assert.deepEqual(toldParts("no time: 2026-99-18T02:00:00Z"), ["no time: 2026-99-18T02:00:00Z"]);
  assert.deepEqual(toldParts("fdb-report-20261117T120000Z.tar.gz"), [
    "fdb-report-20261117T120000Z.tar.gz",
  ]);
  assert.deepEqual(toldParts(""), []);
});

test("[PAGE19] a long word may be broken where its parts meet, and nowhere else", () => {
  const field = "Add region=NAME to spec.blobStoreConfiguration.urlParameters.";
  assert.deepEqual(wordsIn(field), [
    { pieces: ["Add region=NAME to "], isWhole: false },
    { pieces: ["spec", ".blobStoreConfiguration", ".urlParameters."], isWhole: true },
  ]);
  const host = "sample-log-30294.sample.default.svc.cluster.local:4501; 2 things";
  const [broken, ...rest] = wordsIn(host);
  assert.deepEqual([broken?.pieces.join(""), rest], [host, []]);
  assert.equal(broken?.pieces[1], ".sample");
  assert.deepEqual(wordsIn("7.3.63 is short"), [{ pieces: ["7.3.63 is short"], isWhole: false }]);
  const within = `${field} ${host} status.generations.needsCoordinatorChange is set`;
  const whole = wordsIn(within).map(({ pieces }) => pieces.join(""));
  assert.equal(whole.join(""), within);
  for (const piece of wordsIn(within).flatMap(({ pieces }) => pieces.slice(0, -1))) {
    assert.doesNotMatch(piece, /\.$/);
  }
});

test("[PAGE19] the name of a process group, of a pod or of a node is not broken", () => {
  const text = "restart log-1111, then sample-log-30294 (pod/sample-log-2)";
  const whole = wordsIn(text).filter(({ isWhole }) => isWhole);
  assert.deepEqual(
    whole.map(({ pieces }) => pieces),
    [["log-1111,"], ["sample-log-30294"], ["(pod/", "sample-log-2)"]],
  );
});

test("[PAGE9] the command that a remedy ends with can be copied", () => {
  const command = "kubectl annotate foundationdbcluster a -n b --overwrite c/urgent-generation=2";
  assert.deepEqual(commandIn(`Nothing: it happens then. If it cannot wait: ${command}`), {
    said: "Nothing: it happens then.",
    copied: { title: "If it cannot wait", command },
  });
  for (const remedy of [
    ...[
      "Nothing: it goes on by itself. `kubectl get pvc` shows the sizes.",
      "Bring the node back.",
    ],
    "Cordon the node with `kubectl cordon NODE`, or remove the annotation.",
  ]) {
    assert.deepEqual(commandIn(remedy), { said: remedy });
  }
});

test("[PAGE16] how long something takes is told as ages are", () => {
  const told = [0, 0.04, 2.14, 2, 24, 119, 126, 6_900].map(durationText);
  assert.deepEqual(told, ["0s", "0.1s", "2.1s", "2s", "24s", "119s", "2m", "1h 55m"]);
});

test("[PAGE7] a tile says what is wrong in few words", () => {
  const said: readonly [string, string][] = [
    ["IncorrectCommandLine", "arguments"],
    ["MissingProcesses", "no process"],
    ["no node: 0/12 nodes are available: 12 node(s) were unschedulable.", "no node"],
    [
      "container foundationdb waits (CrashLoopBackOff, exit code 1, 7 restarts)",
      "CrashLoopBackOff",
    ],
    ["leaves, not excluded yet", "not excluded yet"],
    ["leaves without exclusion", "without exclusion"],
    ["not ready; its node n1 is not ready (Kubelet stopped)", "not ready"],
    ["something new", "something new"],
  ];
  for (const [text, short] of said) assert.equal(shortTrouble(text), short);
});

test("[PAGE7] roles are named as far as there is room, with the number of the others", () => {
  const within = (room: number) => (text: string) => text.length <= room;
  const roles = ["scan", "distributor", "master"];
  assert.equal(listThatFits(roles, within(40)), "scan, distributor, master");
  assert.equal(listThatFits(roles, within(20)), "scan, distributor +1");
  assert.equal(listThatFits(roles, within(3)), "scan +2");
  assert.equal(listThatFits(["storage"], within(1)), "storage");
  assert.equal(listThatFits([], within(1)), "");
});
