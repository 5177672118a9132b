// Where a picture lies: in a folder, in a support bundle, or in a bundle that was unpacked. Gives the files of the picture,
// and those of the bundle around it, within one limit of bytes. Rules PIC21, PIC23, PIC37.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CommandError } from "../env/command-error.ts";
import { indexName } from "./picture-files.ts";
import { filesOfTar } from "./tar.ts";

/** Gives the text of a file, or undefined when it is not there. */
export type ReadText = (path: string) => string | undefined;

export interface OpenPlace {
  readonly inPicture: ReadText;
  /** Beside the folder of the picture; finds nothing where the place is the picture itself. */
  readonly inBundle: ReadText;
}

/** A picture of 2,000 pods has about 40 megabytes; a bundle holds logs besides. */
const bytesMaximum = 512 * 1024 * 1024;
const pictureFolder = "picture";

export function openPlace(place: string, limit = bytesMaximum): OpenPlace {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError(`${place} is not there`);
  return found.isDirectory() ? openFolder(place, limit) : openArchive(place, limit);
}

function openFolder(place: string, limit: number): OpenPlace {
  const folder = [place, ...foldersIn(place)].find((each) => isFile(join(each, indexName)));
  let left = limit;
  const read = (file: string): string | undefined => {
    const size = sizeOf(file);
    if (size === undefined) return undefined;
    left -= size;
    if (left < 0) throw tooLarge(place);
    return readFileSync(file, "utf8");
  };
  return {
    inPicture: (name) => read(join(folder ?? place, name)),
    inBundle: (path) =>
      folder === undefined || folder === place ? undefined : read(join(dirname(folder), path)),
  };
}

/** Where the picture lies in an unpacked bundle. */
function foldersIn(place: string): string[] {
  const folders = readdirSync(place, { withFileTypes: true }).filter((each) => each.isDirectory());
  return [
    join(place, pictureFolder),
    ...folders.slice(0, 100).map(({ name }) => join(place, name, pictureFolder)),
  ];
}

function openArchive(place: string, limit: number): OpenPlace {
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
  const ending = `${pictureFolder}/${indexName}`;
  const index = files.find(({ path }) => path.endsWith(ending));
  const byPath = new Map(files.map(({ path, content }) => [path, content]));
  const read = (path: string): string | undefined => {
    const content = byPath.get(path);
    return content && Buffer.from(content).toString("utf8");
  };
  if (index === undefined) return { inPicture: read, inBundle: () => undefined };
  const root = index.path.slice(0, -ending.length);
  return {
    inPicture: (name) => read(`${root}${pictureFolder}/${name}`),
    inBundle: (path) => read(root + path),
  };
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
