// A cluster over halls as plain objects, for tests of decisions: nodes with zones, process groups in halls, and the draft
// with which every pass begins.
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { compareProcessGroups } from "../../src/model/process-group.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import type { Draft } from "../../src/plan/step.ts";
import { planObservedStatus } from "../../src/plan/status/update-status.ts";
import { PlanWorld } from "./plan-world.ts";

export const zoneLabel = "topology.kubernetes.io/zone";

export function nodesIn(...zones: readonly string[]): Stored<Node>[] {
  return zones.map((zone, index) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `node-${index}`, labels: { [zoneLabel]: zone } },
  }));
}

export const nineNodes = nodesIn("az1", "az2", "az3", "az1", "az2", "az3", "az1", "az2", "az3");

export function hallSpec(more: Partial<ClusterSpec> = {}): Partial<ClusterSpec> {
  return {
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [{ key: "data_hall", topologyKey: zoneLabel }],
    ...more,
  };
}

/** So many process groups of a class in each hall, numbered through. */
export function groupsIn(
  processClass: string,
  halls: Readonly<Record<string, number>>,
): ProcessGroupStatus[] {
  let number = 0;
  return Object.entries(halls).flatMap(([hall, count]) =>
    Array.from({ length: count }, () => {
      number += 1;
      return {
        processGroupID: `${processClass}-${number}`,
        processClass,
        hall,
        faultDomain: `${hall}-${number % 3}`,
      };
    }),
  );
}

export interface Scene {
  snapshot: Snapshot;
  draft: Draft;
}

export function hallScene(
  spec: Partial<ClusterSpec>,
  groups: readonly ProcessGroupStatus[] = [],
  more: Partial<Snapshot> = {},
): Scene {
  const world = new PlanWorld(spec);
  const processGroups = groups.toSorted(compareProcessGroups);
  const cluster = { ...world.cluster, status: { processGroups } };
  const snapshot = world.snapshot({ cluster, placementNodes: nineNodes, ...more });
  return {
    snapshot,
    draft: {
      ...planObservedStatus(snapshot),
      actions: [],
      isUnfinished: false,
      isHeldByWindow: false,
    },
  };
}
