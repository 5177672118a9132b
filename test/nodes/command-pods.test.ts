// Bare pods that run a command to its end: the log, the exit code, the message of a failure, and the deadline.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../src/kube/generated/types.ts";
import { runInContainer } from "../../src/images/commands/command-table.ts";
import { standardImages } from "../../src/images/standard-images.ts";
import type { Program } from "../../src/pod/container-program.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";

const command = (words: readonly string[], more: Partial<PodSpec> = {}): PodSpec => ({
  restartPolicy: "Never",
  containers: [
    {
      name: "command",
      image: "foundationdb/fdb-kubernetes-monitor:7.3.63",
      command: [...words],
      terminationMessagePolicy: "FallbackToLogsOnError",
    },
  ],
  ...more,
});

function terminated(pod: Pod | undefined): {
  exitCode?: number;
  message?: string;
  reason?: string;
} {
  return pod?.status?.containerStatuses?.[0]?.state?.terminated ?? {};
}

async function ended(
  cluster: Cluster,
  name: string,
  spec: PodSpec,
  seconds = 30,
): Promise<Pod | undefined> {
  await cluster.createPod(name, spec);
  await cluster.advance(seconds);
  return cluster.pod(name);
}

/** An image with a program that prints and ends as it is told. */
function talking(lines: readonly string[], code: number) {
  const program: Program = (context) => {
    for (const line of lines) context.writeLog(line);
    context.exit(code);
    return { terminate: () => {}, kill: () => {} };
  };
  return { find: () => ({ files: new Map(), program: () => program, command: runInContainer }) };
}

test("[KUBELET80] a failed container has the end of its log as its message, if it asked for it", async () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index} ${"x".repeat(40)}`);
  const cluster = await startCluster({ nodeCount: 1, images: talking(lines, 3) });
  const failed = terminated(await ended(cluster, "failed", command(["anything"])));
  assert.equal(failed.exitCode, 3);
  assert.equal(failed.message?.length, 2048);
  assert.ok(failed.message?.endsWith(`line 99 ${"x".repeat(40)}\n`));
  const spec = command(["anything"]);
  const quiet = {
    ...spec,
    containers: spec.containers.map((one) => ({ ...one, terminationMessagePolicy: "File" })),
  };
  assert.equal(terminated(await ended(cluster, "quiet", quiet)).message, undefined);
  cluster.stop();
  const good = await startCluster({ nodeCount: 1, images: talking(["done"], 0) });
  const end = await ended(good, "good", command(["anything"]));
  assert.deepEqual([end?.status?.phase, terminated(end).message], ["Succeeded", undefined]);
  good.stop();
});

test("[KUBELET105] what a container leaves in its file is its message, also with a root that is read-only", async () => {
  const cluster = await startCluster({ nodeCount: 1, images: standardImages() });
  const copy = (from: string): PodSpec => {
    const spec = command(["cp", from, "/dev/termination-log"]);
    const securityContext = { readOnlyRootFilesystem: true };
    return { ...spec, containers: spec.containers.map((one) => ({ ...one, securityContext })) };
  };
  const copied = terminated(await ended(cluster, "copied", copy("/var/fdb/version")));
  assert.deepEqual([copied.exitCode, copied.message], [0, "7.3.63\n"]);
  const missing = terminated(await ended(cluster, "missing", copy("/nowhere")));
  assert.equal(missing.exitCode, 1);
  assert.match(missing.message ?? "", /^cp: cannot stat '\/nowhere'/);
  cluster.stop();
});

test("[KUBELET81] a pod that runs beyond its deadline fails with the reason, and its container is stopped", async () => {
  const cluster = await startCluster({ nodeCount: 1, images: standardImages() });
  const hanging = await ended(
    cluster,
    "hanging",
    command(["sleep", "900"], { activeDeadlineSeconds: 60 }),
    40,
  );
  assert.equal(hanging?.status?.phase, "Running");
  await cluster.advance(60);
  const late = await cluster.pod("hanging");
  assert.deepEqual([late?.status?.phase, late?.status?.reason], ["Failed", "DeadlineExceeded"]);
  assert.equal(
    late?.status?.message,
    "Pod was active on the node longer than the specified deadline",
  );
  assert.notEqual(terminated(late).exitCode, 0);
  const done = await ended(
    cluster,
    "done",
    command(["sleep", "5"], { activeDeadlineSeconds: 60 }),
    120,
  );
  assert.deepEqual([done?.status?.phase, done?.status?.reason], ["Succeeded", undefined]);
  cluster.stop();
});
