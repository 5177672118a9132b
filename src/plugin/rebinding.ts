// Which process group a volume belonged to, by the name of the claim that it had, and the claim that it gets again.
// Pure. Rules: spec/adoption.md [ADO9], [ADO11].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { normalCluster } from "../build/normalise.ts";
import { volumeClaim } from "../build/volume-claim.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { isStateful, processClasses } from "../model/process-class.ts";
import { makeProcessGroupId, podNameOf, volumeClaimNameOf } from "../model/process-group-id.ts";
import { compareQuantities } from "../model/quantity.ts";

type Volume = Stored<PersistentVolume>;
type Claim = Stored<PersistentVolumeClaim>;

export interface ClaimSubject {
  readonly processClass: string;
  readonly processGroupID: string;
}

export interface Rebinding {
  readonly processGroupId: string;
  readonly volume: Volume;
  readonly claim: Claim;
  /** The claim as a run before has made it. */
  readonly existing?: Claim;
}

/** Undefined when no process group of this cluster has a claim of that name. */
export function subjectOfClaim(
  { metadata, spec }: FoundationDBCluster,
  claimName: string,
): ClaimSubject | undefined {
  const number = Number(/-(\d+)-data$/.exec(claimName)?.[1]);
  if (!Number.isSafeInteger(number)) return undefined;
  for (const processClass of processClasses) {
    if (!isStateful(processClass)) continue;
    const id = makeProcessGroupId(spec.processGroupIDPrefix ?? "", processClass, number);
    const name = volumeClaimNameOf(podNameOf(metadata.name ?? "", processClass, id));
    if (name === claimName) return { processClass, processGroupID: id };
  }
  return undefined;
}

/** As the operator would make it, for this volume and no other. It gets its owner when the database is adopted. */
export function claimFor(
  cluster: Stored<FoundationDBCluster>,
  subject: ClaimSubject,
  { metadata, spec }: Volume,
): Claim | undefined {
  const built = volumeClaim(normalCluster(cluster), subject);
  if (built === undefined) return undefined;
  const { ownerReferences: _, ...rest } = built.metadata;
  return {
    ...built,
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim" },
    metadata: {
      ...rest,
      namespace: cluster.metadata.namespace ?? "",
      labels: { ...cluster.spec.adopt?.volumes.matchLabels, ...built.metadata.labels },
    },
    spec: {
      ...built.spec,
      accessModes: spec?.accessModes ?? built.spec?.accessModes,
      // An empty class is one, too: it keeps the default class away.
      storageClassName: built.spec?.storageClassName ?? spec?.storageClassName ?? "",
      ...(spec?.volumeMode === undefined ? {} : { volumeMode: spec.volumeMode }),
      volumeName: metadata.name ?? "",
    },
  };
}

/** Why a volume cannot be given to the claim, as a clause. */
export function volumeRefusal(
  { metadata, spec }: Volume,
  claim: Claim,
  existing: Claim | undefined,
): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "it is being deleted";
  // Delete takes the volume away, Recycle what is on it.
  const policy = spec?.persistentVolumeReclaimPolicy ?? "Retain";
  if (policy !== "Retain") {
    return `its reclaim policy is ${policy}, so that its data goes at any moment; set it to Retain first`;
  }
  const size = spec?.capacity?.["storage"] ?? "0";
  const wanted = claim.spec?.resources?.requests?.["storage"] ?? "0";
  if (compareQuantities(wanted, size) > 0) {
    return `it has ${size}, and the resource asks for ${wanted}; ask for ${size} until the database serves`;
  }
  const [ofVolume, ofClaim] = [spec?.storageClassName ?? "", claim.spec?.storageClassName ?? ""];
  if (ofVolume !== ofClaim) {
    return `its storage class is "${ofVolume}", and the resource asks for "${ofClaim}"; ask for the one that it has until the database serves`;
  }
  if (existing === undefined) return undefined;
  const name = existing.metadata.name ?? "";
  if (existing.metadata.deletionTimestamp !== undefined) return `claim ${name} is being deleted`;
  if (existing.spec?.volumeName === metadata.name) return undefined;
  const other = existing.spec?.volumeName ?? "";
  return other === ""
    ? `there is a claim ${name} that waits for another volume; delete it first`
    : `there is a claim ${name} with the volume ${other}`;
}
