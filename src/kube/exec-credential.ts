// Signs in by the command that a kubeconfig names, as cloud providers have it: the command prints an ExecCredential
// with a token or a client certificate. Rules: spec/explain.md [E18], spec/kube.md [KUBE84].
import { execFile, spawnSync } from "node:child_process";
import { parseTime } from "./time.ts";

export interface ExecCredential {
  token?: string;
  clientCertificate?: string;
  clientKey?: string;
  /** When it has to be asked for again. */
  expiresAtMs?: number;
}

type Entry = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string | undefined>>;

const timeLimitMs = 60_000;

/** `settings` is the `exec` of a user in a kubeconfig. Throws an Error that says in a line what went wrong. */
export function execCredential(settings: Entry, environment: Environment): ExecCredential {
  const { command, args, env } = commandOf(settings, environment);
  const result = spawnSync(command, args, {
    encoding: "utf8",
    timeout: timeLimitMs,
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  if (result.error !== undefined) throw cannotRun(settings, result.error);
  if (result.status !== 0) throw couldNotSignIn(command, result.status, result.stderr);
  return credentialOf(result.stdout, command);
}

/** The same without holding up anything else, for a program that has been running for long. */
export function renewCredential(
  settings: Entry,
  environment: Environment,
): Promise<ExecCredential> {
  const { command, args, env } = commandOf(settings, environment);
  return new Promise((resolve, reject) => {
    const done = (
      error: (Error & { code?: number | string | null }) | null,
      stdout: string,
      stderr: string,
    ): void => {
      try {
        if (error === null) return resolve(credentialOf(stdout, command));
      } catch (mistake) {
        return reject(mistake);
      }
      if (typeof error.code === "number") reject(couldNotSignIn(command, error.code, stderr));
      else reject(cannotRun(settings, error));
    };
    execFile(command, args, { encoding: "utf8", timeout: timeLimitMs, env }, done).stdin?.end();
  });
}

function commandOf(settings: Entry, environment: Environment) {
  const { command, args, env, apiVersion } = settings;
  if (typeof command !== "string" || command === "") throw new Error("exec names no command");
  const spec = { interactive: false };
  const version = typeof apiVersion === "string" ? apiVersion : "client.authentication.k8s.io/v1";
  const info = { kind: "ExecCredential", apiVersion: version, spec };
  return {
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: { ...environment, ...variables(env), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  };
}

/** Node's own words would repeat the arguments, and some programs are given their secret there. */
function cannotRun(
  { command, installHint }: Entry,
  error: Error & { code?: number | string | null; killed?: boolean },
): Error {
  const hint = typeof installHint === "string" ? ` (${installHint.trim().split("\n")[0]})` : "";
  const why = error.code ?? (error.killed === true ? "it took too long" : "it was ended");
  return new Error(`cannot run ${String(command)} to sign in: ${why}${hint}`);
}

function couldNotSignIn(command: string, code: number | null, stderr: string): Error {
  const words = stderr.trim().split("\n").at(-1) ?? "";
  return new Error(`${command} could not sign in, exit code ${code}: ${words}`);
}

function variables(list: unknown): Record<string, string> {
  if (!Array.isArray(list)) return {};
  return Object.fromEntries(
    list.filter(isEntry).map((entry) => [String(entry["name"]), String(entry["value"] ?? "")]),
  );
}

function credentialOf(output: string, command: string): ExecCredential {
  let document: unknown;
  try {
    document = JSON.parse(output);
  } catch {
    throw new Error(`${command} printed no credential`);
  }
  const status = isEntry(document) ? document["status"] : undefined;
  if (!isEntry(status)) throw new Error(`${command} printed a credential without a status`);
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  const expiresAtMs =
    typeof expirationTimestamp === "string" ? parseTime(expirationTimestamp) : undefined;
  return {
    ...(typeof token === "string" ? { token } : {}),
    ...(typeof clientCertificateData === "string"
      ? { clientCertificate: clientCertificateData }
      : {}),
    ...(typeof clientKeyData === "string" ? { clientKey: clientKeyData } : {}),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
