// Where data lies on a volume: who is believed, and what a new claim says.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type {
  ClusterSpec,
  ClusterStatus,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  layoutContext,
  layoutOfNewClaim,
  looksElsewhere,
  withDiskLayout,
  withLayoutOfClaim,
} from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";

const spec: ClusterSpec = { version: "7.3.63", imageType: "unified" };
const split: DiskLayout = { imageType: "split", servers: 1 };
const unified: DiskLayout = { imageType: "unified", servers: 1 };

function groupWith(diskLayout: string | undefined): ProcessGroup {
  const group = { processGroupID: "storage-1", processClass: "storage" };
  return diskLayout === undefined ? group : { ...group, diskLayout };
}

function claimWith(layout: string | undefined): Stored<PersistentVolumeClaim> {
  const annotations: Record<string, string> =
    layout === undefined ? {} : { [annotationKeys.diskLayout]: layout };
  const metadata = { name: "sample-storage-1-data", annotations };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata };
}

interface Case {
  readonly what: string;
  readonly pod?: DiskLayout;
  readonly noted?: string;
  readonly claim?: string;
  /** What the status told of all pods when it was stored last. */
  readonly stored?: ClusterStatus;
  readonly found: string | undefined;
}

const wasSplit: ClusterStatus = { imageTypes: ["split"] };
const served: ClusterStatus = {
  ...{ ...wasSplit, configured: true },
  processGroups: [{ processGroupID: "storage-1", processClass: "storage" }],
};
const mixed: ClusterStatus = { ...served, imageTypes: ["split", "unified"] };
const cases: readonly Case[] = [
  { what: "nobody knows", found: undefined },
  { what: "a pod knows best", pod: split, noted: "3", claim: "2", found: "root" },
  { what: "a pod as wanted", pod: unified, noted: "3", claim: "2", found: undefined },
  { what: "then the note of the group", noted: "3", claim: "2", stored: wasSplit, found: "3" },
  {
    what: "or what all of a database had that was seen",
    claim: "2",
    stored: served,
    found: "root",
  },
  { what: "not where there were several kinds", claim: "2", stored: mixed, found: "2" },
  {
    what: "nor of a group that is new to the status",
    ...{ claim: "2", stored: { ...served, processGroups: [] }, found: "2" },
  },
  { what: "then the claim", claim: "2", stored: wasSplit, found: "2" },
  { what: "a claim at the root", claim: "root", found: "root" },
  { what: "a claim as wanted", claim: "1", stored: wasSplit, found: undefined },
  { what: "then what there was last", stored: wasSplit, found: "root" },
  ...["", "0", "-1", "02", "1.5", "1e1", "ROOT", "folder", "99999999999"].map((claim) => ({
    ...{ what: `the claim says "${claim}", which makes no sense`, claim },
    ...{ stored: wasSplit, found: "root" },
  })),
];

for (const { what, pod, noted, claim, stored, found } of cases) {
  test(`[P98] where data lies: ${what}`, () => {
    const context = layoutContext(spec, stored, { imageTypes: ["unified"] });
    const group = withDiskLayout(context, groupWith(noted), pod, claimWith(claim));
    assert.equal(group.diskLayout, found);
  });
}

const configMaps: [
  what: string,
  keys: string[],
  stored: ClusterStatus | undefined,
  found?: string,
][] = [
  ["split pods", ["storage", "log-density-2"], undefined, "root"],
  ["split pods with several servers", ["storage-density-3", "log"], undefined, "3"],
  ["pods as wanted", ["storage-json", "log-json"], undefined],
  ["both kinds", ["storage", "storage-json"], undefined],
  ["split pods, and a status is there", ["storage"], { imageTypes: ["unified"] }],
];
for (const [what, keys, stored, found] of configMaps) {
  test(`[P98] the ConfigMap remembers ${what}`, () => {
    const data = Object.fromEntries(keys.map((key) => [`fdbmonitor-conf-${key}`, ""]));
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: {}, data } as const;
    const context = layoutContext(spec, stored, { imageTypes: ["unified"] }, map);
    const group = withDiskLayout(context, groupWith(undefined), undefined, claimWith(undefined));
    assert.equal(group.diskLayout, found);
  });
}

test("[P98] what a claim says is noted also when it is wanted, while there are several kinds of pods", () => {
  const context = layoutContext(spec, undefined, { imageTypes: ["split", "unified"] });
  assert.equal(
    withDiskLayout(context, groupWith(undefined), undefined, claimWith("1")).diskLayout,
    "1",
  );
});

test("[P98] a new claim says where the pod that will use it keeps data", () => {
  assert.equal(layoutOfNewClaim(spec, groupWith(undefined)), "1");
  assert.equal(layoutOfNewClaim({ ...spec, imageType: "split" }, groupWith(undefined)), "root");
  assert.equal(layoutOfNewClaim({ ...spec, storageServersPerPod: 2 }, groupWith(undefined)), "2");
  for (const kept of ["root", "1", "2"]) {
    assert.equal(layoutOfNewClaim(spec, groupWith(kept)), kept, "as the pod is that comes back");
  }
});

const adopted: readonly Omit<Case, "pod" | "stored">[] = [
  { what: "the claim tells another place", claim: "2", found: "2" },
  { what: "and so it did before", noted: "2", claim: "2", found: "2" },
  { what: "the claim tells the wanted place", noted: "2", claim: "1", found: undefined },
  { what: "the claim tells nothing any more: the spec counts", noted: "2", found: undefined },
  { what: "what the claim says makes no sense: the spec counts", claim: "none", found: undefined },
];

for (const { what, noted, claim, found } of adopted) {
  test(`[ADO7] where data lies before the database has been seen: ${what}`, () => {
    const group = withLayoutOfClaim(spec, groupWith(noted), claimWith(claim));
    assert.equal(group.diskLayout, found);
  });
}

test("[ADO7] a claim that is not there says nothing about where data lies", () => {
  assert.equal(withLayoutOfClaim(spec, groupWith("2"), undefined).diskLayout, "2");
});

test("[P115] a pod looks elsewhere only where its claim says so", () => {
  assert.equal(looksElsewhere(unified, claimWith("root")), true);
  assert.equal(looksElsewhere(split, claimWith("root")), false);
  assert.equal(looksElsewhere(unified, claimWith("folder")), false);
  assert.equal(looksElsewhere(unified, claimWith(undefined)), false);
  assert.equal(looksElsewhere(unified, undefined), false);
  assert.equal(looksElsewhere(undefined, claimWith("root")), false);
});
