// The frames of `v5.channel.k8s.io` and `v4.channel.k8s.io`: the first byte of a message names the channel, and the last
// message on the error channel is a Status that carries the exit code. Both sides speak through it: the client
// (pod-sockets.ts) and the emulated API server. Rules: spec/streams.md [WS1] [WS2].
import { KubeError } from "./error.ts";
import { errorOfAnswer, isStatus } from "./status.ts";

export const channels = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  error: 3,
  resize: 4,
  close: 255,
} as const;

/** In the order in which a client prefers them; from v5 on the end of the input can be told. */
export const streamProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;

export function canEndInput(protocol: string): boolean {
  return protocol === streamProtocols[0];
}

export function frame(channel: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(channel), bytes]);
}

export function textFrame(channel: number, text: string): Buffer {
  return frame(channel, Buffer.from(text));
}

/** The last word of a command that ended by itself. */
export function exitStatus(exitCode: number): unknown {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** The exit code, or the error that kept the command from running to its end. */
export function readExitStatus(text: string): number | KubeError {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    // A kubelet that speaks no Status says what is wrong in plain words.
    return new KubeError(0, "InternalError", text.slice(0, 2_000));
  }
  // On this channel the Status comes without kind and apiVersion.
  const whole = { kind: "Status", apiVersion: "v1", ...(status as object) };
  if (!isStatus(whole) || whole.status === undefined)
    return new KubeError(0, "InternalError", text.slice(0, 2_000));
  if (whole.status === "Success") return 0;
  const cause = whole.details?.causes?.find(({ reason }) => reason === "ExitCode");
  const code = Number(cause?.message);
  if (whole.reason === "NonZeroExitCode" && Number.isInteger(code)) return code;
  return errorOfAnswer(whole.code ?? 500, whole);
}
