// Where the API server is and who we are there: from a kubeconfig file, or from the files that Kubernetes
// mounts into every pod. Carries rules KUBE16 to KUBE18, KUBE81, KUBE84 and KUBE96.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { execCredential, renewCredential } from "./exec-credential.ts";
import { proxyOfEnvironment } from "./proxy.ts";
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
  /** Where certificates and key come from: read again whenever they change. */
  files?: {
    readonly certificateAuthority?: string;
    readonly clientCertificate?: string;
    readonly clientKey?: string;
  };
  /** The proxy on the way to this server; wins over the environment's. */
  proxyUrl?: string;
  /** When the credentials have to be asked for again. */
  expiresAtMs?: number;
  signInAgain?: () => Promise<ExecCredential>;
  /** In whose name requests are made. */
  impersonate?: Impersonation;
}

export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
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

/** A kubeconfig file; paths in it are relative to where it is. */
interface Document {
  readonly path: string;
  readonly content: Entry;
}

interface Found {
  readonly value: Entry;
  /** The file it stands in. */
  readonly path: string;
}

/** Carries out the command by which a user signs in. */
export interface SignIn {
  now: (settings: Entry) => ExecCredential;
  again: (settings: Entry) => Promise<ExecCredential>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Several files are one: of entries with the same name, and of current contexts, the first counts. */
export function readKubeconfig(
  paths: string | readonly string[],
  contextName?: string,
  signIn?: SignIn,
): KubeConnection {
  const documents = [paths].flat().map((path) => {
    try {
      return documentOf(readFileSync(path, "utf8"), path);
    } catch (error) {
      if (error instanceof KubeconfigError) throw error;
      throw new KubeconfigError(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  });
  return connectionOf(documents, contextName, signIn);
}

function documentOf(text: string, path: string): Document {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new KubeconfigError(path, `is no YAML: ${(error as Error).message.split("\n")[0]}`);
  }
  if (!isEntry(content)) throw new KubeconfigError(path, "is empty or no kubeconfig");
  return { path, content };
}

function connectionOf(
  documents: readonly Document[],
  contextName: string | undefined,
  signIn: SignIn | undefined,
): KubeConnection {
  const path = documents.map((document) => document.path).join(delimiter);
  const current = documents.map(({ content }) => textOf(content["current-context"]));
  const wanted = contextName ?? current.find((name) => name !== undefined);
  if (wanted === undefined) {
    throw new KubeconfigError(path, "names no current-context; set one or name a context");
  }
  const context = named(documents, "contexts", "context", wanted).value;
  const clusterName = textOf(context["cluster"]) ?? "";
  const cluster = named(documents, "clusters", "cluster", clusterName);
  const userName = textOf(context["user"]);
  const user =
    userName === undefined ? { value: {}, path } : named(documents, "users", "user", userName);
  const signedIn = credentialOf(user, userName ?? "", signIn);
  const server = textOf(cluster.value["server"]);
  if (server === undefined || !URL.canParse(server)) {
    throw new KubeconfigError(cluster.path, `cluster "${clusterName}" has no valid server URL`);
  }
  const files = filesOf(cluster, user, signedIn);
  return {
    server,
    certificateAuthority: material(cluster, "certificate-authority"),
    clientCertificate: signedIn.clientCertificate ?? material(user, "client-certificate"),
    clientKey: signedIn.clientKey ?? material(user, "client-key"),
    token: textOf(user.value["token"]) ?? signedIn.token,
    tokenFile: fileOf(user, "tokenFile"),
    verifyServer: cluster.value["insecure-skip-tls-verify"] !== true,
    serverName: textOf(cluster.value["tls-server-name"]),
    namespace: textOf(context["namespace"]),
    proxyUrl: textOf(cluster.value["proxy-url"]),
    ...(Object.keys(files).length === 0 ? {} : { files }),
    ...impersonationOf(user.value),
    ...renewalOf(user.value, signedIn, signIn),
  };
}

function impersonationOf(user: Entry): Pick<KubeConnection, "impersonate"> {
  const name = textOf(user["as"]);
  if (name === undefined) return {};
  const groups = [user["as-groups"] ?? []].flat().filter((each) => typeof each === "string");
  const uid = textOf(user["as-uid"]);
  return { impersonate: { user: name, groups, ...(uid === undefined ? {} : { uid }) } };
}

function credentialOf(user: Found, userName: string, signIn: SignIn | undefined): ExecCredential {
  const settings = user.value["exec"];
  if (!isEntry(settings) || user.value["token"] !== undefined) return {};
  if (signIn === undefined) {
    throw new KubeconfigError(
      user.path,
      `user "${userName}" signs in by a command (exec), which is not supported; use a token or a client certificate`,
    );
  }
  try {
    return signIn.now(settings);
  } catch (error) {
    throw new KubeconfigError(user.path, error instanceof Error ? error.message : String(error));
  }
}

function renewalOf(
  user: Entry,
  { expiresAtMs }: ExecCredential,
  signIn: SignIn | undefined,
): Pick<KubeConnection, "expiresAtMs" | "signInAgain"> {
  const settings = user["exec"];
  if (!isEntry(settings) || user["token"] !== undefined || signIn === undefined) return {};
  return {
    signInAgain: () => signIn.again(settings),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

/** What is read from files is read again when they change; what stands in the kubeconfig itself stays. */
function filesOf(
  cluster: Found,
  user: Found,
  signedIn: ExecCredential,
): NonNullable<KubeConnection["files"]> {
  const file = (found: Found, name: string): string | undefined =>
    textOf(found.value[`${name}-data`]) === undefined ? fileOf(found, name) : undefined;
  const certificateAuthority = file(cluster, "certificate-authority");
  const isOwn = signedIn.clientCertificate === undefined;
  const clientCertificate = isOwn ? file(user, "client-certificate") : undefined;
  const clientKey = isOwn ? file(user, "client-key") : undefined;
  return {
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
  };
}

/**
 * The connection that kubectl would use: the named file, then those of KUBECONFIG together, then the file in the home
 * folder, then the pod's own. Undefined when there is none.
 */
export function connectionOfPerson(
  path: string | undefined,
  contextName: string | undefined,
  environment: Environment = process.env,
): KubeConnection | undefined {
  const list = path ?? environment["KUBECONFIG"] ?? "";
  return (
    connectionOfList(list, contextName, environment) ??
    connectionOfHome(contextName, environment) ??
    inClusterConnection(environment)
  );
}

/** The connection of a program that runs for long: named files, then the pod's own, then the file in the home folder. */
export function connectionOfOperator(
  list: string,
  contextName: string,
  environment: Environment,
): KubeConnection | undefined {
  const context = contextName === "" ? undefined : contextName;
  return (
    connectionOfList(list, context, environment) ??
    inClusterConnection(environment) ??
    connectionOfHome(context, environment)
  );
}

/** Files of the list that do not exist are left out, unless none does. */
function connectionOfList(
  list: string,
  contextName: string | undefined,
  environment: Environment,
): KubeConnection | undefined {
  const listed = list.split(delimiter).filter((part) => part !== "");
  if (listed.length === 0) return undefined;
  const found = listed.filter((file) => existsSync(file));
  const files = found.length === 0 ? listed : found;
  return withProxy(readKubeconfig(files, contextName, signInBy(environment)), environment);
}

function connectionOfHome(
  contextName: string | undefined,
  environment: Environment,
): KubeConnection | undefined {
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const file = home === undefined ? undefined : join(home, ".kube", "config");
  if (file === undefined || !existsSync(file)) return undefined;
  return withProxy(readKubeconfig(file, contextName, signInBy(environment)), environment);
}

function withProxy(connection: KubeConnection, environment: Environment): KubeConnection {
  const proxyUrl = connection.proxyUrl ?? proxyOfEnvironment(connection.server, environment);
  if (proxyUrl === undefined) return connection;
  if (!URL.canParse(proxyUrl) || !/^https?:$/.test(new URL(proxyUrl).protocol)) {
    throw new KubeconfigError("proxy", "only http and https proxies are supported");
  }
  return { ...connection, proxyUrl };
}

function signInBy(environment: Environment): SignIn {
  return {
    now: (settings) => execCredential(settings, environment),
    again: (settings) => renewCredential(settings, environment),
  };
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
  const connection = {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    certificateAuthority: read("ca.crt"),
    tokenFile: `${folder}/token`,
    namespace: read("namespace"),
    files: { certificateAuthority: `${folder}/ca.crt` },
  };
  return withProxy(connection, environment);
}

/** The namespace of the pod that this program runs in; undefined when it runs in none, or has no service account. */
export function podNamespace(
  environment: Readonly<Record<string, string | undefined>>,
  folder = serviceAccountFolder,
): string | undefined {
  if ((environment["KUBERNETES_SERVICE_HOST"] ?? "") === "") return undefined;
  try {
    return textOf(readFileSync(`${folder}/namespace`, "utf8").trim());
  } catch {
    return undefined;
  }
}

function named(documents: readonly Document[], list: string, field: string, name: string): Found {
  for (const { path, content } of documents) {
    const entries = content[list];
    const found = Array.isArray(entries)
      ? entries.filter(isEntry).find((entry) => entry["name"] === name)
      : undefined;
    const value = found?.[field];
    if (isEntry(value)) return { value, path };
  }
  const path = documents.map((document) => document.path).join(delimiter);
  throw new KubeconfigError(path, `${list} has no entry named "${name}"`);
}

/** PEM text of `<name>-data` (base64) or of the file `<name>`. */
function material(found: Found, name: string): string | undefined {
  const data = textOf(found.value[`${name}-data`]);
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const file = fileOf(found, name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch {
    const given = textOf(found.value[name]);
    throw new KubeconfigError(found.path, `${name} names ${given}, which cannot be read`);
  }
}

function fileOf({ value, path }: Found, name: string): string | undefined {
  const file = textOf(value[name]);
  return file === undefined ? undefined : resolve(dirname(path), file);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
