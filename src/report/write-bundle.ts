// Writes a support bundle piece by piece into a file beside the wanted one, which gets its name when it is whole: a disk that
// is full leaves nothing behind. Rules PIC31, PIC35.
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { CommandError } from "../env/command-error.ts";
import { tarBlocks } from "../preview/tar.ts";
import type { BundleFile } from "./bundle-files.ts";

/** A file of that name is never overwritten. */
export async function refuseExisting(file: string): Promise<void> {
  const found = await stat(resolve(file)).catch(() => undefined);
  if (found === undefined) return;
  throw new CommandError(
    `${file} exists already: name another file with -f, or remove this one first`,
  );
}

export type OpenFile = (path: string) => Writable;

const openNew: OpenFile = (path) =>
  createWriteStream(path, { flags: "wx", mode: 0o600, flush: true });

/** Resolves with the number of bytes. */
export async function writeBundle(
  file: string,
  files: readonly BundleFile[],
  modifiedSeconds: number,
  open: OpenFile = openNew,
): Promise<number> {
  const target = resolve(file);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  let bytes = 0;
  try {
    const blocks = tarBlocks(encoded(files), modifiedSeconds);
    await pipeline(
      Readable.from(blocks),
      createGzip({ level: 6 }),
      async function* counted(chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          yield chunk;
        }
      },
      open(temporary),
    );
    await refuseExisting(file);
    await rename(temporary, target);
    return bytes;
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot write ${file}: ${(error as Error).message}`);
  }
}

function* encoded(files: readonly BundleFile[]) {
  for (const { path, text } of files) yield { path, content: Buffer.from(text) };
}
