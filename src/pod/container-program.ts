// The seam between the emulated kubelet and the programs that it plays inside containers. A
// program gets the container's own view: its arguments, environment, files, network and pod
// object, and nothing else.
import type { Clock } from "../env/clock.ts";
import type { Random } from "../env/random.ts";
import type { ContainerProcess } from "./container-command.ts";
import type { PodResponse } from "./network.ts";
import type { ContainerFiles, ProcessRuntime } from "./process-runtime.ts";

/** What a program can do with the API server: only about its own pod and node. */
export interface OwnPod {
  annotations(): Readonly<Record<string, string>>;
  nodeLabels(): Readonly<Record<string, string>>;
  /** Writes annotations of the pod; tries again until it worked or the pod is gone. */
  annotate(annotations: Readonly<Record<string, string>>): void;
}

export interface WatchedFiles extends ContainerFiles {
  /** Names of the files below a directory, relative to it. */
  list(directory: string): readonly string[];
  /** Calls back after the text of the file changed. The watch ends with the container. */
  onChange(path: string, changed: () => void): void;
}

export type RequestHandler = (method: string, path: string) => PodResponse;

export interface ProgramContext {
  readonly pod: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly ips: readonly string[];
  };
  readonly nodeName: string;
  /** The pod's command; empty when the image's own entry point runs. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: WatchedFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: ProcessRuntime;
  readonly ownPod: OwnPod;
  /** Calls back after the pod's annotations or labels changed. */
  onPodChange(changed: () => void): void;
  /** Opens a port; false when the address is not the pod's or the port is taken. */
  listen(address: string, port: number, useTls: boolean, handler: RequestHandler): boolean;
  writeLog(line: string): void;
  /** Ends the container. Later calls do nothing. */
  exit(code: number): void;
}

export interface RunningProgram {
  /** SIGTERM: the program should end by itself. */
  terminate(): void;
  /** SIGKILL: everything inside stops at once. */
  kill(): void;
  /** The processes that it has started and that run. */
  processes?(): readonly ContainerProcess[];
}

export type Program = (context: ProgramContext) => RunningProgram;

/** The content of an executable file, so that a copy of it still knows what it is. */
export function binaryText(name: string, version: string): string {
  return `executable ${name} ${version}`;
}

export function binaryVersion(text: string | undefined): string | undefined {
  return /^executable \S+ (\S+)$/.exec(text ?? "")?.[1];
}

export function joinPath(...parts: readonly string[]): string {
  const joined = parts.filter((part) => part !== "").join("/");
  return joined.replaceAll(/\/{2,}/g, "/");
}
