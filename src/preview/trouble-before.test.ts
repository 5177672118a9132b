// Rule PV18: a cluster that is not well before the change is said to be so.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { KubeObject } from "../kube/object.ts";
import type { Picture } from "./picture.ts";
import { otherArguments, troubleBefore } from "./trouble-before.ts";

type Told = Pick<Picture, "cluster" | "objects">;

function pictureWith(groups: Readonly<Record<string, readonly string[]>>, ready = "True"): Told {
  const processGroups = Object.entries(groups).map(([processGroupID, types]) => ({
    ...{ processGroupID, processClass: "log", addresses: [] },
    processGroupConditions: types.map((type) => ({ type, timestamp: 1 })),
  }));
  // Of the second nobody of this cluster has anything.
  const nodes = ["node-1", "node-2"].map((name) => ({
    ...{ apiVersion: "v1", kind: "Node", metadata: { name } },
    status: { conditions: [{ type: "Ready", status: ready }] },
  }));
  const pod = { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { nodeName: "node-1" } };
  const cluster = { metadata: {}, spec: { version: "7.3.63" }, status: { processGroups } };
  return { cluster, objects: [...nodes, pod] as KubeObject[] } as unknown as Told;
}

test("[PV18] process groups that are not well, and nodes that are not ready, are a warning", () => {
  const ill = { "log-2": ["MissingProcesses"], "log-1": ["PodFailing", "MissingProcesses"] };
  assert.deepEqual(troubleBefore(pictureWith({ ...ill, "log-3": [] }, "Unknown")), [
    "The cluster is not well before the change: log-1 and log-2 (MissingProcesses, PodFailing). Data or roles of theirs may have fewer copies, and what happens meanwhile depends on whether they come back",
    "Node node-1 is not ready, and stays so in the copy",
  ]);
});

test("[PV18] what is outdated, leaves or is drained is no trouble", () => {
  const fine = {
    ...{ "log-1": ["IncorrectCommandLine"], "log-2": ["NodeDraining"], "log-3": ["Ready"] },
    "log-4": ["ResourcesTerminating"],
  };
  assert.deepEqual(troubleBefore(pictureWith(fine)), []);
});

test("[PV18] [VW22] what leaves and is gone before its data was moved is counted as everywhere else", () => {
  const picture = pictureWith({ "log-1": ["MissingProcesses"], "log-2": ["MissingProcesses"] });
  const [first, second] = picture.cluster.status?.processGroups ?? [];
  const leaving = { faultDomain: "node-1", removalTimestamp: "2026-01-01T00:00:00Z" };
  Object.assign(first ?? {}, leaving);
  Object.assign(second ?? {}, leaving, { exclusionTimestamp: "2026-01-01T00:00:00Z" });
  assert.match(troubleBefore(picture).join(), /before the change: log-1 \(MissingProcesses\)/);
});

test("[PV18] processes that wait for a restart have their new arguments in the copy, and that is said", () => {
  assert.deepEqual(otherArguments(pictureWith({ "log-1": ["IncorrectCommandLine"] })), [
    "log-1 waits for a restart with new arguments; in the copy it has them already, and the restart is not part of what is told",
  ]);
  const several = { "log-1": ["IncorrectCommandLine"], "log-2": ["IncorrectCommandLine"] };
  assert.match(otherArguments(pictureWith(several)).join(), /^log-1 and log-2 wait .* they have/);
  assert.deepEqual(otherArguments(pictureWith({ "log-1": ["MissingProcesses"] })), []);
});
