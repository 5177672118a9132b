// A cluster that the Go operator made: objects and status as captured from a real one.
import { safetyChecks } from "../../src/plan/safety/checks.ts";
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { renderArgument } from "../../src/build/command-line.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { MonitorConfiguration } from "../../src/build/monitor-configuration.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod } from "../../src/kube/generated/types.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import { planCluster } from "../../src/plan/chain.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { defaultPlanOptions, nothingRemembered } from "../../src/plan/snapshot.ts";

function load<T extends KubeObject>(file: string, namespace?: string): Map<string, T> {
  const path = join(import.meta.dirname, "../data/go-operator", file);
  const document = parse(readFileSync(path, "utf8")) as T | { items: T[] };
  const objects = "items" in document ? document.items : [document];
  const wanted = objects.filter(
    (one) => namespace === undefined || one.metadata.namespace === namespace,
  );
  return new Map(wanted.map((object) => [object.metadata.name ?? "", object]));
}

/** A process as the pod's own monitor says it was started. */
function processOf(pod: Stored<Pod>): StatusProcess {
  const annotations = pod.metadata.annotations ?? {};
  const configuration = JSON.parse(
    annotations[annotationKeys.launcherConfiguration] ?? "",
  ) as MonitorConfiguration;
  const environment = JSON.parse(annotations[annotationKeys.launcherEnvironment] ?? "") as Record<
    string,
    string
  >;
  const words = configuration.arguments.map((argument) => renderArgument(argument, 1, environment));
  const command_line = ["/usr/bin/fdbserver", ...words].join(" ");
  const localities = [...command_line.matchAll(/--locality_(\w+)=(\S+)/g)];
  return {
    command_line,
    version: configuration.version,
    class_type: /--class=(\S+)/.exec(command_line)?.[1] ?? "",
    locality: Object.fromEntries(localities.map(([, key = "", value = ""]) => [key, value])),
    excluded: false,
  };
}

test("[P88] a cluster of the Go operator is taken over without any action", () => {
  const [cluster] = load<Stored<FoundationDBCluster>>("cluster.yaml").values();
  assert.ok(cluster !== undefined);
  const { namespace, name } = cluster.metadata;
  const pods = load<Stored<Pod>>("pods.yaml", namespace);
  const pvcs = load<Stored<PersistentVolumeClaim>>("pvcs.yaml", namespace);
  const nowMs = Date.parse("2026-11-15T09:00:00Z");
  const status: DatabaseStatus = {
    client: {
      coordinators: {
        quorum_reachable: true,
        coordinators: (cluster.status?.connectionString?.split("@")[1] ?? "")
          .split(",")
          .map((address) => ({ address, reachable: true })),
      },
      database_status: { available: true, healthy: true },
    },
    cluster: {
      connection_string: cluster.status?.connectionString,
      configuration: { ...cluster.status?.databaseConfiguration } as never,
      processes: Object.fromEntries([...pods].map(([key, pod]) => [key, processOf(pod)])),
      full_replication: true,
    },
  };
  const plan = planCluster({
    nowMs,
    cluster,
    pods,
    pvcs,
    services: new Map(),
    configMap: load<Stored<ConfigMap>>("configmaps.yaml", namespace).get(`${name}-config`),
    database: { kind: "seen", status, observedMs: nowMs },
    sidecars: new Map(),
    ...nothingRemembered,
    seed: 1,
    options: defaultPlanOptions,
    checks: safetyChecks,
    memory: new PlanMemory(),
  });
  assert.equal(pods.size, 15);
  assert.deepEqual(plan.actions, []);
  assert.ok(plan.isReconciled);
  const claims = new Map([...pvcs.values()].map(({ metadata }) => [metadata.uid, metadata.name]));
  const groups = plan.status.processGroups?.map(({ volumeClaim, ...group }) => {
    const podName = `${name}-${group.processGroupID}`;
    const isStateful = group.processClass !== "stateless";
    assert.equal(claims.get(volumeClaim), isStateful ? `${podName}-data` : undefined);
    return group;
  });
  assert.deepEqual(groups, cluster.status?.processGroups);
});
