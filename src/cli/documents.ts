// Reads the YAML or JSON documents of a file, or of the files of a folder as kubectl does, with errors that a person can act on: file, document and line.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import type { Document } from "yaml";
import type { KubeObject } from "../kube/object.ts";
import { CommandError } from "../env/command-error.ts";
import { isNestedTooDeeply, nestingMaximum } from "../env/nesting.ts";

export interface SourceDocument {
  file: string;
  /** From 1, within the file. */
  number: number;
  object: KubeObject;
}

/** `fill` puts in what only the moment knows, before anything is read from the text. */
export async function readDocuments(
  file: string,
  fill: (text: string) => string = (text) => text,
): Promise<SourceDocument[]> {
  if (isFolder(file)) {
    const documents = [];
    for (const each of filesOf(file)) documents.push(await readDocuments(each, fill));
    return documents.flat();
  }
  const text = fill(await readText(file));
  const { parseAllDocuments } = await import("yaml");
  const documents = notTooDeep(file, () => parseAllDocuments(text, { uniqueKeys: true }));
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document, index) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      // The library reports its own end of the stack as a mistake in the text.
      if (/call stack/.test(problem.message)) throw tooDeep(file);
      const line = problem.linePos?.[0].line;
      const place = line === undefined ? file : `${file}:${line}`;
      throw new CommandError(`${place}: ${firstSentence(problem.message)}`);
    }
    const value = valueOf(document, file, index + 1);
    if (value === null || value === undefined) return [];
    return expandLists(value, file, index + 1);
  });
}

function isFolder(file: string): boolean {
  return file !== "-" && (statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

/** Not those of folders in it, nor the file that only kustomize reads. */
function filesOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => !/^kustomization\.ya?ml$/.test(name))
    .toSorted();
  if (names.length === 0) {
    throw new CommandError(`${folder}: there is no .yaml, .yml or .json file in this folder`);
  }
  return names.map((name) => join(folder, name));
}

/** The library adds the place, which stands before the message already, and an excerpt. */
function firstSentence(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
}

/** Aliases are resolved only here: one without its anchor, or a file that multiplies itself, is refused. */
function valueOf(document: Document.Parsed, file: string, number: number): unknown {
  const place = `${file}, document ${number}`;
  try {
    const value: unknown = notTooDeep(place, () => document.toJS());
    if (isNestedTooDeeply(value)) throw tooDeep(place);
    return value;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new CommandError(`${place}: ${error.message}`);
  }
}

/** The library walks what it reads by recursion. */
function notTooDeep<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(place);
    throw error;
  }
}

function tooDeep(place: string): CommandError {
  return new CommandError(
    `${place}: it is nested more than ${nestingMaximum} levels deep, which no resource is: look for brackets or spaces that are not closed or not meant`,
  );
}

async function readText(file: string): Promise<string> {
  try {
    // As a stream: what is read at once fails with EAGAIN where nobody has written yet and whoever shares the pipe does not block.
    if (file === "-") return process.stdin.readableEnded ? "" : await textOf(process.stdin);
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : String(code);
    throw new CommandError(`cannot read ${file}: ${why}`);
  }
}

/** A `kind: List` stands for its items, as it does for kubectl. */
function expandLists(value: unknown, file: string, number: number): SourceDocument[] {
  const object = value as Partial<KubeObject> & { items?: unknown };
  if (
    typeof value !== "object" ||
    typeof object.kind !== "string" ||
    typeof object.apiVersion !== "string"
  ) {
    throw new CommandError(
      `${file}, document ${number}: not a Kubernetes resource (apiVersion and kind are needed)`,
    );
  }
  if (object.kind === "List" && Array.isArray(object.items)) {
    return object.items.flatMap((item) => expandLists(item, file, number));
  }
  return [{ file, number, object: object as KubeObject }];
}
