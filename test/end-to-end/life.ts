// The life of a cluster with every part a process of its own: a real API server, the rendered chart, the operator with
// exactly its service account, nodes and a database. The operator is killed in the middle of each change.
// Rules: spec/deploy.md [DEP16], [DEP17].
import assert from "node:assert/strict";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { pods as podKind } from "../../src/kube/resource.ts";
import { leaseRules, namespacedRules, nodeRules } from "../../src/operate/permissions.ts";
import { eventually } from "../eventually.ts";
import { install, operatorNamespace as namespace, operatorUser } from "./installation.ts";
import { startNodes, startOperator } from "./programs.ts";
import type { Program } from "./programs.ts";
import { forbiddenRights, rightsOf, usedRights } from "./rights.ts";
import {
  assertSameVolumes,
  haste,
  sampleCluster,
  storageVolumes,
  untilReconciled,
} from "./sample-cluster.ts";
import type { EndToEnd } from "./scenario.ts";

interface Change {
  readonly title: string;
  readonly patch: (cluster: FoundationDBCluster) => unknown;
  /** From the change to the death of the operator. */
  readonly killedAfterMs: number;
  /** No storage volume may come or go. */
  readonly keepsStorage?: boolean;
  /** Every pod stays the one that it is. */
  readonly keepsPods?: boolean;
}

/** Outside of Kubernetes, where the operator and the nodes of these tests are. */
const anywhere = [{ ipBlock: { cidr: "0.0.0.0/0" } }];

const changes: readonly Change[] = [
  {
    title: "keep a budget for evictions and a network policy",
    patch: () => ({
      automationOptions: { drains: { enabled: true } },
      networkPolicy: { enabled: true, operator: anywhere },
    }),
    killedAfterMs: 500,
    keepsStorage: true,
  },
  {
    title: "give running pods other CPU and memory",
    patch: ({ spec }) => {
      const { containers = [] } = spec.processes?.["general"]?.podTemplate?.spec ?? {};
      const amounts = { cpu: "600m", memory: "1Gi" };
      const main = { name: "foundationdb", resources: { requests: amounts, limits: amounts } };
      const others = containers.filter(({ name: each }) => each !== main.name);
      const podTemplate = { spec: { containers: [main, ...others] } };
      return { processes: { general: { podTemplate } } };
    },
    killedAfterMs: 700,
    keepsStorage: true,
    keepsPods: true,
  },
  {
    title: "scale storage 3 to 5, with somebody more in the network policy",
    patch: () => ({ processCounts: { storage: 5 }, networkPolicy: { clients: anywhere } }),
    killedAfterMs: 900,
  },
  {
    title: "roll out a knob",
    patch: () => ({
      processes: { general: { customParameters: ["knob_disable_posix_kernel_aio=1"] } },
    }),
    killedAfterMs: 1500,
    keepsStorage: true,
  },
  {
    title: "replace a storage process group",
    patch: (cluster) => ({
      processGroupsToRemove: [firstOf(cluster, "storage")],
    }),
    killedAfterMs: 2500,
  },
  {
    title: "scale storage 5 to 3",
    patch: () => ({ processCounts: { storage: 3 } }),
    killedAfterMs: 2000,
  },
  {
    title: "upgrade",
    patch: () => ({ version: "7.3.69" }),
    killedAfterMs: 4000,
    keepsStorage: true,
  },
  {
    title: "keep no budget for evictions and no network policy",
    patch: () => ({
      automationOptions: { drains: { enabled: false } },
      networkPolicy: { enabled: false },
    }),
    killedAfterMs: 500,
    keepsStorage: true,
  },
];

const clock = machineClock();
const name = "sample";

