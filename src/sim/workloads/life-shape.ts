// The cluster with which the walk of a life begins, drawn from a seed: size, mode, image type, ways to find each other.
import type { ClusterSpec } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";

export interface LifeShape {
  nodes: number;
  zones: number;
  spec: ClusterSpec;
  /** Pods and nodes are left in peace, so that coordinators may be known by pod addresses. */
  isCalm: boolean;
  /** How late watches are. */
  lagMs: number;
}

const requests = { cpu: "50m", memory: "64Mi" };

/** Pods that ask for little, with a variable whose change makes new pods necessary. */
export function podTemplateWith(value: string): object {
  const env = [{ name: "ANSWER", value }];
  return {
    spec: {
      containers: [
        { name: "foundationdb", resources: { requests }, env },
        { name: "foundationdb-kubernetes-sidecar", resources: { requests } },
      ],
    },
  };
}

export function lifeShapeOf(random: Random): LifeShape {
  const mode = randomPick(random, ["double", "double", "triple"] as const);
  const isServed = random.next() < 0.25;
  const isCalm = random.next() < 0.3;
  const copies = mode === "triple" ? 3 : 2;
  return {
    isCalm,
    lagMs: randomPick(random, [0, 0, 500, 3_000]),
    zones: randomInteger(random, 3, 4),
    nodes: randomInteger(random, 10, 14),
    spec: {
      version: randomPick(random, ["7.1.57", "7.3.63"]),
      imageType: randomPick(random, ["unified", "split"]),
      databaseConfiguration: { redundancy_mode: mode },
      processCounts: {
        storage: copies + randomInteger(random, 2, 4),
        log: copies + randomInteger(random, 2, 3),
        stateless: randomInteger(random, 3, 5),
      },
      storageServersPerPod: randomInteger(random, 1, 2),
      minimumUptimeSecondsForBounce: 60,
      automationOptions: {
        waitBetweenRemovalsSeconds: randomPick(random, [0, 10, 60]),
        podUpdateStrategy: randomPick(random, ["ReplaceTransactionSystem", "Delete", "Replace"]),
        deletionMode: randomPick(random, ["Zone", "Zone", "All", "ProcessGroup"]),
        replacements: {
          enabled: random.next() < 0.7,
          failureDetectionTimeSeconds: randomPick(random, [60, 300]),
        },
      },
      // Pod addresses change with every new pod, and nobody finds such coordinators again.
      ...(isServed ? { routing: { publicIPSource: "service", useDNSInClusterFile: false } } : {}),
      ...(random.next() < 0.3 ? { mainContainer: { enableTls: true } } : {}),
      ...(random.next() < 0.3 ? { lockOptions: { disableLocks: false } } : {}),
      processes: { general: { podTemplate: podTemplateWith("first") } },
    },
  };
}
