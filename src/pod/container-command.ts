// The seam between the emulated kubelet and commands that somebody runs inside a running container (`kubectl exec`). A
// command sees what the container's own program sees, and the processes beside it. Rules: spec/streams.md [WS10].
import type { Clock } from "../env/clock.ts";
import type { PodNetwork } from "./network.ts";
import type { ContainerFiles, ProcessRuntime } from "./process-runtime.ts";

export interface FileEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly bytes: number;
}

/** A container's files as a command sees them: bytes, folders, and what processes keep on volumes. */
export interface CommandFiles extends ContainerFiles {
  readBytes(path: string): Uint8Array | undefined;
  /** False when the path lies on no writable volume. */
  writeBytes(path: string, bytes: Uint8Array): boolean;
  /** False when there is no such file, or it cannot be removed. */
  remove(path: string): boolean;
  makeFolder(path: string): boolean;
  /** What is in a folder, sorted; undefined when there is no such folder. */
  entries(path: string): readonly FileEntry[] | undefined;
}

/** A process of the container's own program. */
export interface ContainerProcess {
  readonly commandLine: string;
  kill(): void;
}

export interface CommandContext {
  readonly words: readonly string[];
  readonly hasTerminal: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly files: CommandFiles;
  readonly pod: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly ips: readonly string[];
  };
  readonly nodeName: string;
  readonly clock: Clock;
  readonly runtime: ProcessRuntime;
  readonly network: PodNetwork;
  processes(): readonly ContainerProcess[];
  /** No more is written until what it returns is done. */
  write(stream: "stdout" | "stderr", bytes: Uint8Array): void | Promise<void>;
}

export interface RunningCommand {
  /** The exit code; never rejects. */
  readonly exited: Promise<number>;
  /** Resolves when there is room for more. */
  input(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: { columns: number; rows: number }): void;
  /** SIGKILL. */
  kill(): void;
}

export type Command = (context: CommandContext) => RunningCommand;
