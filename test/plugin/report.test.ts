// Rules PIC30 to PIC36: `kubectl fdb report` in a world, with secrets in all places, without rights, and while things go wrong.
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { KubeError } from "../../src/kube/error.ts";
import { configMaps, deployments, events, pods, secrets } from "../../src/kube/resource.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import { loadPicture } from "../../src/preview/save-picture.ts";
import { filesOfTar } from "../../src/preview/tar.ts";
import { frugalProcesses, TestWorld, tiny } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";
import type { PluginOptions, PluginResult } from "./plugin-harness.ts";

const place = mkdtempSync(join(tmpdir(), "reports-"));
after(() => rmSync(place, { recursive: true }));

let count = 0;
function newFile(): string {
  count += 1;
  return join(place, `report-${count}.tar.gz`);
}

/** The file is written while virtual time flies by. */
function report(
  world: TestWorld,
  args: readonly string[],
  options: PluginOptions = {},
): Promise<PluginResult> {
  const limitMs = 30 * 24 * 3_600_000;
  return runPlugin(world, ["report", ...args], { exec: world.world.pods, limitMs, ...options });
}

function filesOf(file: string): Map<string, string> {
  const files = filesOfTar(gunzipSync(readFileSync(file))) ?? [];
  return new Map(
    files.map(({ path, content }) => [
      path.slice(path.indexOf("/") + 1),
      Buffer.from(content).toString(),
    ]),
  );
}

/** Answers some requests otherwise than the server. */
function answering(
  other: (request: KubeRequest) => { status: number; body: unknown } | undefined,
): (transport: KubeTransport) => KubeTransport {
  return (transport) => ({
    request: async (request) => other(request) ?? transport.request(request),
    watch: (request, onEvent) => transport.watch(request, onEvent),
  });
}

function forbidding(isForbidden: (path: string) => boolean) {
  return answering(({ path }) =>
    isForbidden(path)
      ? { status: 403, body: { kind: "Status", reason: "Forbidden", message: "no", code: 403 } }
      : undefined,
  );
}

const planted = {
  secret: "Planted-in-a-Secret-01",
  environment: "Planted-in-environment-02",
  annotation: "Planted-in-annotation-03",
  applied: "Planted-in-last-applied-04",
  argument: "Planted-in-argument-05",
  data: "Planted-in-config-map-06",
  privateKey: "UGxhbnRlZEtleU1hdGVyaWFs07",
  token: "Planted-Token-in-a-log-08",
  url: "Planted-in-a-URL-09",
  account: "PLANTEDKEY10",
  accountSecret: "Planted/Blob+Secret11",
  event: "Planted-in-an-event-12",
  foreign: "Planted-in-foreign-map-13",
  parameter: "Planted-parameter-14",
  probe: "Planted-in-a-probe-15",
};

const pem = `-----BEGIN PRIVATE KEY-----\n${planted.privateKey}\n-----END PRIVATE KEY-----`;
const [general] = Object.values(frugalProcesses);
const [main, sidecar] = general?.podTemplate?.spec?.containers ?? [];

const logs = [
  `connect with ${planted.environment} and ${planted.argument}`,
  `Authorization: Bearer ${planted.token}`,
  `again, without a name: ${planted.token}`,
  `GET https://bob:${planted.url}@example.com/x 403`,
  `backup to blobstore://${planted.account}:${encodeURIComponent(planted.accountSecret)}@store.example.com/x`,
  `raw ${planted.accountSecret} and base64 ${Buffer.from(planted.environment).toString("base64")}`,
  pem,
  JSON.stringify({ message: pem, token: planted.token, data: planted.data }),
].join("\n");

const withLogs = answering(({ path }) => {
  assert.ok(!path.includes("/secrets"), path);
  return path.endsWith("/log") ? { status: 200, body: logs } : undefined;
});

