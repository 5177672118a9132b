// The seam between the emulated kubelet and whatever runs fdbserver: the simulated database (sim/), or real local
// processes. The kubelet has already resolved the monitor configuration to a command line.

export interface ServerProcessSpec {
  /** Absolute path of the binary inside the container, for example /usr/bin/fdbserver. */
  binaryPath: string;
  /** FoundationDB version of the binary at that path. */
  version: string;
  /** Arguments without the binary, for example ["--class=storage", ...]. */
  args: readonly string[];
  /** Variables of the container; none when absent. */
  environment?: Readonly<Record<string, string>>;
  pod: { namespace: string; name: string; uid: string; ips: readonly string[] };
  nodeName: string;
  files: ContainerFiles;
}

/** The container's view of its volumes. */
export interface ContainerFiles {
  /** Text of a file, or undefined when it does not exist. */
  read(path: string): string | undefined;
  /** False when the path lies on no writable volume. */
  write(path: string, text: string): boolean;
  /**
   * Where a path really is: a stable identity of the volume (a persistent volume outlives the pod, an emptyDir does
   * not) and the path inside it. Undefined for a path on the read-only root file system.
   */
  locate(path: string): { volumeId: string; path: string } | undefined;
}

export interface ServerExit {
  code: number;
  /** Why it could not run or stopped, as a person would read it in the pod's log. */
  message: string;
}

export interface ServerProcess {
  readonly exited: Promise<ServerExit>;
  /** What it wrote at its start, as a person would read it in the pod's log. */
  readonly warnings?: readonly string[];
  kill(): void;
}

/** A program of FoundationDB beside the server: it ends by itself, or runs until it is stopped. */
export interface ToolSpec extends ServerProcessSpec {
  name: "backup_agent" | "fdbbackup" | "fdbrestore" | "fdbcli";
  /** As the program was called; its own words name it so. */
  calledAs: string;
  /** What it prints; the text may hold several lines, and parts of one. */
  write(stream: "stdout" | "stderr", text: string): void;
  /** What it reads from its standard input; undefined at the end. It has none when absent. */
  readonly readInput?: () => Promise<Uint8Array | undefined>;
}

export interface ToolProcess {
  readonly exited: Promise<{ code: number }>;
  /** SIGTERM. */
  terminate(): void;
  kill(): void;
}

export interface ProcessRuntime {
  start(spec: ServerProcessSpec): ServerProcess;
  /** Runs a backup tool; absent where there are none. */
  startTool?(spec: ToolSpec): ToolProcess;
  /** The volume is deleted, and everything on it with it. */
  volumeRemoved?(volumeId: string): void;
  /** What the processes themselves keep on a volume. */
  volumeFiles?(volumeId: string): VolumeFiles;
}

/** Files that processes made, by their paths inside the volume. */
export interface VolumeFiles {
  paths(): readonly string[];
  read(path: string): Uint8Array | undefined;
  /** False when such a file is not theirs. */
  write(path: string, bytes: Uint8Array): boolean;
  remove(path: string): boolean;
}

/** Name resolution and reachability as a process inside a pod sees it. */
export interface HostResolver {
  /** The pod IP behind a host name, or undefined while it does not resolve. */
  resolve(hostName: string): string | undefined;
}
