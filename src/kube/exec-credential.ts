// Signs in by the command that a kubeconfig names, as cloud providers have it: the command prints an ExecCredential
// with a token or a client certificate. Rules: spec/explain.md [E18].
import { spawnSync } from "node:child_process";

export interface ExecCredential {
  token?: string;
  clientCertificate?: string;
  clientKey?: string;
}

type Entry = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string | undefined>>;

const timeLimitMs = 60_000;

/** `settings` is the `exec` of a user in a kubeconfig. Throws an Error that says in a line what went wrong. */
export function execCredential(settings: Entry, environment: Environment): ExecCredential {
  const { command, args, env, apiVersion, installHint } = settings;
  if (typeof command !== "string" || command === "") throw new Error("exec names no command");
  const spec = { interactive: false };
  const version = typeof apiVersion === "string" ? apiVersion : "client.authentication.k8s.io/v1";
  const info = { kind: "ExecCredential", apiVersion: version, spec };
  const result = spawnSync(command, Array.isArray(args) ? args.map(String) : [], {
    encoding: "utf8",
    timeout: timeLimitMs,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, ...variables(env), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  });
  if (result.error !== undefined) {
    const hint = typeof installHint === "string" ? ` (${installHint.trim().split("\n")[0]})` : "";
    throw new Error(`cannot run ${command} to sign in: ${result.error.message}${hint}`);
  }
  if (result.status !== 0) {
    const words = result.stderr.trim().split("\n").at(-1) ?? "";
    throw new Error(`${command} could not sign in, exit code ${result.status}: ${words}`);
  }
  return credentialOf(result.stdout, command);
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
  const { token, clientCertificateData, clientKeyData } = status;
  return {
    ...(typeof token === "string" ? { token } : {}),
    ...(typeof clientCertificateData === "string"
      ? { clientCertificate: clientCertificateData }
      : {}),
    ...(typeof clientKeyData === "string" ? { clientKey: clientKeyData } : {}),
  };
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
