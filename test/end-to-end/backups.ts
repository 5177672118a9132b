// A backup, a restore and a drill with every part a process of its own: a real API server, the rendered chart with the right
// to make drills, the operator with exactly its service account. Every right that backups are the reason for is used, none is
// missing, and no Secret can be read. Rules: spec/deploy.md [DEP25].
import assert from "node:assert/strict";
import path from "node:path";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec, BackupStatus } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import { machineClock } from "../../src/env/clock.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import { deployments } from "../../src/kube/resource.ts";
import { drillRules } from "../../src/operate/permissions.ts";
import { install, operatorNamespace as namespace } from "./installation.ts";
import { applyManifests, resourceOfObject } from "./manifests.ts";
import { startNodes, startOperator } from "./programs.ts";
import type { Program } from "./programs.ts";
import { forbiddenRights, rightsOf, usedRights } from "./rights.ts";
import { haste, sampleCluster, untilReconciled } from "./sample-cluster.ts";
import type { EndToEnd } from "./scenario.ts";

const clock = machineClock();
const examples = path.resolve(import.meta.dirname, "../../examples");
const backup = { namespace, name: "nightly" };
const name = "sample";

/** Rights that nothing but backups, restores and drills needs. */
const ofBackups = [
  "update apps.foundationdb.org/foundationdbbackups/status",
  "patch apps.foundationdb.org/foundationdbbackups",
  "update apps.foundationdb.org/foundationdbrestores/status",
  "get apps.foundationdb.org/foundationdbrestores",
  "patch apps.foundationdb.org/foundationdbrestores",
  "get /pods/log",
  "create apps/deployments",
  "update apps/deployments",
  "delete apps/deployments",
];

export async function backUpAndRestore(world: EndToEnd): Promise<void> {
  const { client, say, eventually } = world;
  const token = await install(world, ["drillAccess=true"]);
  const nodes = await startNodes(world, { nodes: 6, zones: 3, seed: 1, hurry: true });
  const settings = { token, namespace, databasePort: nodes.databasePort, flags: haste };
  let operator = startOperator(world, settings);
  await client.create(foundationDbClusters, sampleCluster(name));
  await untilReconciled(world, name, "creation", operator);

  await apply(world, "backup-drill.yaml");
  await change(world, { verification: await soon(world) });
  await untilStatus(world, operator, "restorable", (status) => status.backupDetails?.restorable);
  say("the backup can be restored");
  operator.kill("SIGKILL");
  await operator.ended;
  operator = startOperator(world, settings);
  await apply(world, "restore.yaml");
  await until(world, operator, "the restore is complete", async () => {
    const { status } = await client.get(foundationDbRestores, { namespace, name: "into-copy" });
    return { status, holds: status?.state === "completed" };
  });
  await eventually("the agents of the restore are gone", async () => {
    const found = await client.find(deployments, { namespace, name: "into-copy-restore-agents" });
    return found === undefined ? true : undefined;
  });
  say("a second cluster holds what was restored");

  const isVerified = (status: BackupStatus): boolean | undefined =>
    status.drill === undefined && status.lastVerification !== undefined;
  await untilStatus(world, operator, "a drill that has ended", isVerified);
  const { status } = await client.get(foundationDbBackups, backup);
  assert.equal(status?.lastVerification?.result, "Passed", status?.lastVerification?.message);
  say(`the drill: ${status?.lastVerification?.message ?? ""}`);

  await change(world, { agentCount: 3, deletionPolicy: "cleanup" });
  await eventually("three agents", async () => {
    const found = await client.find(deployments, { namespace, name: "nightly-backup-agents" });
    return found?.status?.readyReplicas === 3 ? true : undefined;
  });
  await eventually("the finalizer of a backup whose data is to go", async () => {
    const { metadata } = await client.get(foundationDbBackups, backup);
    return (metadata.finalizers ?? []).length > 0 ? true : undefined;
  });
  // It is the last backup of its database: somebody has to mean it.
  const annotations = { "foundationdb.org/delete-last-backup": backup.name };
  await client.patch(foundationDbBackups, backup, { metadata: { annotations } }, { type: "merge" });
  await client.delete(foundationDbRestores, { namespace, name: "into-copy" });
  await client.delete(foundationDbBackups, backup);
  await eventually("the backup is gone with its data and its agents", async () => {
    const kept = await client.find(foundationDbBackups, backup);
    const { items } = await client.list(deployments, { namespace });
    const isAgent = items.some(({ metadata }) => metadata.name === "nightly-backup-agents");
    return kept === undefined && !isAgent ? true : undefined;
  });
  await checkRights(world, token);
  operator.kill("SIGTERM");
  assert.equal(await operator.ended, 0, operator.lines.slice(-5).join("\n"));
}

async function apply({ client }: EndToEnd, file: string): Promise<void> {
  const documents = await readDocuments(path.join(examples, file));
  await applyManifests(
    client,
    documents.map(({ object }) => object),
    namespace,
  );
}

async function change({ client }: EndToEnd, spec: Partial<BackupSpec>): Promise<void> {
  await client.patch(foundationDbBackups, backup, { spec }, { type: "merge" });
}

/** The drills of the example, with the first one in one to two minutes. */
async function soon({ client }: EndToEnd): Promise<BackupSpec["verification"]> {
  const { spec } = await client.get(foundationDbBackups, backup);
  const due = new Date(clock.nowMs() + 2 * 60_000);
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const { verification } = spec;
  return verification && { ...verification, schedule: { cron, timeZone: "UTC" } };
}

async function untilStatus(
  world: EndToEnd,
  operator: Program,
  what: string,
  holds: (status: BackupStatus) => boolean | undefined,
): Promise<void> {
  await until(world, operator, what, async () => {
    const { status = {} } = await world.client.get(foundationDbBackups, backup);
    return { status, holds: holds(status) === true };
  });
}

/** Says what was seen last, and what the operator said, when it never holds. */
async function until(
  { eventually }: EndToEnd,
  operator: Program,
  what: string,
  look: () => Promise<{ status: unknown; holds: boolean }>,
): Promise<void> {
  let seen: unknown;
  try {
    await eventually(what, async () => {
      const { status, holds } = await look();
      seen = status;
      return holds ? true : undefined;
    });
  } catch (error) {
    const why = [what, JSON.stringify(seen), ...operator.lines.slice(-10)];
    throw new Error(why.join("\n"), { cause: error });
  }
}

async function checkRights({ controlPlane, say }: EndToEnd, token: string): Promise<void> {
  assert.deepEqual(forbiddenRights(controlPlane), []);
  const used = usedRights(controlPlane);
  const wanted = [...ofBackups, ...rightsOf(drillRules)];
  assert.deepEqual(
    wanted.filter((right) => !used.has(right)),
    [],
  );
  say(`${wanted.length} rights that backups need: all used, none missing`);
  const { url: server, caPem: certificateAuthority } = controlPlane;
  const transport = httpsTransport({ server, certificateAuthority, token });
  const asOperator = new KubeClient(transport, { userAgent: "operator" });
  const secrets = resourceOfObject({ apiVersion: "v1", kind: "Secret", metadata: {} });
  const key = { namespace, name: "backup-credentials" };
  const isForbidden = (error: unknown): boolean => isKubeError(error, "Forbidden");
  await assert.rejects(asOperator.get(secrets, key), isForbidden);
  await assert.rejects(asOperator.list(secrets, { namespace }), isForbidden);
  transport.close();
}
