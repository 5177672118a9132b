// Tests of the running version and of the state of an upgrade.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { attainableVersion, runningVersionOf, upgradeStateOf } from "./running-version.ts";

function statusWith(...versions: (string | undefined)[]): DatabaseStatus {
  const processes = Object.fromEntries(
    versions.map((version, index) => [String(index), version === undefined ? {} : { version }]),
  );
  return { cluster: { processes } };
}

const cases: [string, DatabaseStatus | undefined, string][] = [
  ["the majority wins", statusWith("7.3.1", "7.3.2", "7.3.1"), "7.3.1"],
  ["a tie goes to the newer version", statusWith("7.3.2", "7.3.10", "7.3.10", "7.3.2"), "7.3.10"],
  ["an unreadable version does not vote", statusWith("", "?", undefined, "7.3.5"), "7.3.5"],
  ["a suffix does not count", statusWith("7.3.5-PRERELEASE", "7.3.5", "7.3.6"), "7.3.5"],
  ["no process leaves the version as it was", statusWith(), "7.1.0"],
  ["no status leaves the version as it was", undefined, "7.1.0"],
];

for (const [title, status, expected] of cases) {
  test(`[P21] ${title}`, () => {
    assert.equal(runningVersionOf(status, "7.1.0"), expected);
  });
}

test("[P21] an upgrade is compatible within a protocol", () => {
  assert.deepEqual(upgradeStateOf("7.3.1", "7.3.1"), { isUpgrading: false, isCompatible: true });
  assert.deepEqual(upgradeStateOf("7.3.1", "7.3.2"), { isUpgrading: true, isCompatible: true });
  assert.deepEqual(upgradeStateOf("7.1.1", "7.3.2"), { isUpgrading: true, isCompatible: false });
});

test("[U2] a change that is refused is none, and the running version stays the one to attain", () => {
  assert.deepEqual(upgradeStateOf("7.3.2", "7.1.1"), { isUpgrading: false, isCompatible: true });
  assert.equal(attainableVersion("7.3.2", "7.1.1"), "7.3.2");
  assert.equal(attainableVersion("7.3.2", "7.3.1"), "7.3.1");
  assert.equal(attainableVersion("7.1.1", "7.3.2"), "7.3.2");
});