async function plant(world: TestWorld): Promise<void> {
  const { client } = world;
  const metadata = { namespace: "default" };
  await client.create(secrets, {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { ...metadata, name: "credentials" } },
    stringData: { password: planted.secret },
  });
  await client.create(configMaps, {
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: {
      ...{ ...metadata, name: "sample-extra" },
      labels: { "foundationdb.org/fdb-cluster-name": "sample" },
    },
    data: { "tls.key": pem, other: planted.foreign },
  });
  await world.createCluster({
    ...tiny,
    configMap: { metadata: {}, data: { "my.conf": planted.data, "tls.key": pem } },
    trustedCAs: [pem],
    processes: {
      general: {
        customParameters: [`tls_password=${planted.parameter}`],
        podTemplate: {
          metadata: { annotations: { "example.com/inject": planted.annotation } },
          spec: {
            containers: [
              {
                ...{ ...main, name: "foundationdb" },
                env: [
                  { name: "STORE_PASSWORD", value: planted.environment },
                  {
                    name: "FROM_SECRET",
                    valueFrom: { secretKeyRef: { name: "credentials", key: "password" } },
                  },
                ],
              },
              { ...sidecar, name: "foundationdb-kubernetes-sidecar" },
              {
                ...{ name: "exporter", image: "example.com/exporter:1" },
                args: ["--password", planted.argument, `--dsn=pg://bob:${planted.url}@db/x`],
                livenessProbe: {
                  exec: { command: ["curl", "-H", `X-Key: ${planted.probe}`] },
                  periodSeconds: 1000,
                },
              },
            ],
          },
        },
      },
    },
  });
  await world.untilReconciled();
  await client.patch(
    foundationDbClusters,
    { ...metadata, name: "sample" },
    {
      metadata: {
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({
            spec: { env: [{ name: "OLD", value: planted.applied }] },
          }),
        },
      },
    },
    { type: "merge" },
  );
  await client.create(foundationDbBackups, {
    ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
    metadata: { ...metadata, name: "nightly" },
    spec: {
      clusterName: "sample",
      version: "7.3.63",
      blobStoreConfiguration: {
        accountName: `${planted.account}:${planted.accountSecret}@store.example.com`,
      },
    },
  });
  await client.create(events, {
    ...{ apiVersion: "v1", kind: "Event", metadata: { ...metadata, name: "told" } },
    involvedObject: { kind: "FoundationDBCluster", name: "sample", namespace: "default" },
    ...{ type: "Warning", reason: "Failed" },
    message: `exec env TOKEN=${planted.event} of ${planted.environment} failed`,
  });
  await world.clock.advance(60_000);
}

test("[PIC36] [PIC30] secrets that were put everywhere are in no byte of a bundle", async () => {
  await TestWorld.run({}, async (world) => {
    await plant(world);
    const file = newFile();
    const { code, out, notes } = await report(world, ["sample", "-f", file], {
      through: withLogs,
    });
    assert.equal(code, 0, notes);
    assert.match(out, /report-1\.tar\.gz: \d+ files, \d+ KiB\n$/);
    const { status } = await world.cluster();
    const key = /:(\w+)@/.exec(status?.connectionString ?? "")?.[1] ?? "";
    const files = filesOf(file);
    for (const [name, secret] of Object.entries({ ...planted, key })) {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")];
      for (const [path, text] of [...files, ["standard error", notes] as const]) {
        for (const form of forms) assert.ok(!text.includes(form), `${name} ${form} in ${path}`);
      }
    }
    assert.ok([...files.keys()].some((path) => path.startsWith("logs/pods/sample-")));
    assert.ok(files.has("resources/foundationdbbackups.yaml"));
    assert.match(files.get("explain.txt") ?? "", /default\/sample/);
    // The cluster rests in the picture, too.
    const picture = loadPicture(file);
    assert.equal(picture.cluster.metadata.name, "sample");
    assert.deepEqual(picture.left, []);
    assert.ok(picture.databaseStatus !== undefined);
    const listed = execFileSync("tar", ["-tzf", file], { encoding: "utf8" });
    assert.equal(listed.trim().split("\n").length, files.size);
  });
});

test("[PIC35] whoever is interrupted writes nothing", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const file = newFile();
    const interruption = new AbortController();
    const through = answering(({ path }) => {
      if (path.endsWith("/log")) interruption.abort();
      return undefined;
    });
    const { signal } = interruption;
    const { code, notes } = await report(world, ["sample", "-f", file], { through, signal });
    assert.equal(code, 1);
    assert.match(notes, /interrupted: no bundle was written/);
    assert.equal(existsSync(file), false);
  });
});

test("[PIC32] somebody who may read nothing but the cluster gets a bundle that says so", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const file = newFile();
    const { code, notes } = await report(world, ["sample", "-f", file], {
      through: forbidding((path) => !path.endsWith("/foundationdbclusters/sample")),
    });
    assert.equal(code, 0, notes);
    const index = filesOf(file).get("index.md") ?? "";
    for (const what of ["pods", "nodes", "events", "backups", "volume claims", "operator"]) {
      assert.match(index, new RegExp(`\\| ${what} \\| not allowed \\|`), what);
      assert.match(notes, new RegExp(`left out: ${what} \\(not allowed\\)`));
    }
    assert.match(index, /\| status of the database \| no pod of the cluster runs \|/);
  });
});

