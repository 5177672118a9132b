// `tar` as `kubectl cp` calls it: an archive of files to the output, or one from the input into a folder. Rules:
// spec/streams.md [WS16].
import { readAll } from "./command-life.ts";
import type { CommandProgram } from "./command-life.ts";
import { walk } from "./file-programs.ts";
import { readTar, writeTar } from "./tar-format.ts";
import type { TarEntry } from "./tar-format.ts";

interface TarWords {
  readonly mode: "c" | "x" | "t" | undefined;
  readonly file: string;
  readonly folder: string;
  readonly paths: readonly string[];
}

function readWords(words: readonly string[]): TarWords {
  let mode: TarWords["mode"];
  let file = "-";
  let folder = "/";
  const paths: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const isLetters = index === 0 ? /^-?[a-zA-Z]+$/ : /^-[a-zA-Z]+$/;
    if (word === "-C") folder = words[(index += 1)] ?? "/";
    else if (isLetters.test(word)) {
      for (const letter of word) if (/[cxt]/.test(letter)) mode = letter as TarWords["mode"];
      if (word.includes("f")) file = words[(index += 1)] ?? "-";
    } else if (!word.startsWith("--")) paths.push(word);
  }
  return { mode, file, folder, paths };
}

export const tar: CommandProgram = async (io) => {
  const { files } = io.context;
  const { mode, file, folder, paths } = readWords(io.context.words.slice(1));
  const below = (path: string): string => (path.startsWith("/") ? path : `${folder}/${path}`);
  const fail = async (message: string): Promise<number> => {
    await io.err(`tar: ${message}\n`);
    return 2;
  };
  if (mode === "c") {
    const entries: TarEntry[] = [];
    for (const path of paths) {
      const root = below(path);
      const isThere = files.entries(root) !== undefined || files.readBytes(root) !== undefined;
      if (!isThere) return fail(`${path}: Cannot stat: No such file or directory`);
      for (const found of walk(files, root)) {
        const name = `${path}${found.path.slice(root.length)}`.replace(/^\/+/, "");
        const bytes = found.isFolder ? Buffer.alloc(0) : files.readBytes(found.path);
        entries.push({ name, isFolder: found.isFolder, bytes: bytes ?? Buffer.alloc(0) });
      }
    }
    const archive = writeTar(entries);
    if (file === "-") await io.out(archive);
    else if (!files.writeBytes(below(file), archive))
      return fail(`${file}: Cannot open: Read-only file system`);
    return 0;
  }
  if (mode === undefined) return fail("You must specify one of the options -c, -t or -x");
  const archive = file === "-" ? await readAll(io) : files.readBytes(below(file));
  if (archive === undefined) return fail(`${file}: Cannot open: No such file or directory`);
  let entries: TarEntry[];
  try {
    entries = readTar(Buffer.from(archive));
  } catch (error) {
    return fail((error as Error).message);
  }
  for (const entry of entries) {
    if (mode === "t") await io.out(`${entry.name}\n`);
    else {
      const place = `${folder}/${entry.name}`;
      const isDone = entry.isFolder
        ? files.makeFolder(place)
        : files.writeBytes(place, entry.bytes);
      if (!isDone) return fail(`${entry.name}: Cannot open: Read-only file system`);
    }
  }
  return 0;
};