export async function liveThroughKills(world: EndToEnd): Promise<void> {
  const { client, say } = world;
  const token = await install(world);
  const nodes = await startNodes(world, { nodes: 6, zones: 3, seed: 1, hurry: true });
  const settings = { token, namespace, databasePort: nodes.databasePort, flags: haste };
  let operator = startOperator(world, settings);
  await client.create(foundationDbClusters, sampleCluster(name));
  await sleep(clock, 1500);
  operator = await replaceOperator(operator, () => startOperator(world, settings));
  await untilReconciled(world, name, "creation", operator);
  for (const change of changes) {
    const startedMs = clock.nowMs();
    const volumes = await storageVolumes(world, name);
    const pods = await podUids(world);
    const cluster = await client.get(foundationDbClusters, { namespace, name });
    const patch = { spec: change.patch(cluster) };
    await client.patch(foundationDbClusters, { namespace, name }, patch, { type: "merge" });
    await sleep(clock, change.killedAfterMs);
    operator = await replaceOperator(operator, () => startOperator(world, settings));
    await untilReconciled(world, name, change.title, operator);
    if (change.keepsStorage === true) {
      await assertSameVolumes(world, name, volumes, change.title);
    }
    if (change.keepsPods === true) assert.deepEqual(await podUids(world), pods, change.title);
    say(`${change.title}: ${Math.round((clock.nowMs() - startedMs) / 1000)} s`);
  }
  await checkRights(world);
  // One that is still starting would end at the first signal, before it can do so in order.
  await eventually("the operator works", async () =>
    operator.lines.find((line) => line.includes("the operator works")),
  );
  operator.kill("SIGTERM");
  assert.equal(await operator.ended, 0, operator.lines.slice(-5).join("\n"));
}

async function podUids({ client }: EndToEnd): Promise<string[]> {
  const labelSelector = "foundationdb.org/fdb-process-group-id";
  const { items } = await client.list(podKind, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.uid ?? "").sort();
}

async function replaceOperator(old: Program, startNew: () => Program): Promise<Program> {
  old.kill("SIGKILL");
  await old.ended;
  return startNew();
}

/** Nothing was forbidden, and what was granted but not used is listed. */
async function checkRights({ controlPlane, say }: EndToEnd): Promise<void> {
  const requests = controlPlane.audited(operatorUser);
  assert.ok(requests.length > 100, `only ${requests.length} requests were audited`);
  assert.deepEqual(forbiddenRights(controlPlane), []);
  const used = usedRights(controlPlane);
  const granted = rightsOf([...namespacedRules, ...leaseRules, ...nodeRules]);
  const unused = granted.filter((right) => !used.has(right));
  say(`${granted.length} rights granted, ${requests.length} requests, none forbidden`);
  say(`granted and not used in this life: ${unused.join(", ")}`);
  assert.deepEqual(
    unused.filter((right) => !rarelyUsed.has(right)),
    [],
  );
}

/** Rights of moments that this life does not have, each with its moment. */
const rarelyUsed = new Map([
  ["get /pods", "the answer to a creation was lost"],
  ["get /persistentvolumeclaims", "the answer to a creation was lost"],
  ["get /services", "the answer to a creation was lost"],
  ["get /configmaps", "the answer to a creation was lost"],
  ["get policy/poddisruptionbudgets", "the answer to a creation was lost"],
  ["get networking.k8s.io/networkpolicies", "the answer to a creation was lost"],
  ["create /services", "public addresses or DNS names"],
  ["update /services", "public addresses or DNS names"],
  ["delete /services", "public addresses or DNS names"],
  ["patch /persistentvolumeclaims", "labels or sizes of claims change"],
  ["patch /events", "an event happens again"],
  ["get apps.foundationdb.org/foundationdbclusters", "a status write met a conflict"],
  ["patch apps.foundationdb.org/foundationdbclusters", "protection from deletion"],
  ["update apps.foundationdb.org/foundationdbbackups/status", "a backup is asked for"],
  ["get apps.foundationdb.org/foundationdbbackups", "a status write met a conflict"],
  ["patch apps.foundationdb.org/foundationdbbackups", "the deletion of a backup does something"],
  ["get /pods/log", "a retention looks at what is old"],
  ["get apps/deployments", "the answer to a creation was lost"],
  ["create apps/deployments", "a backup is asked for"],
  ["update apps/deployments", "the agents of a backup change"],
  ["delete apps/deployments", "a backup shall have no agents"],
  ["update apps.foundationdb.org/foundationdbrestores/status", "a restore is asked for"],
  ["get apps.foundationdb.org/foundationdbrestores", "a restore is about to be started"],
  ["patch apps.foundationdb.org/foundationdbrestores", "a restore may have to be aborted"],
]);

function firstOf(cluster: FoundationDBCluster, processClass: string): string {
  const groups = cluster.status?.processGroups ?? [];
  const found = groups.find((group) => group.processClass === processClass);
  return found?.processGroupID ?? "";
}
