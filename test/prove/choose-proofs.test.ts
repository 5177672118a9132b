// Which proofs run, which are skipped with which words, and what arguments are refused.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allLifeCases, separateLifeCases } from "../contract-fdb/life-cases.ts";
import { allProofs } from "./all-proofs.ts";
import { chooseProofs } from "./choose-proofs.ts";
import type { Choice } from "./choose-proofs.ts";
import type { Machine } from "./machine.ts";

const nothing: Machine = {
  ...{ versions: [], missing: "It is missing.", hasBackupTools: false, hasObjectStore: false },
  ...{ hasControlPlane: false, cores: 2, memoryGiB: 4 },
};
const everything: Machine = {
  ...{ versions: ["7.1.57", "7.3.63", "7.3.79"], missing: "", hasBackupTools: true },
  ...{ hasObjectStore: true, hasControlPlane: true, cores: 2, memoryGiB: 4 },
};

function choose(machine: Machine, ...only: string[]): Choice {
  return chooseProofs(allProofs(machine), machine, only);
}

function whyNot({ skipped }: Choice, name: string): string | undefined {
  return skipped.find(({ proof }) => proof.name === name)?.why;
}

test("[PROVE2] without anything the simulated half runs, and every other proof says what it needs", () => {
  const choice = choose(nothing);
  assert.ok(choice.chosen.length > 0);
  assert.ok(choice.chosen.every(({ half }) => half === "simulated"));
  assert.ok(choice.skipped.every(({ proof }) => proof.half === "real"));
  assert.equal(whyNot(choice, "real-changes"), "FoundationDB is not installed. It is missing.");
  assert.match(whyNot(choice, "real-upgrades") ?? "", /two versions .* and there is none/);
  assert.match(whyNot(choice, "real-kubernetes") ?? "", /KUBEBUILDER_ASSETS/);
});

test("[PROVE2] what is only half there is told by what is missing", () => {
  const choice = choose({ ...everything, hasBackupTools: false, versions: ["7.3.79"] });
  assert.match(whyNot(choice, "real-backups") ?? "", /fdbbackup, fdbrestore and backup_agent/);
  assert.match(whyNot(choice, "real-upgrades") ?? "", /and there is 7\.3\.79: a folder for each/);
  const bucketless = choose({ ...everything, hasObjectStore: false });
  assert.match(whyNot(bucketless, "real-backups") ?? "", /no S3 server, and no Go/);
});

test("[PROVE2] with everything nothing is skipped", () => {
  assert.deepEqual(choose(everything).skipped, []);
});

test("[PROVE7] every pair of versions that may follow one another is upgraded", () => {
  const upgrades = choose(everything, "real-upgrade").chosen;
  assert.deepEqual(
    upgrades.map(({ name, what }) => [name, what]),
    [
      ["real-upgrade-7.1.57-7.3.63", "a cluster is upgraded from 7.1.57 to 7.3.63"],
      ["real-upgrade-7.1.57-7.3.79", "a cluster is upgraded from 7.1.57 to 7.3.79"],
      ["real-upgrade-7.3.63-7.3.79", "a cluster is upgraded from 7.3.63 to 7.3.79, and back"],
    ],
  );
});

test("[PROVE2] only what is named runs, by beginnings of names; a name of nothing is refused", () => {
  const { chosen } = choose(everything, "lives", "real-t");
  assert.deepEqual(
    chosen.map(({ name }) => name),
    ["lives", "real-tls", "real-troubles"],
  );
  assert.throws(() => choose(everything, "lifes"), /--only lifes: there is no such proof.*lives/);
});

test("[PROVE6] every proof is a program that is there, with cases that are there", () => {
  const root = join(import.meta.dirname, "..", "..");
  const all = allProofs(everything);
  assert.deepEqual(
    all.map(({ name }) => name),
    [...new Set(all.map(({ name }) => name))],
    "no two have one name",
  );
  for (const { command, limitMinutes } of all) {
    assert.ok(existsSync(join(root, command[0] ?? "")), command[0]);
    assert.ok(limitMinutes > 0 && limitMinutes <= 60);
    const ids = command[command.indexOf("--cases") + 1]?.match(/\[DB\d+\]/g) ?? [];
    for (const id of ids) {
      const isAlone = separateLifeCases.some(({ title }) => title.includes(id));
      assert.ok(isAlone || allLifeCases.some(({ title }) => title.includes(id)), id);
      assert.ok(!isAlone || ids.length === 1, `${id} has a life of its own`);
    }
  }
});

test("[PROVE6] what a real cluster goes through with nobody's help a simulated one does, too", () => {
  const idsOf = (half: "simulated" | "real"): string[] =>
    allProofs(everything)
      .filter((proof) => proof.half === half)
      .flatMap(({ command }) => command.join(" ").match(/\[DB8\d\]/g) ?? []);
  const simulated = new Set(idsOf("simulated"));
  assert.deepEqual(
    idsOf("real").filter((id) => !simulated.has(id)),
    [],
  );
});
