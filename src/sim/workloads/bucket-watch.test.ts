// Which replacements beyond the limit are taken for a fault. Rules: spec/world.md [W97].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { BucketWatch } from "./bucket-watch.ts";

type Mode = "double" | "triple";

interface Counted {
  /** Of the failed one; the one that leaves is in x. */
  failedDomain?: string;
  faultDomainBasedReplacements?: boolean;
}

const removalTimestamp = "2026-01-01T00:00:00Z";

/** One leaves, and one that is down is replaced beside it; others stay and report in these zones. */
function violations(
  mode: Mode,
  processClass: string,
  zones: readonly string[],
  { failedDomain = "y", ...replacements }: Counted = {},
): string[] {
  const found: string[] = [];
  const watch = new BucketWatch((text) => found.push(text));
  const others = zones.map((faultDomain, index) => ({
    processGroupID: `${processClass}-${index + 3}`,
    processClass,
    faultDomain,
  }));
  const leaving = {
    processGroupID: `${processClass}-1`,
    processClass,
    faultDomain: "x",
    removalTimestamp,
  };
  const failed = {
    processGroupID: `${processClass}-2`,
    processClass,
    faultDomain: failedDomain,
    processGroupConditions: [{ type: "MissingProcesses" as const, timestamp: 1 }],
  };
  const cluster = (replaced: object): FoundationDBCluster => ({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "life" },
    spec: {
      version: "7.3.63",
      processCounts: { [processClass]: zones.length + 1 },
      databaseConfiguration: { redundancy_mode: mode },
      automationOptions: { replacements },
    },
    status: { processGroups: [leaving, { ...failed, ...replaced }, ...others] },
  });
  watch.noteCluster(cluster({}));
  watch.noteCluster(cluster({ removalTimestamp }));
  const message = `Replacing ${failed.processGroupID}: MissingProcesses since long ago`;
  watch.noteEvent({ reason: "ReplacingProcesses", message } as Parameters<
    BucketWatch["noteEvent"]
  >[0]);
  return found;
}

const cases: readonly [mode: Mode, processClass: string, zones: string[], isFault: boolean][] = [
  ["double", "storage", ["a"], false],
  ["triple", "storage", ["a", "b"], false],
  ["triple", "log", ["a", "b"], false],
  ["double", "storage", ["a", "a"], false],
  ["double", "storage", ["a", "b"], true],
  ["triple", "storage", ["a", "b", "c"], true],
  ["double", "stateless", ["a"], true],
];

for (const [mode, processClass, zones, isFault] of cases) {
  const verdict = isFault ? "is a fault" : "is none: the one that leaves may not go before";
  test(`[W97] ${mode}: a second ${processClass} beside others in ${zones.join(", ")} ${verdict}`, () => {
    const found = violations(mode, processClass, zones);
    assert.equal(found.length, isFault ? 1 : 0, found.join());
  });
}

for (const [failedDomain, faultDomainBasedReplacements, isFault] of [
  ["x", true, false],
  ["y", true, true],
  ["x", false, true],
] as const) {
  const unit = faultDomainBasedReplacements ? "fault domains" : "process groups";
  const place = failedDomain === "x" ? "the same zone" : "another zone";
  test(`[W97] a second storage of ${place} is ${isFault ? "a fault" : "none"} where ${unit} are counted`, () => {
    const counted = { failedDomain, faultDomainBasedReplacements };
    const found = violations("triple", "storage", ["a", "b", "c"], counted);
    assert.equal(found.length, isFault ? 1 : 0, found.join());
  });
}

test("[W97] a removal of which a person excluded one port still waits for who failed, and gives its place", () => {
  const databaseConfiguration = { redundancy_mode: "single" } as const;
  for (const isByPerson of [true, false]) {
    const found: string[] = [];
    const watch = new BucketWatch((text) => found.push(text));
    if (isByPerson) watch.noteExclusion("10.0.0.1:4501");
    const marked = [{ type: "ProcessIsMarkedAsExcluded" as const, timestamp: 1 }];
    const missing = [{ type: "MissingProcesses" as const, timestamp: 1 }];
    const cluster = (replaced: object): FoundationDBCluster => ({
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      metadata: { name: "life" },
      spec: { version: "7.3.63", processCounts: { storage: 2 }, databaseConfiguration },
      status: {
        processGroups: [
          {
            ...{ processGroupID: "storage-1", processClass: "storage", removalTimestamp },
            ...{ addresses: ["10.0.0.1"], processGroupConditions: marked },
          },
          {
            ...{ processGroupID: "storage-2", processClass: "storage", ...replaced },
            processGroupConditions: missing,
          },
          { processGroupID: "storage-3", processClass: "storage", faultDomain: "a" },
        ],
      },
    });
    watch.noteCluster(cluster({}));
    watch.noteCluster(cluster({ removalTimestamp }));
    const message = "Replacing storage-2: MissingProcesses since long ago";
    watch.noteEvent({ reason: "ReplacingProcesses", message } as Parameters<
      BucketWatch["noteEvent"]
    >[0]);
    assert.equal(found.length, isByPerson ? 0 : 1, found.join());
  }
});
