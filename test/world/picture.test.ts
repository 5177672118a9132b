// Rules PIC1 to PIC4, PIC10 to PIC15, PIC20: a picture of a cluster in a world, what is secret in it, and that the operator would do
// the same with what was kept.
import { strict as assert } from "node:assert";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { ConfigMap, Pod } from "../../src/kube/generated/types.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { PodExec } from "../../src/kube/pod-exec.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { desiredOf } from "../../src/preview/picture-hashes.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { redactPicture } from "../../src/preview/redact-picture.ts";
import { loadPicture, savePicture } from "../../src/preview/save-picture.ts";
import { podNameOf } from "../../src/model/process-group-id.ts";
import { takePicture } from "../../src/preview/take-picture.ts";
import type { PictureOptions } from "../../src/preview/take-picture.ts";
import { spoiled } from "./spoiled-cluster.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const versions = { plugin: "1.0.0" };

async function pictureOf(
  world: TestWorld,
  exec: PodExec = world.world.pods,
  options: Partial<PictureOptions> & { client?: KubeClient } = {},
): Promise<Picture> {
  const { client = world.client, ...rest } = options;
  const source = { client, exec, clock: world.clock };
  const taking = takePicture(source, await world.cluster(), { versions, ...rest });
  return world.during(taking, 5 * minuteMs, "the picture");
}

const secrets = [
  "extra-Secret-1",
  "inject-Secret-2",
  "environment-Secret-3",
  "argument-Secret-4",
  "positional5",
  "exporter-Secret-6",
];

for (const imageType of ["unified", "split"] as const) {
  test(`[PIC10] [PIC14] a picture of a resting cluster (${imageType}) has no secrets and still rests`, async () => {
    await TestWorld.runWithCluster({ spec: { ...spoiled, imageType } }, async (world) => {
      const picture = await pictureOf(world);
      assert.deepEqual(picture.left, []);
      assert.deepEqual(restlessness(picture), []);
      const { picture: clean } = redactPicture(picture);
      assert.deepEqual(restlessness(clean), []);
      const key = /:(\w+)@/.exec(picture.cluster.status?.connectionString ?? "")?.[1] ?? "";
      const text = JSON.stringify(clean);
      const found = [...secrets, key].filter((secret) => text.includes(secret));
      assert.deepEqual(found, []);
      assert.ok(!/tls_password=pw7/.test(text) && !/"zq"/.test(text));
      assert.deepEqual(redactPicture(clean).picture, clean);
    });
  });
}

/** What the operator would have to do: hashes, metadata and configuration that are not those of the resource. */
function restlessness({ cluster, objects, databaseStatus }: Picture): string[] {
  const [desired] = desiredOf(cluster);
  assert.ok(desired !== undefined);
  const found: string[] = [];
  const commandLines = new Set(commandLinesIn(databaseStatus));
  for (const group of cluster.status?.processGroups ?? []) {
    const { processClass, processGroupID } = group;
    const name = podNameOf(cluster.metadata.name ?? "", processClass, processGroupID);
    const pod = objectOf(objects, "Pod", name) as Stored<Pod>;
    const claim = objectOf(objects, "PersistentVolumeClaim", `${name}-data`);
    const annotations = pod.metadata.annotations ?? {};
    if (annotations[annotationKeys.lastAppliedSpec] !== desired.pod(group)?.specHash) {
      found.push(`${name}: spec`);
    }
    if (annotations[annotationKeys.lastAppliedConfigMap] !== desired.configHash(group, pod)) {
      found.push(`${name}: configuration`);
    }
    if (desired.podMetadataPatch(group, pod) !== undefined) found.push(`${name}: metadata`);
    const text = annotations[annotationKeys.launcherConfiguration];
    if (text !== undefined) {
      if (!desired.isCurrentConfiguration(group, pod, text)) found.push(`${name}: launcher`);
      const variables = JSON.parse(annotations[annotationKeys.launcherEnvironment] ?? "{}");
      const line = desired.commandLine(group, pod, 1, variables as Record<string, string>);
      if (!commandLines.has(line)) found.push(`${name}: ${line}`);
    }
    const hash = claim?.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    if (hash !== desired.pvc(group)?.specHash) found.push(`${name}: claim`);
  }
  const map = objectOf(objects, "ConfigMap", "sample-config") as Stored<ConfigMap>;
  for (const [key, value] of Object.entries(desired.configMap.data ?? {})) {
    if (map.data?.[key] !== value) found.push(`config map: ${key}`);
  }
  return found;
}

function commandLinesIn(status: unknown): string[] {
  const { cluster } = status as {
    cluster: { processes: Record<string, { command_line: string }> };
  };
  return Object.values(cluster.processes).map(({ command_line: line }) => line);
}

function objectOf(objects: readonly KubeObject[], kind: string, name: string) {
  return objects.find((object) => object.kind === kind && object.metadata.name === name);
}

test("[PIC14] what did not agree before does not agree afterwards", async () => {
  await TestWorld.runWithCluster({ spec: spoiled }, async (world) => {
    const picture = await pictureOf(world);
    const changed = changedTemplate(picture.cluster);
    const restless = { ...picture, cluster: changed };
    const before = restlessness(restless);
    assert.equal(before.filter((line) => line.endsWith(": spec")).length, 3);
    const clean = redactPicture(restless).picture;
    assert.deepEqual(restlessness(clean), before);
    const hashOf = (from: Picture) =>
      from.objects.map(({ metadata }) => metadata.annotations?.[annotationKeys.lastAppliedSpec]);
    const [old, hidden] = [hashOf(restless), hashOf(clean)];
    const podHashes = restless.objects.flatMap(({ kind }, index) =>
      kind === "Pod" ? [index] : [],
    );
    for (const index of podHashes) assert.notEqual(old[index], hidden[index]);
  });
});

