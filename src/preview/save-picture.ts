// Writes a picture into a folder and reads one from a folder or a support bundle. A folder appears whole or not at all.
// Rules PIC20 to PIC23.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CommandError } from "../env/command-error.ts";
import { openPlace } from "./open-place.ts";
import { indexName, filesOfPicture, pictureOfFiles } from "./picture-files.ts";
import type { Picture } from "./picture.ts";
import { redactPicture } from "./redact-picture.ts";

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
export function loadPicture(place: string, limit?: number): Picture {
  return pictureOfFiles(openPlace(place, limit).inPicture, place);
}
