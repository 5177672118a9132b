// The seam to what runs inside a pod: a command with its output and exit code, a session with the caller's own streams,
// and a log that is followed. Two implementations: WebSockets to a real API server (pod-sockets.ts), and the emulated
// nodes in the same process and in virtual time. Rules: spec/streams.md.

export interface PodPlace {
  namespace: string;
  pod: string;
  container: string;
}

export interface PodExecRequest extends PodPlace {
  command: readonly string[];
  /** Given to the command as its whole standard input; without it the command has none. */
  stdin?: string | Uint8Array;
  /** From the request to the end of the command. */
  timeoutMs: number;
}

export interface PodExecResult {
  /** The bytes as text; `stdoutBytes` has them as they are. */
  stdout: string;
  stdoutBytes: Uint8Array;
  stderr: string;
  exitCode: number;
}

/** Throws KubeError when the request is refused, the connection breaks or the time is over; an exit code is a result. */
export interface PodExec {
  run(request: PodExecRequest): Promise<PodExecResult>;
}

export type OutputStream = "stdout" | "stderr";

export interface PodSessionRequest extends PodPlace {
  command: readonly string[];
  /** The command gets a terminal; both outputs are one then. */
  hasTerminal: boolean;
  hasInput: boolean;
  /** No more output is read until what it returns is done. */
  onOutput: (stream: OutputStream, bytes: Uint8Array) => void | Promise<void>;
  signal?: AbortSignal;
}

export interface PodSession {
  /** The exit code; rejects with KubeError when the connection breaks before. */
  readonly exited: Promise<number>;
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface PodLogOptions {
  /** May be left out for a pod with one container. */
  container?: string;
  tailLines?: number;
  sinceSeconds?: number;
  limitBytes?: number;
  /** Each line begins with its time. */
  timestamps?: boolean;
  /** Of the run before the last restart. */
  previous?: boolean;
}

export interface FollowLogRequest extends PodLogOptions {
  namespace: string;
  pod: string;
  /** Gets lines without their line feeds; no more are read until what it returns is done. */
  onLines: (lines: readonly string[]) => void | Promise<void>;
  signal?: AbortSignal;
}

export interface PodStreams extends PodExec {
  open(request: PodSessionRequest): Promise<PodSession>;
  /** Resolves when the container has ended or the signal is aborted. */
  followLog(request: FollowLogRequest): Promise<void>;
}

export function podLogQuery(options: PodLogOptions): Record<string, string> {
  const { container, tailLines, sinceSeconds, limitBytes, timestamps, previous } = options;
  return {
    ...(container === undefined ? {} : { container }),
    ...(tailLines === undefined ? {} : { tailLines: String(tailLines) }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) }),
    ...(limitBytes === undefined ? {} : { limitBytes: String(limitBytes) }),
    ...(timestamps === true ? { timestamps: "true" } : {}),
    ...(previous === true ? { previous: "true" } : {}),
  };
}
