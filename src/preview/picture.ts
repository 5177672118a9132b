// A picture: everything that a preview needs to know of a cluster, as plain data, as it was at one moment. It is taken
// with the user's own credentials, or read from a folder; waking it up is in wake.ts. Rule PV1.
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { KubeObject } from "../kube/object.ts";

export interface Picture {
  readonly format: 1;
  /** RFC 3339. */
  readonly takenAt: string;
  /** As stored, with its status. */
  readonly cluster: FoundationDBCluster;
  /** Its pods, claims, volumes, services and config map; the nodes; the storage classes. */
  readonly objects: readonly KubeObject[];
  /** What pods that are not among the objects ask for, by node. */
  readonly otherRequests: readonly OtherRequests[];
  /** What the database says of itself (`status json`); undefined when it could not be asked. */
  readonly databaseStatus: unknown;
  /** What could not be read or was left out. */
  readonly left: readonly LeftOut[];
  readonly versions: {
    readonly plugin: string;
    readonly operator?: string;
    readonly kubernetes?: string;
  };
}

export interface OtherRequests {
  readonly node: string;
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
}

export interface LeftOut {
  readonly what: string;
  readonly why: string;
}

/** Why a picture cannot be used: where, what was found there, and what a person could do. */
export interface PictureProblem {
  readonly field: string;
  readonly value: string;
  readonly remedy: string;
}

export type PictureReading =
  | { readonly picture: Picture }
  | { readonly problems: readonly PictureProblem[] };

const takeAgain = "take the picture again";

/** Checks what came from a file or from another version of this program. */
export function readPicture(value: unknown): PictureReading {
  if (!isRecord(value)) {
    return { problems: [{ field: "picture", value: shown(value), remedy: takeAgain }] };
  }
  const problems = [
    ...formatProblems(value["format"]),
    ...timeProblems(value["takenAt"]),
    ...clusterProblems(value["cluster"]),
    ...listProblems(value, "objects", objectProblems),
    ...listProblems(value, "otherRequests", requestProblems),
    ...listProblems(value, "left", leftProblems),
    ...versionProblems(value["versions"]),
  ];
  return problems.length > 0 ? { problems } : { picture: value as unknown as Picture };
}

export function problemText({ field, value, remedy }: PictureProblem): string {
  return `${field} is ${value}: ${remedy}`;
}

function formatProblems(format: unknown): PictureProblem[] {
  if (format === 1) return [];
  const isNewer = typeof format === "number" && format > 1;
  const remedy = isNewer ? "use a newer kubectl-fdb, which knows this format" : takeAgain;
  return [{ field: "format", value: shown(format), remedy }];
}

function timeProblems(takenAt: unknown): PictureProblem[] {
  const isTime = typeof takenAt === "string" && Number.isFinite(Date.parse(takenAt));
  const remedy = "write the time of the picture as RFC 3339, as in 2026-01-31T12:00:00Z";
  return isTime ? [] : [{ field: "takenAt", value: shown(takenAt), remedy }];
}

function clusterProblems(cluster: unknown): PictureProblem[] {
  const problems = objectProblems(cluster, "cluster");
  if (problems.length > 0 || !isRecord(cluster)) return problems;
  if (cluster["kind"] !== "FoundationDBCluster") {
    const remedy = "a picture is of one FoundationDBCluster";
    problems.push({ field: "cluster.kind", value: shown(cluster["kind"]), remedy });
  }
  if (!isRecord(cluster["spec"])) {
    problems.push({ field: "cluster.spec", value: shown(cluster["spec"]), remedy: takeAgain });
  }
  const { namespace } = cluster["metadata"] as { namespace?: unknown };
  if (typeof namespace !== "string" || namespace === "") {
    problems.push({
      ...{ field: "cluster.metadata.namespace", value: shown(namespace), remedy: takeAgain },
    });
  }
  return problems;
}

export function objectProblems(object: unknown, field: string): PictureProblem[] {
  if (!isRecord(object)) return [{ field, value: shown(object), remedy: takeAgain }];
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const wanted: [string, unknown][] = [
    ["apiVersion", object["apiVersion"]],
    ["kind", object["kind"]],
    ["metadata.name", metadata["name"]],
  ];
  return wanted
    .filter(([, found]) => typeof found !== "string" || found === "")
    .map(([part, found]) => ({
      ...{ field: `${field}.${part}`, value: shown(found) },
      remedy: "store the object as the API server gave it",
    }));
}

function requestProblems(request: unknown, field: string): PictureProblem[] {
  const isFine =
    isRecord(request) &&
    ["node", "cpu", "memory"].every((key) => typeof request[key] === "string") &&
    typeof request["pods"] === "number";
  const remedy = "give node, cpu and memory as text and pods as a number";
  return isFine ? [] : [{ field, value: shown(request), remedy }];
}

export function leftProblems(left: unknown, field: string): PictureProblem[] {
  const isFine =
    isRecord(left) && typeof left["what"] === "string" && typeof left["why"] === "string";
  return isFine ? [] : [{ field, value: shown(left), remedy: "say what was left out, and why" }];
}

function versionProblems(versions: unknown): PictureProblem[] {
  const isFine = isRecord(versions) && typeof versions["plugin"] === "string";
  return isFine ? [] : [{ field: "versions.plugin", value: shown(versions), remedy: takeAgain }];
}

function listProblems(
  picture: Readonly<Record<string, unknown>>,
  field: string,
  check: (entry: unknown, field: string) => PictureProblem[],
): PictureProblem[] {
  const list = picture[field];
  if (!Array.isArray(list)) return [{ field, value: shown(list), remedy: takeAgain }];
  return list.flatMap((entry, index) => check(entry, `${field}[${index}]`));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const shownMax = 80;

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
