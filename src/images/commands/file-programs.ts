// Programs for files: as much of each as people, `kubectl cp` and our own commands use. Rules: spec/streams.md [WS13].
import type { CommandFiles } from "../../pod/container-command.ts";
import { readArguments } from "./arguments.ts";
import { readAll } from "./command-life.ts";
import type { CommandIo, CommandProgram } from "./command-life.ts";

const missing = "No such file or directory";
const readOnly = "Read-only file system";

export function isFolder(files: CommandFiles, path: string): boolean {
  return files.entries(path) !== undefined && files.readBytes(path) === undefined;
}

export function baseName(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) ?? "";
}

/** All files below a folder with their paths, and the folders. */
export function* walk(
  files: CommandFiles,
  path: string,
): Iterable<{ path: string; isFolder: boolean }> {
  yield { path, isFolder: isFolder(files, path) };
  for (const entry of files.entries(path) ?? []) {
    const inner = `${path.replace(/\/$/, "")}/${entry.name}`;
    if (entry.isFolder) yield* walk(files, inner);
    else yield { path: inner, isFolder: false };
  }
}

/** Runs for each word; the exit code is 1 when one of them failed. */
async function forEach(
  io: CommandIo,
  paths: readonly string[],
  run: (path: string) => Promise<string | undefined>,
): Promise<number> {
  let code = 0;
  for (const path of paths) {
    const problem = await run(path);
    if (problem === undefined) continue;
    await io.err(`${baseName(io.context.words[0] ?? "")}: ${problem}\n`);
    code = 1;
  }
  return code;
}

const cat: CommandProgram = async (io) => {
  const { rest } = readArguments(io.context.words.slice(1));
  if (rest.length === 0) {
    for (let bytes = await io.read(); bytes !== undefined; bytes = await io.read()) {
      await io.out(bytes);
    }
    return 0;
  }
  return forEach(io, rest, async (path) => {
    const { files } = io.context;
    const bytes = path === "-" ? await readAll(io) : files.readBytes(path);
    if (bytes === undefined)
      return `${path}: ${isFolder(files, path) ? "Is a directory" : missing}`;
    await io.out(bytes);
    return undefined;
  });
};

const tee: CommandProgram = async (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1));
  const { files } = io.context;
  const bytes = await readAll(io);
  await io.out(bytes);
  return forEach(io, rest, async (path) => {
    const before = flags.has("a") ? (files.readBytes(path) ?? Buffer.alloc(0)) : Buffer.alloc(0);
    const isDone = files.writeBytes(path, Buffer.concat([before, bytes]));
    return isDone ? undefined : `${path}: ${readOnly}`;
  });
};

/** `cp` and `mv`: files, and with -r folders. */
function copier(removesSource: boolean): CommandProgram {
  return async (io) => {
    const { flags, rest } = readArguments(io.context.words.slice(1));
    const { files } = io.context;
    const target = rest.at(-1) ?? "";
    const isDeep = removesSource || flags.has("r") || flags.has("R") || flags.has("a");
    if (rest.length < 2) {
      await io.err(`${baseName(io.context.words[0] ?? "")}: missing file operand\n`);
      return 1;
    }
    return forEach(io, rest.slice(0, -1), async (path) => {
      if (isFolder(files, path) && !isDeep) return `-r not specified; omitting directory '${path}'`;
      const place = isFolder(files, target) ? `${target}/${baseName(path)}` : target;
      for (const found of [...walk(files, path)]) {
        if (found.isFolder) continue;
        const bytes = files.readBytes(found.path);
        if (bytes === undefined) return `cannot stat '${path}': ${missing}`;
        const to = `${place}${found.path.slice(path.length)}`;
        if (to === "/dev/stdout") await io.out(bytes);
        else if (!files.writeBytes(to, bytes))
          return `cannot create regular file '${to}': ${readOnly}`;
        if (removesSource) files.remove(found.path);
      }
      return undefined;
    });
  };
}

