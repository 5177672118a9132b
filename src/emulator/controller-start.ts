// Starts the controllers that an emulated cluster needs besides the API server's own.
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import {
  deployments,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  storageClasses,
} from "../kube/resource.ts";
import { startDeploymentController } from "./controller-deployment.ts";
import { startDisruptionController } from "./controller-disruption.ts";
import { NodeLifecycleController } from "./controller-node-lifecycle.ts";
import { startReplicaSetController } from "./controller-replica-set.ts";
import { VolumeResizer } from "./controller-resize.ts";
import { VolumeController } from "./controller-volumes.ts";
import type { VolumeControllerOptions } from "./controller-volumes.ts";
import { Informers } from "./node-informers.ts";

export interface StartControllersOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
  informers?: Informers;
  options?: Partial<VolumeControllerOptions>;
}

const kinds = [
  nodes,
  leases,
  pods,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  podDisruptionBudgets,
  replicaSets,
  deployments,
];

export function startControllers(start: StartControllersOptions): {
  readonly started: Promise<void>;
} {
  const informers = start.informers ?? new Informers(start);
  const parts = { ...start, informers };
  const run = async (): Promise<void> => {
    await informers.synced(...kinds);
    new VolumeController(parts, { provisionMs: { min: 500, max: 2000 }, ...start.options }).start();
    new VolumeResizer(parts, { min: 1000, max: 10_000 }).start();
    new NodeLifecycleController(parts).start();
    startReplicaSetController(parts);
    startDeploymentController(parts);
    startDisruptionController(parts);
  };
  return { started: run() };
}
