// Real fdbservers, and the backup tools beside them, as processes of this machine, for the emulated kubelet: what the container sees as files and folders is
// laid out below a state folder, and the process listens on the pod's own loopback address. Rules:
// spec/real-database.md [DB60]-[DB64], [DB66], [DB67].
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type {
  ProcessRuntime,
  ServerExit,
  ServerProcess,
  ServerProcessSpec,
  ToolProcess,
  ToolSpec,
  VolumeFiles,
} from "./process-runtime.ts";
import { startLocalTool } from "./local-tools.ts";

export interface LocalProcessOptions {
  /** The fdbserver to run for a version; undefined when there is none. */
  readonly serverPath: (version: string) => string | undefined;
  /** The backup tool of this name to run for a version; undefined when there is none. */
  readonly toolPath: (name: ToolSpec["name"], version: string) => string | undefined;
  /** Volumes and mounted files lie below it. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface LocalProcesses extends ProcessRuntime {
  /** A command line of a process of this machine as its container would have it; any other as it is. */
  commandLineInside(local: string): string;
  /** Kills everything that still runs and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Arguments that name a folder on a volume. */
const folderArguments: ReadonlySet<string> = new Set(["datadir", "logdir"]);
/** Arguments that name a file which the process only reads. */
const fileArguments: ReadonlySet<string> = new Set([
  "seed_cluster_file",
  "tls_certificate_file",
  "tls_key_file",
  "tls_ca_file",
]);
const keptErrorBytes = 2_000;

export function localProcesses(options: LocalProcessOptions): LocalProcesses {
  const running = new Map<ChildProcess, Promise<unknown>>();
  const insides = new Map<string, string>();
  const clusterFiles = new Map<string, string>();
  return {
    start(spec) {
      const path = options.serverPath(spec.version);
      if (path === undefined) return refused(`there is no fdbserver of version ${spec.version}`);
      const layout = layOut(options.folder, spec);
      if (typeof layout === "string") return refused(layout);
      giveClusterFile(spec, layout, clusterFiles);
      insides.set([path, ...layout.args].join(" "), [spec.binaryPath, ...spec.args].join(" "));
      const child = spawn(path, layout.args, {
        env: { ...options.environment, ...certificateVariables(options.folder, spec) },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const exited = exitOf(child).then((exit) => {
        running.delete(child);
        giveClusterFile(spec, layout, clusterFiles);
        keepClusterFile(spec, layout, clusterFiles);
        return exit;
      });
      running.set(child, exited);
      return { exited, kill: () => void child.kill("SIGKILL") };
    },
    startTool(spec) {
      const path = options.toolPath(spec.name, spec.version);
      if (path === undefined) return refusedTool(spec);
      const folder = join(options.folder, "tools");
      const tool = startLocalTool({ path, folder, environment: options.environment }, spec);
      running.set(tool.child, tool.exited);
      void tool.exited.then(() => running.delete(tool.child));
      return tool;
    },
    volumeRemoved(volumeId) {
      rmSync(volumeFolder(options.folder, volumeId), { recursive: true, force: true });
    },
    volumeFiles: (volumeId) => filesBelow(volumeFolder(options.folder, volumeId)),
    commandLineInside: (local) => insides.get(local) ?? local,
    async stop() {
      for (const child of running.keys()) child.kill("SIGKILL");
      await Promise.all(running.values());
    },
  };
}

function refused(message: string): ServerProcess {
  return { exited: Promise.resolve({ code: 1, message }), kill: () => {} };
}

function refusedTool(spec: ToolSpec): ToolProcess {
  spec.write("stderr", `there is no ${spec.name} of version ${spec.version}\n`);
  return { exited: Promise.resolve({ code: 127 }), terminate: () => {}, kill: () => {} };
}

interface Layout {
  readonly args: readonly string[];
  readonly clusterFile: { readonly inside: string; readonly local: string } | undefined;
}

/** The command line with the places of this machine; a text when a place is on no volume. */
function layOut(folder: string, spec: ServerProcessSpec): Layout | string {
  let clusterFile: Layout["clusterFile"];
  const args: string[] = [];
  for (const argument of spec.args) {
    const [, name = "", inside = ""] = /^--([^=]+)=(.*)$/s.exec(argument) ?? [];
    const known = name.replaceAll("-", "_");
    if (folderArguments.has(known)) {
      const local = onVolume(folder, spec, inside);
      if (local === undefined) return `${inside} is on no writable volume`;
      mkdirSync(local, { recursive: true });
      args.push(`--${name}=${local}`);
    } else if (known === "cluster_file") {
      const local = onVolume(folder, spec, inside);
      if (local === undefined) return `${inside} is on no writable volume`;
      clusterFile = { inside, local };
      mkdirSync(dirname(local), { recursive: true });
      args.push(`--${name}=${local}`);
    } else if (fileArguments.has(known)) {
      args.push(`--${name}=${mounted(folder, spec, inside)}`);
    } else {
      args.push(argument);
    }
  }
  return { args, clusterFile };
}

/** Where the process finds a file that its container only reads. */
function mounted(folder: string, spec: ServerProcessSpec, inside: string): string {
  const local = join(folder, "mounts", encodeURIComponent(spec.pod.uid), inside);
  const text = spec.files.read(inside);
  if (text !== undefined) put(local, text);
  return local;
}

/** What the container says about its certificates; their files as the process finds them. */
function certificateVariables(folder: string, spec: ServerProcessSpec): Record<string, string> {
  const told = Object.entries(spec.environment ?? {}).filter(([name]) =>
    name.startsWith("FDB_TLS_"),
  );
  return Object.fromEntries(
    told.map(([name, value]) => [
      name,
      name.endsWith("_FILE") ? mounted(folder, spec, value) : value,
    ]),
  );
}

function onVolume(folder: string, spec: ServerProcessSpec, inside: string): string | undefined {
  const place = spec.files.locate(inside);
  return place && join(volumeFolder(folder, place.volumeId), place.path);
}

function volumeFolder(folder: string, volumeId: string): string {
  return join(folder, "volumes", encodeURIComponent(volumeId));
}

/** What lies on the disk; a volume that no process has used is none. */
function filesBelow(folder: string): VolumeFiles {
  const isFile = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return {
    paths() {
      if (!existsSync(folder)) return [];
      const found = readdirSync(folder, { recursive: true, encoding: "utf8" });
      return found.filter((path) => isFile(join(folder, path)));
    },
    read: (path) => (isFile(join(folder, path)) ? readFileSync(join(folder, path)) : undefined),
    write(path, bytes) {
      if (!existsSync(folder)) return false;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes, { mode: 0o600 });
      return true;
    },
    remove(path) {
      if (!isFile(join(folder, path))) return false;
      rmSync(join(folder, path));
      return true;
    },
  };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
}

/** What somebody wrote in the container since both were the same (by the place on disk) is on the disk, too. */
function giveClusterFile(
  spec: ServerProcessSpec,
  { clusterFile }: Layout,
  same: Map<string, string>,
): void {
  if (clusterFile === undefined) return;
  const { inside, local } = clusterFile;
  const text = spec.files.read(inside) ?? "";
  const isWritten = text !== (same.get(local) ?? text);
  if (text !== "" && (isWritten || !existsSync(local))) put(local, text);
  same.set(local, text);
}

/** The process has followed its coordinators; the container's view must not lag behind its disk. */
function keepClusterFile(
  spec: ServerProcessSpec,
  { clusterFile }: Layout,
  same: Map<string, string>,
): void {
  if (clusterFile === undefined || !existsSync(clusterFile.local)) return;
  const text = readFileSync(clusterFile.local, "utf8");
  spec.files.write(clusterFile.inside, text);
  same.set(clusterFile.local, text);
}

function exitOf(child: ChildProcess): Promise<ServerExit> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-keptErrorBytes);
  });
  return new Promise((resolve) => {
    const end = (code: number, reason: string): void => {
      const last = errors.trim();
      resolve({ code, message: last === "" ? reason : `${reason}: ${last}` });
    };
    child.once("error", (error) => end(127, `it could not be started: ${error.message}`));
    child.once("close", (code, signal) => {
      if (signal === null) end(code ?? 0, `it ended with code ${code}`);
      else end(137, `it was ended by ${signal}`);
    });
  });
}
