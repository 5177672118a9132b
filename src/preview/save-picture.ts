// Writes a picture into a folder and reads one from a folder or a support bundle. A folder appears whole or not at all.
// Rules PIC20 to PIC23.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { CommandError } from "../env/command-error.ts";
import { indexName, filesOfPicture, pictureOfFiles } from "./picture-files.ts";
import type { Picture } from "./picture.ts";
import { redactPicture } from "./redact-picture.ts";
import { filesOfTar } from "./tar.ts";

/** A picture of 2,000 pods has about 40 megabytes; a bundle holds logs besides. */
const bytesMaximum = 512 * 1024 * 1024;

/** The folder must not exist yet, be empty, or hold a picture, which is replaced. */
export function savePicture(folder: string, picture: Picture): void {
  const files = filesOfPicture(redactPicture(picture).picture);
  const target = resolve(folder);
  const old = replaceable(target, folder);
  let temporary: string | undefined;
  try {
    mkdirSync(dirname(target), { recursive: true });
    temporary = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
    for (const { name, text } of files) writeFileSync(join(temporary, name), text, { mode: 0o600 });
    for (const name of old) rmSync(join(target, name), { force: true });
    renameSync(temporary, target);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    throw new CommandError(`cannot write the picture to ${folder}: ${(error as Error).message}`);
  }
}

/** The files of an older picture, which may go. */
function replaceable(target: string, folder: string): readonly string[] {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) throw new CommandError(`${folder} is a file: name a folder`);
  const names = readdirSync(target);
  if (names.length === 0) return [];
  const isPicture = names.includes(indexName) && names.every((name) => /\.(yaml|json)$/.test(name));
  if (isPicture) return names;
  throw new CommandError(`${folder} holds other files: name a new folder for the picture`);
}

/** From a folder that `savePicture` wrote, a support bundle, or a bundle that was unpacked. */
export function loadPicture(place: string, limit = bytesMaximum): Picture {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError(`${place} is not there`);
  if (!found.isDirectory()) return pictureOfBundle(place, limit);
  const folder = [place, ...foldersIn(place)].find((each) => isFile(join(each, indexName)));
  let left = limit;
  return pictureOfFiles((name) => {
    const file = join(folder ?? place, name);
    const size = sizeOf(file);
    if (size === undefined) return undefined;
    left -= size;
    if (left < 0) throw tooLarge(place);
    return readFileSync(file, "utf8");
  }, place);
}

/** Where the picture lies in an unpacked bundle. */
function foldersIn(place: string): string[] {
  const folders = readdirSync(place, { withFileTypes: true }).filter((each) => each.isDirectory());
  return [
    join(place, "picture"),
    ...folders.slice(0, 100).map(({ name }) => join(place, name, "picture")),
  ];
}

function pictureOfBundle(place: string, limit: number): Picture {
  const size = sizeOf(place) ?? 0;
  if (size > limit) throw tooLarge(place);
  let bytes: Uint8Array;
  try {
    bytes = gunzipSync(readFileSync(place), { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(place);
    throw new CommandError(`${place} is neither a folder nor a support bundle (.tar.gz)`);
  }
  const files = filesOfTar(bytes);
  if (files === undefined) throw new CommandError(`${place} is no whole archive: copy it again`);
  const index = files.find(({ path }) => path.endsWith(`picture/${indexName}`));
  const folder = index?.path.slice(0, -indexName.length) ?? "";
  const byPath = new Map(files.map(({ path, content }) => [path, content]));
  return pictureOfFiles((name) => {
    const content = byPath.get(folder + name);
    return content && Buffer.from(content).toString("utf8");
  }, place);
}

function isFile(file: string): boolean {
  return sizeOf(file) !== undefined;
}

function sizeOf(file: string): number | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : undefined;
}

function tooLarge(place: string): CommandError {
  return new CommandError(`${place} is too large to be read as a picture`);
}