test("[PIC32] a cluster that is deleted half-way gives what is left of it", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const file = newFile();
    let asked = 0;
    const through = answering(({ path }) => {
      asked += path.includes("foundationdbclusters/sample") ? 1 : 0;
      if (asked < 2) return undefined;
      const list = { kind: "List", metadata: { resourceVersion: "1" }, items: [] };
      if (!/\/(sample|log)$/.test(path)) return { status: 200, body: list };
      const status = { kind: "Status", status: "Failure", apiVersion: "v1" };
      const body = { ...status, reason: "NotFound", message: '"sample" not found', code: 404 };
      return { status: 404, body };
    });
    const { code, notes } = await report(world, ["sample", "-f", file], { through });
    assert.equal(code, 0, notes);
    assert.match(filesOf(file).get("index.md") ?? "", /\| explanation \| there is no /);
    assert.equal(loadPicture(file).cluster.metadata.name, "sample");
  });
});

test("[PIC32] pods without a status are told", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await world.client.create(pods, {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        ...{ name: "sample-bare", namespace: "default" },
        labels: { "foundationdb.org/fdb-cluster-name": "sample" },
      },
      spec: { nodeSelector: { no: "where" }, containers: [{ name: "x", image: "x" }] },
    });
    const file = newFile();
    const { code } = await report(world, ["sample", "-f", file]);
    assert.equal(code, 0);
    assert.match(filesOf(file).get("index.md") ?? "", /\| sample-bare \| Pending \| none \| 0 \|/);
  });
});

test("[PIC32] an API server that stops to answer ends the reading, and what came is kept", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const file = newFile();
    const through = (transport: KubeTransport): KubeTransport => ({
      request: (request) =>
        request.path.endsWith("foundationdbclusters/sample")
          ? transport.request(request)
          : silence(world, request),
      watch: (request, onEvent) => transport.watch(request, onEvent),
    });
    const args = ["sample", "-f", file, "--timeout", "60s"];
    const { code, notes } = await report(world, args, { through });
    assert.equal(code, 0, notes);
    assert.match(filesOf(file).get("index.md") ?? "", /no time left|in time/);
  });
});

function silence({ clock }: TestWorld, { signal }: KubeRequest): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(new KubeError(0, "Aborted", "given up"));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    // As the transport of a person does after 15 seconds.
    clock.setTimer(15_000, () => reject(new KubeError(0, "Timeout", "no answer")));
  });
}

test("[PIC30] the operator's Deployment and its log are in the bundle", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await world.client.create(deployments, {
      ...{ apiVersion: "apps/v1", kind: "Deployment" },
      metadata: { name: "fdb-operator", namespace: "default" },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: "fdb-operator" } },
        template: {
          metadata: { labels: { app: "fdb-operator" } },
          spec: { containers: [{ name: "operator", image: "example.com/controller:1.2.3" }] },
        },
      },
    });
    await world.clock.advance(60_000);
    const file = newFile();
    await report(world, ["sample", "-f", file], { through: withLogs });
    const files = filesOf(file);
    assert.ok(
      [...files.keys()].some((path) =>
        /^logs\/operator\/fdb-operator-.*\/operator\.log$/.test(path),
      ),
    );
    assert.match(files.get("index.md") ?? "", /\| operator \| example\.com\/controller:1\.2\.3 \|/);
  });
});

test("[PIC35] mistakes on the command line are told before anything is read", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const file = newFile();
    writeFileSync(file, "precious");
    const told = async (...args: string[]) => {
      const { code, notes } = await report(world, [...args]);
      return `${code} ${notes.trim()}`;
    };
    assert.match(await told("sample", "-f", file), /^1 .*exists already/);
    assert.match(await told("simple", "-f", newFile()), /^1 .*did you mean sample/);
    assert.match(await told("sample", "--log-lines", "-1"), /^2 .*from 0 to 100000/);
    assert.match(await told("sample", "--status", join(place, "none")), /^1 .*cannot read/);
    writeFileSync(join(place, "status.txt"), "hello");
    assert.match(
      await told("sample", "--status", join(place, "status.txt")),
      /^1 .*no status of a/,
    );
    assert.match(
      await told("sample", "-f", join(place, "no", "where.tar.gz")),
      /^1[\s\S]*cannot write/,
    );
    assert.equal(readFileSync(file, "utf8"), "precious");
    assert.deepEqual(
      readdirSync(place).filter((name) => name.includes("partial")),
      [],
    );
  });
});
