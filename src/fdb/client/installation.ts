// Which versions of FoundationDB's client are installed beside the operator: for each a client library and fdbcli, in the
// layouts of the Go operator's image, of FoundationDB's packages, and of a plain folder. Rules: spec/real-database.md
// [DB1]-[DB3].
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { compareVersions, isProtocolCompatible, parseVersion } from "../../model/version.ts";
import { readVersionAnswer } from "./command-output.ts";
import { clientProgramPath } from "./client-program.ts";

export interface ClientFiles {
  readonly version: string;
  readonly libraryPath: string;
  readonly commandPath: string;
}

export interface ServerFiles {
  readonly version: string;
  readonly serverPath: string;
}

const backupToolNames = ["backup_agent", "fdbbackup", "fdbrestore"] as const;

export type ToolName = (typeof backupToolNames)[number] | "fdbcli";

/** Where FoundationDB's packages put the agent. */
const agentFolder = "/usr/lib/foundationdb/backup_agent";

export interface Installation {
  readonly clients: readonly ClientFiles[];
  readonly servers: readonly ServerFiles[];
  /** The client to use for a database of this version: of the same version, else of one with the same protocol. */
  find(version: string): ClientFiles | undefined;
  findServer(version: string): ServerFiles | undefined;
  /** A program for a database of this version. */
  findTool(name: ToolName, version: string): string | undefined;
  /** The newest version that can be both run and reached. */
  readonly newest: string | undefined;
  /** One sentence each: what is missing, where it was looked for, how to get it. */
  explainMissing(version: string): string;
}

export interface InstallationPlaces {
  /** Folders with libraries, first to last. */
  readonly libraryFolders: readonly string[];
  /** Folders with programs. */
  readonly programFolders: readonly string[];
}

/** Tells the version of a file that has none in its path; undefined when it cannot be run or loaded. */
export interface VersionTeller {
  readonly program: (path: string) => Promise<string | undefined>;
  readonly library: (path: string) => Promise<string | undefined>;
}

/** Where to look, from FDB_LIBRARY_DIR, FDB_BINARY_DIR and the places where FoundationDB's packages put things. */
export function installationPlaces(
  environment: Readonly<Record<string, string | undefined>>,
): InstallationPlaces {
  const named = (...names: readonly string[]): string[] =>
    names.flatMap((name) => environment[name] ?? []).filter((folder) => folder !== "");
  const libraries = named(
    "FDB_LIBRARY_DIR",
    "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY",
    "FDB_BINARY_DIR",
  );
  const programs = named("FDB_BINARY_DIR");
  return {
    libraryFolders: [...new Set([...libraries, "/usr/lib", "/usr/lib64", "/usr/local/lib"])],
    programFolders: [...programs, "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"],
  };
}

export async function findInstallation(
  places: InstallationPlaces,
  teller: VersionTeller = machineVersionTeller(),
): Promise<Installation> {
  const libraries = await versioned(places.libraryFolders.flatMap(librariesIn), teller.library);
  const tools = places.programFolders.flatMap((folder) => programsIn(folder, "fdbcli"));
  const commands = await versioned(tools, teller.program);
  const servers = await versioned(
    places.programFolders.flatMap((folder) => programsIn(folder, "fdbserver")),
    teller.program,
  );
  const programs = new Map<string, Map<string, string>>([["fdbcli", commands]]);
  for (const name of backupToolNames) {
    const folders = [...places.programFolders, agentFolder];
    const candidates = folders.flatMap((folder) => programsIn(folder, name));
    programs.set(name, await versioned(candidates, teller.program));
  }
  const clients = [...libraries].flatMap(([version, libraryPath]) => {
    const commandPath = best(commands, version)?.[1];
    return commandPath === undefined ? [] : [{ version, libraryPath, commandPath }];
  });
  const found = new Map(clients.map((client) => [client.version, client]));
  return {
    clients,
    servers: [...servers].map(([version, serverPath]) => ({ version, serverPath })),
    newest: newestOf([...servers.keys()].filter((version) => best(found, version) !== undefined)),
    find: (version) => best(found, version)?.[1],
    findServer(version) {
      const server = best(servers, version);
      return server && { version: server[0], serverPath: server[1] };
    },
    findTool: (name, version) => best(programs.get(name) ?? new Map(), version)?.[1],
    explainMissing(version) {
      const missing = [
        ...(best(libraries, version) === undefined ? [libraryMissing(version, places)] : []),
        ...(best(commands, version) === undefined ? [toolsMissing(version, places)] : []),
      ];
      return missing.join(" ");
    },
  };
}

