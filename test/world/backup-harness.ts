// Backups in a world without anybody who operates them: a Deployment of agents, an object store with a credentials Secret,
// and bare pods that run a backup tool to its end.
import { strict as assert } from "node:assert";
import type { Container, Deployment, Pod, PodSpec } from "../../src/kube/generated/types.ts";
import { deployments, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { secrets } from "../../src/kube/resource.ts";
import type { ObjectStore } from "../../src/sim/backup/object-store.ts";
import type { TestWorld } from "./world-harness.ts";

const namespace = "default";
const image = "foundationdb/fdb-kubernetes-monitor:7.3.63";
const frugal = { requests: { cpu: "10m", memory: "16Mi" } };
export const storeAddress = "store.example.com:443";
export const clusterFile = "/var/dynamic-conf/fdb.cluster";

export function backupUrl(name: string): string {
  return `blobstore://KEY@store.example.com:443/${name}?bucket=backups&region=eu-1`;
}

/** The store of the world, and the Secret with its account. */
export async function createStore(world: TestWorld, secret = "SECRET"): Promise<ObjectStore> {
  const accounts = { accounts: { "KEY@store.example.com": { secret } } };
  await world.client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "store", namespace },
    data: { "blob.json": Buffer.from(JSON.stringify(accounts)).toString("base64") },
  });
  return world.world.fdb.objectStores.add(storeAddress, {
    accounts: { KEY: "SECRET" },
    buckets: ["backups"],
  });
}

/** The pod of an agent or of a command: the cluster file comes from the cluster's ConfigMap. */
function toolPod(clusterName: string, container: Partial<Container>): PodSpec {
  const dynamic = { name: "dynamic-conf", mountPath: "/var/dynamic-conf" };
  return {
    initContainers: [
      {
        name: "foundationdb-kubernetes-init",
        image,
        args: [
          ...[
            "--mode",
            "init",
            "--input-dir",
            "/var/input-files",
            "--output-dir",
            "/var/output-files",
          ],
          ...["--copy-file", "fdb.cluster", "--require-not-empty", "fdb.cluster"],
        ],
        resources: frugal,
        volumeMounts: [
          { name: "config-map", mountPath: "/var/input-files" },
          { name: "dynamic-conf", mountPath: "/var/output-files" },
        ],
      },
    ],
    containers: [
      {
        name: "foundationdb",
        image,
        env: [
          { name: "FDB_CLUSTER_FILE", value: clusterFile },
          { name: "FDB_BLOB_CREDENTIALS", value: "/var/store/blob.json" },
        ],
        resources: frugal,
        terminationMessagePolicy: "FallbackToLogsOnError",
        volumeMounts: [dynamic, { name: "store", mountPath: "/var/store" }],
        ...container,
      },
    ],
    volumes: [
      { name: "dynamic-conf", emptyDir: {} },
      { name: "store", secret: { secretName: "store" } },
      {
        name: "config-map",
        configMap: {
          name: `${clusterName}-config`,
          items: [{ key: "cluster-file", path: "fdb.cluster" }],
        },
      },
    ],
  };
}

export async function createAgents(
  world: TestWorld,
  clusterName: string,
  replicas: number,
): Promise<void> {
  const labels = { agents: clusterName };
  const deployment: Stored<Deployment> = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `${clusterName}-agents`, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: toolPod(clusterName, {
          command: ["backup_agent"],
          args: ["--log", "--logdir", "/var/log/fdb-trace-logs", "--locality_zoneid=agents"],
        }),
      },
    },
  };
  await world.client.create(deployments, deployment);
}

/** The names of the pods of agents that run. */
export async function agentPods(world: TestWorld, clusterName: string): Promise<Stored<Pod>[]> {
  const { items } = await world.client.list(pods, { namespace });
  return items.filter((pod) => pod.metadata.labels?.["agents"] === clusterName);
}

export interface CommandEnd {
  readonly pod: Stored<Pod>;
  readonly phase: string;
  readonly code: number | undefined;
  readonly message: string | undefined;
  readonly log: string;
}

let commands = 0;

/** Runs a tool as a bare pod until its main container has ended, and reads its log as everybody would. */
export async function runCommand(
  world: TestWorld,
  clusterName: string,
  command: readonly string[],
  deadlineSeconds = 300,
): Promise<CommandEnd> {
  commands += 1;
  const name = `command-${commands}`;
  const spec: PodSpec = {
    ...toolPod(clusterName, { command: [...command] }),
    restartPolicy: "Never",
    activeDeadlineSeconds: deadlineSeconds,
  };
  await world.client.create(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec,
  });
  const find = (): Promise<Stored<Pod>> => world.client.get(pods, { namespace, name });
  const endOf = (pod: Stored<Pod>) =>
    pod.status?.containerStatuses?.find((status) => status.name === "foundationdb")?.state
      ?.terminated;
  const what = `the end of ${command.join(" ")}`;
  const limitMs = (deadlineSeconds + 120) * 1000;
  await world.until(async () => endOf(await find()) !== undefined, what, limitMs, {
    name: clusterName,
  });
  const pod = await find();
  const answer = await world.world.transport.request({
    method: "GET",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/log`,
    query: { container: "foundationdb" },
  });
  assert.equal(answer.status, 200);
  const end = endOf(pod);
  const log = typeof answer.body === "string" ? answer.body : "";
  return { pod, phase: pod.status?.phase ?? "", code: end?.exitCode, message: end?.message, log };
}

/** The JSON in a log, from its first brace on. */
export function jsonOf(end: CommandEnd): Record<string, unknown> {
  return JSON.parse(end.log.slice(end.log.indexOf("{"))) as Record<string, unknown>;
}
