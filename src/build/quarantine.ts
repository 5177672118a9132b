// Volume claims that are set aside instead of deleted: the label by which they are found, and the note that says whose they
// were and proves that they may go. Carries the rules QUA1, QUA2, QUA4 and QUA11 of spec/quarantine.md.
import { clusterNameLabel, labelsOf } from "../api/effective.ts";
import type { NamedCluster } from "../api/effective.ts";
import type { PersistentVolumeClaim } from "../kube/generated/types.ts";
import type { KubeObject, OwnerReference } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime, parseTime } from "../kube/time.ts";
import { distributionKeyLabel, ownerReferenceTo, selectorLabels } from "./labels.ts";

type Claim = Stored<PersistentVolumeClaim>;

/** Its value is the name of the cluster that the claim was taken from. */
export const quarantineLabel = "foundationdb.org/quarantined-from";
/** The note, as JSON. */
export const quarantineAnnotation = "foundationdb.org/quarantine";

export interface QuarantineNote {
  /** The uid of the resource. */
  readonly cluster: string;
  /** The uid of the claim: a copy of it has another one. */
  readonly claim: string;
  readonly volume: string;
  readonly processGroupID: string;
  readonly processClass: string;
  /** Why its data was not needed any more: by proof, or because somebody said so. */
  readonly proof: "certificate" | "exclusionSkipped";
  /** By the clock of the API server. */
  readonly since: string;
  readonly seconds: number;
  /** That were taken off. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface QuarantineOrder {
  readonly cluster: NamedCluster & KubeObject;
  readonly processGroupID: string;
  readonly processClass: string;
  readonly proof: QuarantineNote["proof"];
  readonly seconds: number;
}

/** What is merged into the claim; null takes a key away. It fails on a claim that is another one by then. */
export interface ClaimPatch {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly ownerReferences: readonly OwnerReference[] | null;
    readonly labels: Readonly<Record<string, string | null>>;
    readonly annotations: Readonly<Record<string, string | null>>;
  };
}

export function isQuarantined({ metadata }: Pick<KubeObject, "metadata">): boolean {
  return metadata.labels?.[quarantineLabel] !== undefined;
}

export function quarantinePatch(
  claim: Claim,
  order: QuarantineOrder,
  serverNowMs: number,
): ClaimPatch {
  const { cluster, processGroupID, processClass, proof, seconds } = order;
  const { uid = "", resourceVersion = "", labels = {} } = claim.metadata;
  const taken = Object.fromEntries(
    ownLabels(cluster).flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]])),
  );
  const note: QuarantineNote = {
    ...{ cluster: cluster.metadata.uid ?? "", claim: uid, volume: claim.spec?.volumeName ?? "" },
    ...{ processGroupID, processClass, proof, since: formatTime(serverNowMs), seconds },
    labels: taken,
  };
  const gone = Object.fromEntries(Object.keys(taken).map((key) => [key, null]));
  return {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: null,
      labels: { ...gone, [quarantineLabel]: cluster.metadata.name ?? "" },
      annotations: { [quarantineAnnotation]: JSON.stringify(note) },
    },
  };
}

/** Labels by which an object is taken for one of the cluster or of a process group. */
function ownLabels(cluster: NamedCluster): string[] {
  const { matchLabels, processClassLabels, processGroupIdLabels } = labelsOf(cluster);
  const keys = [...processClassLabels, ...processGroupIdLabels, ...Object.keys(matchLabels)];
  return [...new Set([clusterNameLabel, distributionKeyLabel, ...keys])];
}

/** Labels, owner and name make it the claim of its process group again. */
export function restoringPatch(
  claim: Claim,
  note: QuarantineNote,
  cluster: NamedCluster & KubeObject,
): ClaimPatch {
  const { uid = "", resourceVersion = "" } = claim.metadata;
  const { processClass, processGroupID } = note;
  return {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: [ownerReferenceTo(cluster)],
      labels: {
        ...note.labels,
        ...selectorLabels(cluster, { processClass, processGroupID }),
        [quarantineLabel]: null,
      },
      annotations: { [quarantineAnnotation]: null },
    },
  };
}

/** The first moment that no quarantine reaches: later ones are no times that the API server knows. */
const endlessMs = Date.UTC(9000, 0);
/** Of ids and classes in the status. */
const nameLengthMax = 63;

/** Undefined when there is none, or none that can be read. */
export function quarantineNoteOf({
  metadata,
}: Pick<KubeObject, "metadata">): QuarantineNote | undefined {
  const value = parsed(metadata.annotations?.[quarantineAnnotation]);
  if (typeof value !== "object" || value === null) return undefined;
  const note = value as Partial<Record<keyof QuarantineNote, unknown>>;
  const texts = [note.cluster, note.claim, note.volume, note.processGroupID, note.processClass];
  const { since, seconds, labels, proof, processGroupID, processClass } = note;
  const sinceMs = typeof since === "string" ? parseTime(since) : undefined;
  const isWhole =
    texts.every((text) => typeof text === "string" && text !== "") &&
    (proof === "certificate" || proof === "exclusionSkipped") &&
    [processGroupID, processClass].every((text) => String(text).length <= nameLengthMax) &&
    sinceMs !== undefined &&
    typeof seconds === "number" &&
    seconds > 0 &&
    // What is read here is written to the status, which takes whole times alone.
    sinceMs + seconds * 1000 < endlessMs &&
    formatTime(sinceMs) === since &&
    typeof labels === "object" &&
    labels !== null &&
    Object.values(labels).every((text) => typeof text === "string");
  return isWhole ? (value as QuarantineNote) : undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    // Somebody edited it: then it proves nothing.
    return undefined;
  }
}
