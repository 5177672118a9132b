// Names that follow from the id of a process group, also of one that is not known yet. Rules: spec/quarantine.md [QUA3],
// spec/adoption.md [ADO2].
import { parseProcessGroupId, podNameOf, volumeClaimNameOf } from "../../model/process-group-id.ts";
import type { Snapshot } from "../snapshot.ts";

export interface GroupNames {
  /** Empty when the id has none, or is none. */
  readonly prefix: string;
  readonly podName: string;
  readonly claimName: string;
}

export function namesOfGroup(
  { cluster }: Pick<Snapshot, "cluster">,
  processGroupID: string,
  processClass: string,
): GroupNames {
  const podName = podNameOf(cluster.metadata.name ?? "", processClass, processGroupID);
  const { prefix = "" } = parseProcessGroupId(processGroupID) ?? {};
  return { prefix, podName, claimName: volumeClaimNameOf(podName) };
}
