// Where the API server is and who we are there: from a kubeconfig file, or from the files that Kubernetes
// mounts into every pod. Carries rules KUBE16 to KUBE18.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { execCredential } from "./exec-credential.ts";
import type { ExecCredential } from "./exec-credential.ts";

export interface KubeConnection {
  /** Base URL, for example https://127.0.0.1:6443. */
  server: string;
  /** PEM; the system's authorities are used when absent. */
  certificateAuthority?: string;
  clientCertificate?: string;
  clientKey?: string;
  token?: string;
  /** Read again whenever it changes; wins over `token`. */
  tokenFile?: string;
  /** False switches the check of the server's certificate off. */
  verifyServer?: boolean;
  /** Name to expect in the server's certificate when it is not the host of the URL. */
  serverName?: string;
  /** Namespace of the context or of the pod. */
  namespace?: string;
}

/** A kubeconfig that cannot be used; the message says where and what to do. */
export class KubeconfigError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.name = "KubeconfigError";
    this.path = path;
  }
}

type Entry = Readonly<Record<string, unknown>>;

/** Carries out the command by which a user signs in. */
type SignIn = (settings: Entry) => ExecCredential;

export function readKubeconfig(
  path: string,
  contextName?: string,
  signIn?: SignIn,
): KubeConnection {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new KubeconfigError(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return parseKubeconfig(text, path, contextName, signIn);
}

export function parseKubeconfig(
  text: string,
  path: string,
  contextName?: string,
  signIn?: SignIn,
): KubeConnection {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    throw new KubeconfigError(path, `is no YAML: ${(error as Error).message.split("\n")[0]}`);
  }
  if (!isEntry(document)) throw new KubeconfigError(path, "is empty or no kubeconfig");
  const wanted = contextName ?? textOf(document["current-context"]);
  if (wanted === undefined) {
    throw new KubeconfigError(path, "names no current-context; set one or name a context");
  }
  const context = named(document, "contexts", "context", wanted, path);
  const cluster = named(document, "clusters", "cluster", textOf(context["cluster"]) ?? "", path);
  const userName = textOf(context["user"]);
  const user = userName === undefined ? {} : named(document, "users", "user", userName, path);
  const signedIn = credentialOf(user, userName ?? "", path, signIn);
  const server = textOf(cluster["server"]);
  if (server === undefined || !URL.canParse(server)) {
    throw new KubeconfigError(
      path,
      `cluster "${textOf(context["cluster"])}" has no valid server URL`,
    );
  }
  const tokenFile = textOf(user["tokenFile"]);
  return {
    server,
    certificateAuthority: material(cluster, "certificate-authority", path),
    clientCertificate: signedIn.clientCertificate ?? material(user, "client-certificate", path),
    clientKey: signedIn.clientKey ?? material(user, "client-key", path),
    token: textOf(user["token"]) ?? signedIn.token,
    tokenFile: tokenFile === undefined ? undefined : resolve(dirname(path), tokenFile),
    verifyServer: cluster["insecure-skip-tls-verify"] !== true,
    serverName: textOf(cluster["tls-server-name"]),
    namespace: textOf(context["namespace"]),
  };
}

function credentialOf(
  user: Entry,
  userName: string,
  path: string,
  signIn: SignIn | undefined,
): ExecCredential {
  const settings = user["exec"];
  if (!isEntry(settings) || user["token"] !== undefined) return {};
  if (signIn === undefined) {
    throw new KubeconfigError(
      path,
      `user "${userName}" signs in by a command (exec), which is not supported; use a token or a client certificate`,
    );
  }
  try {
    return signIn(settings);
  } catch (error) {
    throw new KubeconfigError(path, error instanceof Error ? error.message : String(error));
  }
}

/**
 * The connection that kubectl would use: the named file, then the first existing one of KUBECONFIG, then the file in
 * the home folder, then the pod's own. Undefined when there is none.
 */
export function connectionOfPerson(
  path: string | undefined,
  contextName: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): KubeConnection | undefined {
  const read = (file: string): KubeConnection =>
    readKubeconfig(file, contextName, (settings) => execCredential(settings, environment));
  if (path !== undefined) return read(path);
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((part) => part !== "");
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const usual = home === undefined || listed.length > 0 ? [] : [join(home, ".kube", "config")];
  const found = [...listed, ...usual].find((file) => existsSync(file));
  if (found !== undefined) return read(found);
  const [missing] = listed;
  if (missing !== undefined) return read(missing);
  return inClusterConnection(environment);
}

const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The connection of a pod; undefined when the variables say that this is no pod. */
export function inClusterConnection(
  environment: Readonly<Record<string, string | undefined>>,
  folder = serviceAccountFolder,
): KubeConnection | undefined {
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || host === "" || port === undefined || port === "") return undefined;
  const read = (name: string): string => {
    try {
      return readFileSync(`${folder}/${name}`, "utf8").trim();
    } catch {
      throw new KubeconfigError(`${folder}/${name}`, "cannot be read; mount the service account");
    }
  };
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    certificateAuthority: read("ca.crt"),
    tokenFile: `${folder}/token`,
    namespace: read("namespace"),
  };
}

function named(document: Entry, list: string, field: string, name: string, path: string): Entry {
  const entries = document[list];
  const found = Array.isArray(entries)
    ? entries.filter(isEntry).find((entry) => entry["name"] === name)
    : undefined;
  const value = found?.[field];
  if (!isEntry(value)) throw new KubeconfigError(path, `${list} has no entry named "${name}"`);
  return value;
}

/** PEM text of `<name>-data` (base64) or of the file `<name>`, relative to the kubeconfig. */
function material(entry: Entry, name: string, path: string): string | undefined {
  const data = textOf(entry[`${name}-data`]);
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const file = textOf(entry[name]);
  if (file === undefined) return undefined;
  try {
    return readFileSync(resolve(dirname(path), file), "utf8");
  } catch {
    throw new KubeconfigError(path, `${name} names ${file}, which cannot be read`);
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
