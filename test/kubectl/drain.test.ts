// The real kubectl drains every node of an emulated Kubernetes, one after the other, under a database that the operator looks
// after. Without kubectl the cases are skipped aloud. Rules: spec/drains.md [DRAIN30].
import { strict as assert } from "node:assert";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { kubeconfigText, serveHttps } from "../../src/emulator/https-server.ts";
import { machineClock } from "../../src/env/clock.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { pods } from "../../src/kube/resource.ts";
import { redundancyOf } from "../../src/model/redundancy.ts";
import { startWorld } from "../../src/sim/world.ts";
import type { World, WorldOptions } from "../../src/sim/world.ts";
import { eventually } from "../eventually.ts";
import { hallLocality } from "../world/hall-harness.ts";
import { clusterOf } from "../world/world-harness.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
const skip = hasKubectl ? false : "there is no kubectl on this machine";
/** kubectl asks again every five seconds of its own. */
const speed = 20;
const limitMs = 300_000;

interface Row {
  readonly title: string;
  readonly spec: Partial<ClusterSpec>;
  readonly world: Partial<WorldOptions>;
}

const rows: readonly Row[] = [
  {
    title: "double",
    spec: {
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 4, log: 4, stateless: 4 },
    },
    world: { nodes: 5, zones: 1 },
  },
  {
    title: "triple",
    spec: {
      databaseConfiguration: { redundancy_mode: "triple" },
      processCounts: { storage: 5, log: 5, stateless: 5 },
    },
    world: { nodes: 6, zones: 1 },
  },
  {
    title: "logical fault domains",
    spec: {
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 6, log: 4, stateless: 4 },
      distributionConfig: { enabled: true, desiredFaultDomains: 3, required: true },
    },
    world: { nodes: 8, zones: 1 },
  },
  {
    title: "three_data_hall",
    spec: {
      databaseConfiguration: { redundancy_mode: "three_data_hall" },
      localities: hallLocality,
      processCounts: { storage: 6, log: 9, stateless: 6 },
    },
    world: { nodes: 9, zones: 3 },
  },
];

describe("kubectl drain (long)", { skip }, () => {
  for (const { title, spec, world: options } of rows) {
    test(`[DRAIN30] of every node, one after the other, ends by itself: ${title}`, async (context) => {
      const { nodes, zones } = options;
      const clock = machineClock(speed);
      const world = startWorld({ clock, seed: 1, nodes, zones } as WorldOptions);
      const served = await serveHttps(world.server, { port: 0 });
      const folder = mkdtempSync(join(tmpdir(), "fdb-operator-drain-"));
      try {
        writeFileSync(join(folder, "kubeconfig"), kubeconfigText(served), { mode: 0o600 });
        await world.started;
        const automationOptions = { drains: { enabled: true } };
        await world.client.create(foundationDbClusters, clusterOf({ ...spec, automationOptions }));
        await untilReconciled(world);
        const watch = watchTolerance(world);
        const used = await usedNodes(world);
        for (const name of used) {
          await kubectl(folder, ["drain", name, "--ignore-daemonsets", "--delete-emptydir-data"]);
          assert.equal((await podsOn(world, name)).length, 0);
          await untilReconciled(world);
          await kubectl(folder, ["uncordon", name]);
        }
        const least = watch.end();
        const promised = redundancyOf(spec.databaseConfiguration?.redundancy_mode).faultTolerance;
        assert.ok(least >= promised - 1, `it could lose ${least} zones at times`);
        assert.deepEqual(world.fdb.truth.dataLost(), []);
        const bytes = world.fdb.measures().reduce((sum, one) => sum + one.copiedBytes, 0);
        context.diagnostic(`${title}: ${used.length} nodes, ${bytes} bytes copied`);
      } finally {
        await served.close();
        await world.stop();
        rmSync(folder, { recursive: true });
      }
    });
  }
});

async function untilReconciled({ client }: World): Promise<void> {
  await eventually(
    "the cluster is reconciled",
    async () => {
      const key = { namespace: "default", name: "sample" };
      const { metadata, status } = await client.get(foundationDbClusters, key);
      const isTold = conditionIn(status, "Reconciled")?.status === "True";
      return (isTold && status?.generations?.reconciled === metadata.generation) || undefined;
    },
    limitMs,
  );
}

async function podsOn({ client }: World, name: string) {
  const { items } = await client.list(pods);
  return items.filter(({ spec }) => spec?.nodeName === name);
}

async function usedNodes({ client }: World): Promise<string[]> {
  const { items } = await client.list(pods);
  return [...new Set(items.flatMap(({ spec }) => spec?.nodeName ?? []))].sort();
}

/** The least fault tolerance for data while it lasts, looked at with every change of the world. */
function watchTolerance(world: World): { end: () => number } {
  let least = Infinity;
  let isOver = false;
  const look = (): void => {
    for (const { faultTolerance } of world.fdb.measures()) {
      if (faultTolerance !== undefined) least = Math.min(least, faultTolerance.data);
    }
    if (!isOver) world.clock.setTimer(1_000, look);
  };
  look();
  return {
    end: () => {
      isOver = true;
      return least;
    },
  };
}

function kubectl(folder: string, args: readonly string[]): Promise<void> {
  const KUBECONFIG = join(folder, "kubeconfig");
  const env = { ...process.env, KUBECONFIG, KUBECACHEDIR: join(folder, "cache"), HOME: folder };
  return new Promise((resolve, reject) => {
    execFile("kubectl", args, { env, timeout: limitMs }, (error, out, err) => {
      if (error === null) resolve();
      else reject(new Error(`kubectl ${args.join(" ")}: ${out}${err}`));
    });
  });
}
