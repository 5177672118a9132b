// Versions: reading, order, compatibility and gates.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  compareVersions,
  formatVersion,
  hasLocalityExclusions,
  hasMutationLogType,
  hasRecoveryState,
  hasTesterCleanup,
  isProtocolCompatible,
  isSupported,
  isVersionChangeAllowed,
  lineOfProtocol,
  parseVersion,
  supportsStorageEngine,
} from "./version.ts";
import type { Version } from "./version.ts";

function version(text: string): Version {
  const found = parseVersion(text);
  assert.ok(found, text);
  return found;
}

const numbers = fc.integer({ min: 0, max: 20 });
const versions = fc.record(
  {
    major: numbers,
    minor: numbers,
    patch: numbers,
    releaseCandidate: fc.integer({ min: 0, max: 3 }),
  },
  { noNullPrototype: true },
);

test("[M1] the first version in a text is found, and formatting gives it back", () => {
  assert.equal(formatVersion(version("foundationdb 7.3.63-PRERELEASE 7.1.1")), "7.3.63");
  assert.equal(formatVersion(version("7.4.0-rc2")), "7.4.0-rc2");
  assert.equal(parseVersion("seven.three"), undefined);
  fc.assert(
    fc.property(versions, (each) => {
      assert.deepEqual(parseVersion(formatVersion(each)), each);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("[M2] the order of versions is total and puts a release after its candidates", () => {
  assert.ok(compareVersions(version("7.3.0"), version("7.3.0-rc9")) > 0);
  assert.ok(compareVersions(version("7.3.0-rc2"), version("7.3.0-rc1")) > 0);
  assert.ok(compareVersions(version("7.10.0"), version("7.9.9")) > 0);
  fc.assert(
    fc.property(versions, versions, versions, (a, b, c) => {
      assert.equal(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)) + 0);
      assert.equal(compareVersions(a, b) === 0, formatVersion(a) === formatVersion(b));
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
        assert.ok(compareVersions(a, c) <= 0);
      }
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("[M3] the protocol is that of major, minor and release candidate", () => {
  assert.ok(isProtocolCompatible(version("7.3.1"), version("7.3.63")));
  assert.ok(!isProtocolCompatible(version("7.3.1"), version("7.1.1")));
  assert.ok(!isProtocolCompatible(version("7.3.1"), version("7.3.1-rc1")));
});

test("[M4] a version may go back only within its protocol", () => {
  assert.ok(isVersionChangeAllowed(version("7.3.63"), version("7.3.1")));
  assert.ok(isVersionChangeAllowed(version("7.1.63"), version("7.3.1")));
  assert.ok(!isVersionChangeAllowed(version("7.3.1"), version("7.1.63")));
});

test("[M66] a protocol names a line of versions", () => {
  const lines = ["0fdb00b071010000", "fdb00b074000000", "0FDB00B080000000"].map(lineOfProtocol);
  assert.deepEqual(lines, [
    { major: 7, minor: 1 },
    { major: 7, minor: 4 },
    { major: 8, minor: 0 },
  ]);
  for (const text of ["", "Unknown", "0fdb00a400040001", "0fdb00b07400000"]) {
    assert.equal(lineOfProtocol(text), undefined, text);
  }
});

test("[M6] capabilities begin at their versions", () => {
  const gates: [(each: Version) => boolean, string, string][] = [
    [isSupported, "7.1.0-rc1", "7.1.0"],
    [hasRecoveryState, "7.1.21", "7.1.22"],
    [hasLocalityExclusions, "7.1.41", "7.1.42"],
    [hasLocalityExclusions, "7.2.99", "7.3.26"],
    [hasTesterCleanup, "7.1.54", "7.1.55"],
    [hasTesterCleanup, "7.3.34", "7.3.35"],
    [hasMutationLogType, "7.4.6", "7.4.7"],
    [(each) => supportsStorageEngine(each, "ssd-sharded-rocksdb"), "7.1.99", "7.2.0"],
    [(each) => supportsStorageEngine(each, "ssd-redwood-1"), "7.2.99", "7.3.0"],
  ];
  for (const [gate, before, from] of gates) {
    assert.deepEqual(
      [gate(version(before)), gate(version(from))],
      [false, true],
      `${before} ${from}`,
    );
  }
  assert.ok(supportsStorageEngine(version("7.1.0"), "ssd-2"));
});