function libraryMissing(version: string, places: InstallationPlaces): string {
  return (
    `The client library libfdb_c.so of FoundationDB ${version} was not found in ` +
    `${places.libraryFolders.join(", ")}: download it from the releases of FoundationDB ` +
    "(github.com/apple/foundationdb/releases) and name its folder in FDB_LIBRARY_DIR."
  );
}

function toolsMissing(version: string, places: InstallationPlaces): string {
  return (
    `The programs of FoundationDB ${version} were not found in ` +
    `${places.programFolders.join(", ")}: download them from the releases of FoundationDB ` +
    "(github.com/apple/foundationdb/releases) and name their folder in FDB_BINARY_DIR."
  );
}

interface Candidate {
  readonly path: string;
  /** As the path has it; undefined or incomplete when it has none. */
  readonly version: string | undefined;
}

/** libfdb_c_VERSION.so, VERSION/libfdb_c.so, VERSION/lib/libfdb_c.so or libfdb_c.so. */
function librariesIn(folder: string): Candidate[] {
  const candidates = namesIn(folder).flatMap((name): Candidate[] => {
    const version = /^libfdb_c_(.+)\.so$/.exec(name)?.[1];
    if (version !== undefined) return [{ path: join(folder, name), version }];
    if (name === "libfdb_c.so") return [{ path: join(folder, name), version: undefined }];
    if (!isVersionName(name)) return [];
    return ["libfdb_c.so", join("lib", "libfdb_c.so")].map((rest) => ({
      path: join(folder, name, rest),
      version: name,
    }));
  });
  return candidates.filter(({ path }) => isFile(path));
}

/** VERSION/PROGRAM, VERSION/bin/PROGRAM, VERSION/bin/VERSION/PROGRAM, bin/VERSION/PROGRAM or PROGRAM. */
function programsIn(folder: string, program: string): Candidate[] {
  const candidates = namesIn(folder).flatMap((name): Candidate[] => {
    if (name === program) return [{ path: join(folder, name), version: undefined }];
    if (name === "bin") {
      return namesIn(join(folder, name))
        .filter(isVersionName)
        .map((version) => ({ path: join(folder, name, version, program), version }));
    }
    if (!isVersionName(name)) return [];
    const below = [program, join("bin", program), join("bin", name, program)];
    return below.map((rest) => ({ path: join(folder, name, rest), version: name }));
  });
  return candidates.filter(({ path }) => isFile(path));
}

/** The first file of each version wins. */
async function versioned(
  candidates: readonly Candidate[],
  tell: (path: string) => Promise<string | undefined>,
): Promise<Map<string, string>> {
  const told = await Promise.all(
    candidates.map(async ({ path, version }) => ({
      path,
      version: version !== undefined && parseVersion(version) ? version : await tell(path),
    })),
  );
  const found = new Map<string, string>();
  for (const { path, version } of told) {
    if (version !== undefined && parseVersion(version) && !found.has(version)) {
      found.set(version, path);
    }
  }
  return found;
}

function best<T>(found: ReadonlyMap<string, T>, wanted: string): [string, T] | undefined {
  const exact = found.get(wanted);
  if (exact !== undefined) return [wanted, exact];
  const target = parseVersion(wanted);
  if (target === undefined) return undefined;
  return [...found]
    .flatMap(([text, item]) => {
      const version = parseVersion(text);
      return version && isProtocolCompatible(version, target) ? [{ text, item, version }] : [];
    })
    .toSorted((left, right) => compareVersions(right.version, left.version))
    .map(({ text, item }): [string, T] => [text, item])[0];
}

function newestOf(versions: readonly string[]): string | undefined {
  return versions
    .flatMap((text) => {
      const version = parseVersion(text);
      return version === undefined ? [] : [{ text, version }];
    })
    .toSorted((left, right) => compareVersions(left.version, right.version))
    .at(-1)?.text;
}

/** A full version, or only its first two numbers. */
function isVersionName(name: string): boolean {
  return /^\d+\.\d+(\.\d+(-rc\d+)?)?$/.test(name);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    // A folder that is not there has nothing in it.
    return [];
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

export function machineVersionTeller(): VersionTeller {
  return {
    async program(path) {
      const { code, stdout, stderr } = await run(path, ["--version"]);
      return readVersionAnswer({ code, stdout, stderr, isLate: false });
    },
    async library(path) {
      const { code, stdout } = await run(process.execPath, [
        clientProgramPath(),
        "--version-of",
        path,
      ]);
      return code === 0 ? /^\d+\.\d+\.\d+(-rc\d+)?$/.exec(stdout.trim())?.[0] : undefined;
    },
  };
}

function run(
  path: string,
  args: readonly string[],
): Promise<{ code: number | undefined; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(path, args, { timeout: 20_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : undefined, stdout, stderr });
    });
  });
}