function changedTemplate(cluster: FoundationDBCluster): FoundationDBCluster {
  const text = JSON.stringify(cluster).replaceAll("environment-Secret-3", "environment-Secret-9");
  return JSON.parse(text) as FoundationDBCluster;
}

test("[PIC20] [PIC22] what was kept in a folder is read back as it was", async () => {
  await TestWorld.runWithCluster({ spec: spoiled }, async (world) => {
    const picture = await pictureOf(world);
    const place = mkdtempSync(join(tmpdir(), "picture-"));
    try {
      const folder = join(place, "one");
      savePicture(folder, picture);
      savePicture(folder, picture);
      const clean = redactPicture(picture).picture;
      assert.deepEqual(loadPicture(folder), JSON.parse(JSON.stringify(clean)));
      const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
      for (const secret of secrets) assert.ok(texts.every((text) => !text.includes(secret)));
      assert.deepEqual(readdirSync(place), ["one"]);
    } finally {
      rmSync(place, { recursive: true });
    }
  });
});

test("[PIC3] other pods are counted with what they ask for, and stay out of the picture", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    await world.client.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "other", namespace: "default" },
      spec: {
        nodeName: "node-1",
        containers: [
          { name: "a", image: "x", resources: { requests: { cpu: "1500m", memory: "1Gi" } } },
          { name: "b", image: "x", resources: { requests: { cpu: "1" } } },
        ],
      },
    });
    const { otherRequests, objects } = await pictureOf(world);
    assert.deepEqual(otherRequests, [{ node: "node-1", cpu: "2500m", memory: "1Gi", pods: 1 }]);
    assert.equal(objectOf(objects, "Pod", "other"), undefined);
  });
});

test("[PIC2] pods are asked in turn until one knows the processes", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const answers: (() => ReturnType<PodExec["run"]>)[] = [
      () => Promise.reject(new KubeError(0, "Timeout", "no answer")),
      () => Promise.resolve(printed('{"client":{"database_status":{"available":false}}}')),
    ];
    const asked: string[] = [];
    const exec: PodExec = {
      run(request) {
        asked.push(request.pod);
        return answers.shift()?.() ?? world.world.pods.run(request);
      },
    };
    const { databaseStatus, left } = await pictureOf(world, exec);
    assert.equal(new Set(asked).size, 3);
    assert.ok(commandLinesIn(databaseStatus).length > 0);
    assert.deepEqual(left, []);
  });
});

function printed(stdout: string): Awaited<ReturnType<PodExec["run"]>> {
  return { stdout, stdoutBytes: Buffer.from(stdout), stderr: "", exitCode: 0 };
}

test("[PIC2] without an answer the status is left out, with the reason", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const exec: PodExec = { run: () => Promise.reject(new KubeError(403, "Forbidden", "no")) };
    const { databaseStatus, left } = await pictureOf(world, exec);
    assert.equal(databaseStatus, undefined);
    assert.deepEqual(left, [
      {
        what: "status of the database",
        why: "not allowed to run a command in pods (create pods/exec)",
      },
    ]);
  });
});

/** The client of somebody who may not do everything; what is refused is told by verb and path. */
function clientWithout(world: TestWorld, isForbidden: (path: string) => boolean): KubeClient {
  const { transport } = world.world;
  return new KubeClient(
    {
      request: (request) => {
        if (!isForbidden(request.path)) return transport.request(request);
        const body = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403 };
        return Promise.resolve({ status: 403, body });
      },
      watch: (request, onEvent) => transport.watch(request, onEvent),
    },
    { userAgent: "person" },
  );
}

test("[PIC1] [PIC3] what may not be read is left out and named", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const client = clientWithout(world, (path) => !/namespaces\/default|storageclasses/.test(path));
    const { objects, left, otherRequests } = await pictureOf(world, world.world.pods, { client });
    assert.deepEqual(
      left.map(({ what, why }) => `${what}: ${why}`),
      [
        "nodes: not allowed",
        "requests of pods in other namespaces: not allowed: nodes may have less room than it seems",
        "volumes: not allowed",
      ],
    );
    assert.deepEqual(otherRequests, []);
    const kinds = [...new Set(objects.map(({ kind }) => kind))];
    assert.deepEqual(kinds, [
      "ConfigMap",
      "PersistentVolumeClaim",
      "Pod",
      "Service",
      "StorageClass",
    ]);
  });
});

test("[PIC1] nodes and volumes that may not be listed are read one by one", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const client = clientWithout(world, (path) => /\/(nodes|persistentvolumes)$/.test(path));
    const { objects, left } = await pictureOf(world, world.world.pods, { client });
    assert.deepEqual(
      left.map(({ what }) => what),
      ["other nodes", "other volumes"],
    );
    assert.equal(objects.filter(({ kind }) => kind === "Node").length, 3);
    assert.equal(objects.filter(({ kind }) => kind === "PersistentVolume").length, 2);
  });
});

test("[PIC4] a server that does not answer costs two minutes, not forever", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const silent = new KubeClient(
      {
        request: ({ signal }) =>
          new Promise((_, reject) => {
            const abort = (): void => reject(new KubeError(0, "Aborted", "given up"));
            if (signal?.aborted) abort();
            signal?.addEventListener("abort", abort);
          }),
        watch: () => Promise.resolve(),
      },
      { userAgent: "person" },
    );
    const startedMs = world.clock.nowMs();
    const { left } = await pictureOf(world, world.world.pods, { client: silent });
    assert.ok(world.clock.nowMs() - startedMs <= 121_000);
    assert.ok(
      left.every(({ why }) => /in time|no pod/.test(why)),
      JSON.stringify(left),
    );
    assert.equal(left.length, 8);
  });
});