const rm: CommandProgram = async (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1));
  const { files } = io.context;
  const isForced = flags.has("f");
  const isDeep = flags.has("r") || flags.has("R");
  return forEach(io, rest, async (path) => {
    if (isFolder(files, path) && !isDeep) return `cannot remove '${path}': Is a directory`;
    const found = [...walk(files, path)].toReversed();
    const isThere = files.readBytes(path) !== undefined || isFolder(files, path);
    if (!isThere) return isForced ? undefined : `cannot remove '${path}': ${missing}`;
    const stuck = found.find((one) => !files.remove(one.path) && !one.isFolder);
    return stuck && `cannot remove '${stuck.path}': ${readOnly}`;
  });
};

const mkdir: CommandProgram = (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1), "m");
  const { files } = io.context;
  return forEach(io, rest, async (path) => {
    if (isFolder(files, path)) {
      return flags.has("p") ? undefined : `cannot create directory '${path}': File exists`;
    }
    return files.makeFolder(path) ? undefined : `cannot create directory '${path}': ${readOnly}`;
  });
};

const ls: CommandProgram = async (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1));
  const { files } = io.context;
  const paths = rest.length === 0 ? ["/"] : rest;
  const line = (name: string, folder: boolean, bytes: number): string =>
    flags.has("l")
      ? `${folder ? "drwxr-xr-x" : "-rw-r--r--"} 1 root root ${String(bytes).padStart(9)} ${name}\n`
      : `${name}\n`;
  return forEach(io, paths, async (path) => {
    const entries = files.entries(path);
    const bytes = files.readBytes(path);
    if (bytes !== undefined) {
      await io.out(line(path, false, bytes.length));
      return undefined;
    }
    if (entries === undefined) return `cannot access '${path}': ${missing}`;
    if (paths.length > 1) await io.out(`${path}:\n`);
    for (const entry of entries) {
      if (entry.name.startsWith(".") && !flags.has("a") && !flags.has("A")) continue;
      await io.out(line(entry.name, entry.isFolder, entry.bytes));
    }
    return undefined;
  });
};

const find: CommandProgram = async (io) => {
  const words = io.context.words.slice(1);
  const at = words.findIndex((word) => word.startsWith("-"));
  const paths = at < 0 ? words : words.slice(0, at);
  const conditions = at < 0 ? [] : words.slice(at);
  const value = (name: string): string | undefined => {
    const place = conditions.indexOf(name);
    return place < 0 ? undefined : conditions[place + 1];
  };
  const pattern = value("-name");
  const name = pattern === undefined ? undefined : globPattern(pattern);
  const type = value("-type");
  const depth = Number(value("-maxdepth") ?? Infinity);
  const { files } = io.context;
  return forEach(io, paths.length === 0 ? ["/"] : paths, async (root) => {
    if (files.entries(root) === undefined && files.readBytes(root) === undefined)
      return `'${root}': ${missing}`;
    for (const found of walk(files, root)) {
      const below = found.path
        .slice(root.length)
        .split("/")
        .filter((part) => part !== "").length;
      if (below > depth || (type !== undefined && (type === "d") !== found.isFolder)) continue;
      if (name === undefined || name.test(baseName(found.path))) await io.out(`${found.path}\n`);
    }
    return undefined;
  });
};

function globPattern(pattern: string): RegExp {
  const text = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}

/** `test` and `[`: files and texts. */
const test: CommandProgram = async (io) => {
  const { files, words } = io.context;
  const args = words.slice(1).filter((word) => word !== "]");
  const isWanted = args[0] !== "!";
  const [first = "", second = "", third] = isWanted ? args : args.slice(1);
  const holds = (): boolean => {
    if (third !== undefined) return second === "!=" ? first !== third : first === third;
    const size = files.readBytes(second)?.length;
    switch (first) {
      case "-d":
        return isFolder(files, second);
      case "-e":
        return size !== undefined || isFolder(files, second);
      case "-f":
        return size !== undefined;
      case "-s":
        return (size ?? 0) > 0;
      case "-z":
        return second === "";
      case "-n":
        return second !== "";
      default:
        return first !== "";
    }
  };
  return holds() === isWanted ? 0 : 1;
};

export const filePrograms: Readonly<Record<string, CommandProgram>> = {
  ...{ cat, tee, rm, mkdir, ls, find, test, "[": test },
  ...{ cp: copier(false), mv: copier(true) },
};
