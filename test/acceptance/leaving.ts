// Scenes in which process groups are on their way out, and what is excluded of them.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { actionsOf, Scene } from "./scene.ts";

export const counts = (storage: number, log = 4): Partial<ClusterSpec> => ({
  processCounts: { storage, log, stateless: 3 },
});

export const excluded = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("excludeProcesses"), "excludeProcesses");
  return [...(act?.targets ?? [])].sort();
};

export const byIp: Partial<ClusterSpec> = {
  automationOptions: { useLocalitiesForExclusion: false },
};

/** One storage process more than wanted, and so many of them marked. */
export function leaving(
  marked: number,
  spec: Partial<ClusterSpec> = {},
): { scene: Scene; ids: string[] } {
  const scene = new Scene({ ...counts(6), ...spec }).spec(counts(4));
  const ids = scene
    .ids("storage")
    .filter((id) => !isCoordinator(scene, id))
    .slice(0, marked);
  for (const id of ids) scene.mark(id);
  return { scene, ids };
}

export const isCoordinator = (scene: Scene, id: string): boolean =>
  scene.processes(id)[0]?.roles?.some((each) => each.role === "coordinator") === true;
