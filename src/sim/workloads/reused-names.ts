// Numbers of process groups are drawn by chance, so that a new one may get that of one that was removed: what was seen of the
// pod of the former one says nothing about it. Rules: spec/world.md [W68].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { podNameOf } from "../../model/process-group-id.ts";

type Groups = NonNullable<NonNullable<FoundationDBCluster["status"]>["processGroups"]>;

export class ReusedNames {
  /** Of pods whose process groups were to go when they were stored last. */
  readonly #leaving = new Set<string>();

  /** The names of pods that belong to process groups which stay, and belonged to others that were to go. */
  note(clusterName: string, groups: Groups): string[] {
    return groups.flatMap(({ processClass, processGroupID, removalTimestamp }) => {
      const podName = podNameOf(clusterName, processClass, processGroupID);
      if (removalTimestamp === undefined) return this.#leaving.delete(podName) ? podName : [];
      this.#leaving.add(podName);
      return [];
    });
  }
}
