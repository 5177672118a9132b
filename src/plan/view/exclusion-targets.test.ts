// How exclusions name process groups. Rules: spec/removal.md [R17], [R31], [R32], [R72].
import { Memory } from "../../env/memory.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProcessGroupStatus } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  ownExclusions,
  usesLocalities,
} from "./exclusion-targets.ts";

const group: ProcessGroupStatus = {
  processGroupID: "storage-1",
  processClass: "storage",
  addresses: ["10.0.0.1", "10.0.0.2"],
};
const locality = "locality_instance_id:storage-1";

function listing(...excluded_servers: { address?: string; locality?: string }[]) {
  return exclusionsOf(
    { memory: new Memory() },
    { cluster: { configuration: { excluded_servers } } },
  );
}

const versions: [string, boolean][] = [
  ["7.1.41", false],
  ["7.1.42", true],
  ["7.2.9", false],
  ["7.3.25", false],
  ["7.3.26", true],
  ["7.4.1", true],
  ["", false],
];
for (const [version, expected] of versions) {
  test(`[R31] version ${version || "unknown"} excludes by ${expected ? "locality" : "address"}`, () => {
    assert.equal(usesLocalities({ version }, version), expected);
    const automationOptions = { useLocalitiesForExclusion: false };
    assert.equal(usesLocalities({ version, automationOptions }, version), false);
  });
}

test("[R32] what is excluded already is left out", () => {
  assert.deepEqual(missingTargets(listing(), group, true), [locality]);
  assert.deepEqual(missingTargets(listing({ locality }), group, true), []);
  assert.deepEqual(missingTargets(listing({ locality }), group, false), []);
  assert.deepEqual(missingTargets(listing({ address: "10.0.0.1" }), group, true), [locality]);
  assert.deepEqual(missingTargets(listing(), group, false), ["10.0.0.1", "10.0.0.2"]);
  assert.deepEqual(missingTargets(listing({ address: "10.0.0.1" }), group, false), ["10.0.0.2"]);
  const both = listing({ address: "10.0.0.1" }, { address: "10.0.0.2" });
  assert.deepEqual(missingTargets(both, group, false), []);
});

test("[R32] one port of an address is not the whole of it", () => {
  const list = listing({ address: "10.0.0.1:4501" }, { address: "10.0.0.2" });
  assert.deepEqual(missingTargets(list, group, false), ["10.0.0.1"]);
});

test("[R17] without locality and address nothing names a group", () => {
  const bare = { ...group, addresses: [""] };
  assert.equal(isUnnameable(bare, false), true);
  assert.equal(isUnnameable(bare, true), false);
  assert.equal(isUnnameable(group, false), false);
});

test("[S160] the list of exclusions is sorted out once for each status", () => {
  let reads = 0;
  const view = { memory: new Memory() };
  const status: DatabaseStatus = {
    cluster: {
      configuration: {
        get excluded_servers() {
          reads += 1;
          return [{ address: "10.0.0.1" }, { address: "10.0.0.1:4501" }];
        },
      },
    },
  };
  for (let count = 0; count < 3; count += 1) {
    const own = ownExclusions(exclusionsOf(view, status), { ...group, addresses: ["10.0.0.1"] });
    assert.deepEqual(own, ["10.0.0.1", "10.0.0.1:4501"]);
  }
  assert.equal(reads, 1);
});

test("[R72] a group's own exclusions are its locality and all ports of its addresses", () => {
  const list = listing(
    { locality: "locality_zoneid:zone-1" },
    { locality: "locality_instance_id:storage-10" },
    { address: "10.0.0.10" },
    { address: "10.0.0.1:4501" },
    { address: "10.0.0.2" },
    { locality },
  );
  assert.deepEqual(ownExclusions(list, group), [locality, "10.0.0.1:4501", "10.0.0.2"]);
  assert.deepEqual(ownExclusions(list, { ...group, addresses: ["::1"] }), [locality]);
});
