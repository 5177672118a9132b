// A picture as files: an index, a YAML file for each kind, and the status as JSON. Plain, so that a person can read, compare
// and correct it. Folder and support bundle hold the same files. Rules PIC20, PIC21.
import { parseAllDocuments, stringify } from "yaml";
import type { KubeObject } from "../kube/object.ts";
import { CommandError } from "../env/command-error.ts";
import { problemText, readPicture } from "./picture.ts";
import type { Picture } from "./picture.ts";
import { byKindAndName } from "./take-picture.ts";

export interface PictureFile {
  readonly name: string;
  readonly text: string;
}

export const indexName = "picture.yaml";
const statusName = "status.json";
const clusterName = "cluster.yaml";

const comment = `# A picture of a FoundationDB cluster: \`kubectl fdb preview --from\` reads this folder. Secrets, environment values and
# the keys of connection strings are replaced by placeholders (REDACTED1 and so on): the same value is the same placeholder everywhere.
`;

export function filesOfPicture(picture: Picture): PictureFile[] {
  const { cluster, objects, databaseStatus, ...rest } = picture;
  const byKind = new Map<string, KubeObject[]>();
  for (const object of objects.toSorted(byKindAndName)) {
    const name = fileOfKind(object.kind);
    byKind.set(name, [...(byKind.get(name) ?? []), object]);
  }
  const kinds = [...byKind].map(([name, list]) => ({ name, text: list.map(yamlOf).join("---\n") }));
  const status =
    databaseStatus === undefined
      ? []
      : [{ name: statusName, text: `${JSON.stringify(databaseStatus, null, 1)}\n` }];
  const files = [{ name: clusterName, text: yamlOf(cluster) }, ...kinds, ...status];
  const { format, takenAt, versions, left, otherRequests } = rest;
  const { namespace, name } = cluster.metadata;
  const index = {
    ...{ format, takenAt, cluster: `${namespace ?? ""}/${name ?? ""}`, versions, left },
    files: files.map((file) => file.name),
    otherRequests,
  };
  return [{ name: indexName, text: comment + yamlOf(index) }, ...files];
}

function fileOfKind(kind: string): string {
  const plural = kind.endsWith("ss") ? `${kind}es` : `${kind}s`;
  return `${plural.toLowerCase()}.yaml`;
}

export function yamlOf(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** `read` gives the text of a file, or undefined when it is not there; `place` is named in messages. */
export function pictureOfFiles(read: (name: string) => string | undefined, place: string): Picture {
  const text = read(indexName);
  if (text === undefined) {
    throw new CommandError(
      `${place} holds no picture: there is no ${indexName} in it (kubectl fdb preview CLUSTER --save DIR writes one)`,
    );
  }
  const [index] = documentsOf(text, `${place}/${indexName}`);
  if (!isFields(index)) throw new CommandError(`${place}/${indexName} is no index of a picture`);
  refuseNewer(index["format"], place);
  const names = namesIn(index["files"], place);
  const parts = names.map((name) => ({ name, text: needed(read(name), name, place) }));
  const cluster = parts.find(({ name }) => name === clusterName);
  const status = parts.find(({ name }) => name === statusName);
  const others = parts.filter((part) => part !== cluster && part !== status);
  const reading = readPicture({
    ...{ format: index["format"], takenAt: index["takenAt"], versions: index["versions"] },
    ...{ left: index["left"], otherRequests: index["otherRequests"] ?? [] },
    cluster: cluster && documentsOf(cluster.text, `${place}/${clusterName}`)[0],
    objects: others.flatMap((part) => documentsOf(part.text, `${place}/${part.name}`)),
    databaseStatus: status && jsonOf(status.text, `${place}/${statusName}`),
  });
  if ("picture" in reading) return reading.picture;
  const [first, ...more] = reading.problems.map(problemText);
  const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
  throw new CommandError(`${place} holds no usable picture: ${first}${rest}`);
}

function refuseNewer(format: unknown, place: string): void {
  if (format === 1) return;
  const isNewer = typeof format === "number" && format > 1;
  const remedy = isNewer ? "use a newer kubectl-fdb, which knows this format" : "take it again";
  throw new CommandError(`${place}/${indexName}: format is ${String(format)}: ${remedy}`);
}

/** Names of files beside the index, never a way out of the folder. */
function namesIn(files: unknown, place: string): string[] {
  const isList = Array.isArray(files) && files.length <= 100;
  const names: unknown[] = isList ? files : [];
  const wrong = names.find(
    (name) => typeof name !== "string" || !/^[a-z0-9][\w-]*\.\w+$/.test(name),
  );
  if (!isList || wrong !== undefined) {
    const what = isList ? `names the file ${JSON.stringify(wrong)}` : "has no list of files";
    throw new CommandError(`${place}/${indexName} ${what}: take the picture again`);
  }
  return names as string[];
}

function needed(text: string | undefined, name: string, place: string): string {
  if (text !== undefined) return text;
  throw new CommandError(
    `${place}/${name} is missing: the index names it (take it out of ${indexName} if it shall be left out)`,
  );
}

/** The documents of a YAML file of a picture or bundle; `place` is named in messages. */
export function documentsOf(text: string, place: string): unknown[] {
  const documents = parsedYaml(text, place);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const line = problem.linePos?.[0].line;
      throw new CommandError(
        `${place}${line === undefined ? "" : `:${line}`}: ${problem.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "")}`,
      );
    }
    try {
      // What we write has no aliases, so nothing can grow by them.
      return document.toJS({ maxAliasCount: 0 }) as unknown;
    } catch (error) {
      throw new CommandError(`${place}: ${(error as Error).message}`);
    }
  });
}

/** A document that is nested without end exhausts the parser. */
function parsedYaml(text: string, place: string): ReturnType<typeof parseAllDocuments> {
  try {
    return parseAllDocuments(text, { uniqueKeys: true, logLevel: "error" });
  } catch (error) {
    throw new CommandError(`${place} cannot be read: ${(error as Error).message}`);
  }
}

function jsonOf(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${place} is no JSON: ${(error as Error).message.slice(0, 100)}`);
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
