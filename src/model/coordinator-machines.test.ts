// Coordinators over zones and hosts. Rules: spec/packing.md [PACK50]-[PACK53].
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choiceRules } from "./coordinator-choice.ts";
import type { Candidate } from "./coordinator-choice.ts";
import { chooseOverMachines } from "./coordinator-machines.ts";

/** "storage-0@a" is a process of zone storage-0 on host a. */
function processes(...places: string[]): Candidate[] {
  return places.map((place) => {
    const [zoneid = "", machineid = ""] = place.split("@");
    return { id: place, localities: { zoneid, machineid } };
  });
}

const rules = (count: number) => choiceRules({ redundancy_mode: "double" }, count, { zoneid: 1 });

function choose(count: number, ...places: string[]) {
  const { chosen, perMachine, machinesMissing } = chooseOverMachines(
    processes(...places),
    rules(count),
  );
  return { ids: chosen.map(({ id }) => id).sort(), perMachine, machinesMissing };
}

test("[PACK50] coordinators are in different zones and on different hosts", () => {
  const found = choose(3, "storage-0@a", "log-0@a", "storage-1@b", "log-1@b", "log-2@c");
  assert.equal(found.perMachine, 1);
  assert.equal(new Set(found.ids.map((id) => id.split("@")[1])).size, 3);
});

test("[PACK50] a choice that needs another look is found: the only host of a zone is kept for it", () => {
  const found = choose(3, "log-0@a", "log-0@b", "log-1@a", "storage-0@c", "storage-0@b");
  assert.deepEqual(found.ids, ["log-0@b", "log-1@a", "storage-0@c"]);
  assert.equal(found.perMachine, 1);
});

test("[PACK51] with fewer hosts than coordinators the limit rises as little as needed", () => {
  const places = ["s0@a", "s1@b", "s2@c", "l0@a", "l1@b", "l2@c"];
  assert.equal(choose(3, ...places).perMachine, 1);
  const five = choose(5, ...places);
  assert.equal(five.perMachine, 2);
  assert.equal(five.ids.length, 5);
});

test("[PACK52] one host never holds a majority; what is missing is said in hosts", () => {
  const places = ["s0@a", "s1@a", "s2@a", "l0@b", "l1@b"];
  assert.deepEqual(choose(3, ...places), {
    ids: ["l0@b", "s0@a"],
    perMachine: 1,
    machinesMissing: 1,
  });
  const five = choose(5, ...places);
  assert.deepEqual([five.perMachine, five.machinesMissing], [2, 1]);
  assert.equal(choose(5, "s0@a", "s1@a", "s2@a", "s3@a", "s4@a").machinesMissing, 2);
});

test("[PACK52] where zones are missing, more hosts would not help", () => {
  const found = choose(3, "s0@a", "s0@b", "s1@c");
  assert.deepEqual([found.ids.length, found.machinesMissing], [2, 0]);
});

test("[PACK53] a single coordinator is always found", () => {
  assert.deepEqual(choose(1, "s0@a"), { ids: ["s0@a"], perMachine: 1, machinesMissing: 0 });
});

/** The most zones that can be placed, by trying everything. */
function mostZones(candidates: readonly Candidate[], perMachine: number): number {
  const zones = [...new Set(candidates.map((one) => one.localities["zoneid"] ?? ""))];
  const used = new Map<string, number>();
  const place = (index: number): number => {
    const zone = zones[index];
    if (zone === undefined) return 0;
    let best = place(index + 1);
    for (const { localities } of candidates.filter((one) => one.localities["zoneid"] === zone)) {
      const machine = localities["machineid"] ?? "";
      if ((used.get(machine) ?? 0) >= perMachine) continue;
      used.set(machine, (used.get(machine) ?? 0) + 1);
      best = Math.max(best, 1 + place(index + 1));
      used.set(machine, (used.get(machine) ?? 0) - 1);
    }
    return best;
  };
  return place(0);
}

const somePlaces = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom("s0", "s1", "s2", "l0", "l1", "l2"),
    fc.constantFrom("a", "b", "c", "d"),
  ),
  { maxLength: 10, selector: ([zone, machine]) => `${zone}@${machine}` },
);

test("[PACK50] [PACK51] [PACK52] no better choice exists, and no limit is broken", () => {
  const property = fc.property(somePlaces, fc.constantFrom(1, 3, 5), (places, count) => {
    const candidates = processes(...places.map(([zone, machine]) => `${zone}@${machine}`));
    const choice = chooseOverMachines(candidates, rules(count));
    const most = Math.max(1, Math.floor((count - 1) / 2));
    const per = (key: string): number[] =>
      [...Map.groupBy(choice.chosen, (one) => one.localities[key]).values()].map(
        (all) => all.length,
      );
    assert.ok(per("zoneid").every((size) => size === 1));
    assert.ok(per("machineid").every((size) => size <= choice.perMachine));
    assert.ok(choice.perMachine <= most);
    assert.equal(choice.chosen.length, Math.min(count, mostZones(candidates, choice.perMachine)));
    if (choice.perMachine > 1) {
      assert.ok(mostZones(candidates, choice.perMachine - 1) < count, "the limit rose needlessly");
    }
    assert.deepEqual(chooseOverMachines(candidates.toReversed(), rules(count)), choice);
  });
  fc.assert(property, { seed: 1, numRuns: 400 });
});
