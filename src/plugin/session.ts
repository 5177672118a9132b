// What a command of `kubectl fdb` works with: the API server as the person at the keyboard, and their terminal. Everything is
// an argument, so that tests run commands in a simulated world. Rules: spec/plugin.md [PL1]-[PL6].
import type { Clock } from "../env/clock.ts";
import type { KubeClient } from "../kube/client.ts";
import type { OutputStream, PodStreams, TerminalSize } from "../kube/pod-exec.ts";

export interface Session {
  readonly client: KubeClient;
  /** Commands in pods, and logs that are followed. */
  readonly exec: PodStreams;
  /** Of --namespace, else of the context, else "default". */
  readonly namespace: string;
  /** Whether --namespace named it. */
  readonly isNamespaceGiven: boolean;
  /** URL of the API server, for messages. */
  readonly server: string;
  /** For waiting. */
  readonly clock: Clock;
  /** The time of the API server: ages of objects are told by it, since ours may be wrong, and an emulated one may run faster. */
  readonly serverNowMs: () => number;
  readonly out: Terminal;
  /** Aborted by Ctrl-C. Whoever asks for it ends soon after that; a second Ctrl-C ends the process at once. */
  readonly signal: AbortSignal;
}

export interface Terminal {
  /** Whether standard output goes to a person. */
  readonly isTerminal: boolean;
  /** Whether what is written may carry colours. */
  readonly hasColor: boolean;
  /** The same for notes. */
  readonly hasNoteColor: boolean;
  readonly width: number;
  readonly height: number;
  /** What was asked for: standard output. */
  write(text: string): void;
  /** Prompts, differences, warnings and progress: standard error, so that a pipe gets nothing but the answer. */
  note(text: string): void;
  /** Whether somebody can answer a question. */
  readonly canAsk: boolean;
  /** A line of standard input; undefined when there are no more. */
  readLine(): Promise<string | undefined>;
  /** Hands on what a command in a pod writes, as it is. */
  pass(stream: OutputStream, bytes: Uint8Array): void;
  /** What is typed goes to a command in a pod until it is taken back. Raw: key by key, Ctrl-C included. */
  giveKeyboard(isRaw: boolean, reader: KeyboardReader): { takeBack(): void };
}

export interface KeyboardReader {
  /** No more is read until it is done. */
  onBytes(bytes: Uint8Array): Promise<void>;
  onEnd(): void;
  onResize(size: TerminalSize): void;
}

/** The flags by which kubectl finds a server, as far as they make sense here. */
export interface ConnectionFlags {
  namespace?: string;
  kubeconfig?: string;
  context?: string;
  as?: string;
  asGroup?: string[];
  /** Of one request. */
  requestTimeout?: number;
}

export interface OpenedSession extends Session {
  close(): void;
}

/** The time of the API server, by which its objects are dated: ours may be wrong. */
export function serverClockOf({
  clock,
  serverNowMs,
}: Pick<Session, "clock" | "serverNowMs">): Clock {
  return {
    nowMs: serverNowMs,
    // The server's clock is not set with ours.
    steppedMs: () => 0,
    setTimer: (delayMs, run) => clock.setTimer(delayMs, run),
  };
}

export type OpenSession = (flags: ConnectionFlags) => Promise<OpenedSession>;
