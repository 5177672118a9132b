// A real Kubernetes control plane for tests: etcd and kube-apiserver, and on demand the controller manager
// and the scheduler, on free loopback ports with throw-away data. It needs no rights and no containers.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serviceNetwork } from "../src/emulator/address-block.ts";
import { machineClock, sleep } from "../src/env/clock.ts";
import { findControlPlane } from "./control-plane-binary.ts";
import { atEndOfProcess } from "./end-of-process.ts";
import type { ControlPlanePart, ControlPlanePrograms } from "./control-plane-binary.ts";

export interface ControlPlaneOptions {
  /** "if-present" goes on without it when the programs found have none. */
  withControllerManager?: boolean | "if-present";
  withScheduler?: boolean;
  /** Records who asked for what; see ControlPlane.audited. */
  audits?: boolean;
  /** Where the addresses of services come from, so that several clusters can share one network; see address-block.ts. */
  addressBlock?: number;
  /** For example "1.34": the server behaves as that minor version. */
  emulatedVersion?: string;
  environment?: Readonly<Record<string, string | undefined>>;
  say?: (line: string) => void;
}

export interface ControlPlane {
  readonly url: string;
  readonly caPem: string;
  /** Where the programs come from, for people. */
  readonly source: string;
  /** The bearer token of a user: "admin" may do everything, the others need RBAC rules. */
  token(user: ControlPlaneUser): string;
  has(part: ControlPlanePart): boolean;
  startScheduler(): Promise<void>;
  /** Every request of a user so far; only with `audits`. */
  audited(user: string): readonly AuditedRequest[];
  /** Makes etcd forget everything before the present revision, as its periodic compaction does. */
  compact(): Promise<void>;
  /** Kills the API server; etcd keeps what it stored. */
  stopApiServer(): Promise<void>;
  /** Starts it again at the same address and resolves when it is ready. */
  startApiServer(): Promise<void>;
  /** Kills everything and deletes the data. The servers' logs are lost with it. */
  stop(): Promise<void>;
}

export interface AuditedRequest {
  readonly verb: string;
  readonly apiGroup: string;
  /** With its subresource, such as pods/status. */
  readonly resource: string;
  /** Absent when the request was about a whole collection. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly atMs: number;
  /** From its arrival to the end of the answer, as the server measured it. */
  readonly durationMs: number;
  readonly code: number;
}

export type ControlPlaneUser = "admin" | "operator" | "viewer";

const clock = machineClock();
const readyWithinMs = 120_000;
const users: readonly ControlPlaneUser[] = ["admin", "operator", "viewer"];
// Deletes of claims, volumes and namespaces hang without their controllers.
const controllers = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "deployment-controller",
  "replicaset-controller",
  "disruption-controller",
  "persistentvolume-binder-controller",
  "persistentvolume-protection-controller",
  "persistentvolumeclaim-protection-controller",
];

interface Running {
  readonly folder: string;
  readonly children: Map<ControlPlanePart, ChildProcess>;
  /** Nothing is left to be ended with this process. */
  forget: () => void;
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const say = options.say ?? (() => {});
  const programs = await findControlPlane(options.environment ?? process.env, say);
  const own: Running = {
    folder: mkdtempSync(path.join(tmpdir(), "fdb-control-plane-")),
    children: new Map(),
    forget: () => {},
  };
  own.forget = atEndOfProcess(() => kill(own));
  try {
    const withControllerManager =
      options.withControllerManager === "if-present"
        ? programs.commands["kube-controller-manager"] !== undefined
        : options.withControllerManager;
    return await startParts(own, programs, { ...options, withControllerManager });
  } catch (error) {
    await stop(own);
    throw error;
  }
}

async function startParts(
  own: Running,
  programs: ControlPlanePrograms,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const [etcdPort, apiPort] = await freePorts(2);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const url = `https://127.0.0.1:${apiPort}`;
  const tokens = new Map(users.map((user) => [user, randomBytes(16).toString("hex")]));
  const adminToken = tokens.get("admin") ?? "";
  writeKeysAndTokens(own.folder, tokens);
  launch(own, programs, "etcd", etcdArguments(own.folder, etcdUrl));
  await untilReady(own, "etcd", () => answers(`${etcdUrl}/readyz`));
  const readCa = (): string => readFileSync(path.join(own.folder, "apiserver.crt"), "utf8");
  const apiServerFlags = apiServerArguments(own.folder, etcdUrl, apiPort ?? 0, options);
  const startApiServer = async (): Promise<void> => {
    launch(own, programs, "kube-apiserver", apiServerFlags);
    await untilReady(own, "kube-apiserver", async () =>
      answers(`${url}/readyz`, readCa(), adminToken),
    );
  };
  await startApiServer();
  const caPem = readCa();
  writeKubeconfig(own.folder, url, caPem, adminToken);
  if (options.withControllerManager === true) {
    const flags = controllerManagerArguments(own.folder);
    launch(own, programs, "kube-controller-manager", flags);
  }
  const startScheduler = async (): Promise<void> => {
    launch(own, programs, "kube-scheduler", schedulerArguments(own.folder));
  };
  if (options.withScheduler === true) await startScheduler();
  return {
    url,
    caPem,
    source: programs.source,
    token: (user) => tokens.get(user) ?? "",
    has: (part) => programs.commands[part] !== undefined,
    startScheduler,
    audited: (user) => readAudit(own.folder, user),
    compact: () => compactEtcd(etcdUrl),
    stopApiServer: () => endChild(own.children.get("kube-apiserver")),
    startApiServer,
    stop: () => stop(own),
  };
}

function writeKeysAndTokens(folder: string, tokens: ReadonlyMap<string, string>): void {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeSecret(
    folder,
    "accounts.key",
    privateKey.export({ type: "sec1", format: "pem" }).toString(),
  );
  writeSecret(folder, "accounts.pub", publicKey.export({ type: "spki", format: "pem" }).toString());
  const lines = [...tokens].map(
    ([user, token]) => `${token},${user},${user}${user === "admin" ? ",system:masters" : ""}`,
  );
  writeSecret(folder, "tokens.csv", `${lines.join("\n")}\n`);
}

function writeSecret(folder: string, name: string, text: string): void {
  writeFileSync(path.join(folder, name), text, { mode: 0o600 });
}

function auditArguments(folder: string): string[] {
  const policy = path.join(folder, "audit-policy.json");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog(folder)}`];
}

function auditLog(folder: string): string {
  return path.join(folder, "audit.log");
}

function readAudit(folder: string, user: string): AuditedRequest[] {
  const lines = readFileSync(auditLog(folder), "utf8").split("\n");
  return lines.flatMap((line) => {
    if (!line.includes(user)) return [];
    const event = JSON.parse(line) as {
      verb: string;
      user: { username: string };
      requestReceivedTimestamp: string;
      stageTimestamp: string;
      objectRef?: Partial<
        Record<"apiGroup" | "resource" | "subresource" | "namespace" | "name", string>
      >;
      responseStatus?: { code?: number };
    };
    const { resource, subresource, apiGroup = "", namespace, name } = event.objectRef ?? {};
    if (event.user.username !== user || resource === undefined) return [];
    const { verb, responseStatus } = event;
    const atMs = Date.parse(event.requestReceivedTimestamp);
    const durationMs = Date.parse(event.stageTimestamp) - atMs;
    const full = subresource === undefined ? resource : `${resource}/${subresource}`;
    const code = responseStatus?.code ?? 0;
    return [{ verb, apiGroup, resource: full, namespace, name, atMs, durationMs, code }];
  });
}

function etcdArguments(folder: string, url: string): string[] {
  return [
    `--data-dir=${path.join(folder, "etcd")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    "--listen-peer-urls=http://127.0.0.1:0",
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiServerArguments(
  folder: string,
  etcdUrl: string,
  port: number,
  options: ControlPlaneOptions,
): string[] {
  // No kubelet is there to clear a new node's taint, and two plugins wait for controllers.
  const disabled = ["TaintNodesByCondition"];
  if (options.withControllerManager !== true) {
    disabled.push("ServiceAccount", "StorageObjectInUseProtection");
  }
  const version = options.emulatedVersion;
  return [
    ...(options.audits === true ? auditArguments(folder) : []),
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    // The server makes its own certificate in this folder, and the file carries its authority too.
    `--cert-dir=${folder}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${path.join(folder, "accounts.pub")}`,
    `--service-account-signing-key-file=${path.join(folder, "accounts.key")}`,
    `--token-auth-file=${path.join(folder, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    `--service-cluster-ip-range=${serviceNetwork(options.addressBlock ?? 0)}`,
    "--endpoint-reconciler-type=none",
    "--allow-privileged=true",
    `--disable-admission-plugins=${disabled.join(",")}`,
    // The suite's own requests must never be throttled.
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
    ...(version === undefined ? [] : [`--emulated-version=kube=${version}`]),
  ];
}

function controllerManagerArguments(folder: string): string[] {
  return [
    `--kubeconfig=${path.join(folder, "kubeconfig")}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=1000",
    "--kube-api-burst=1000",
    "--concurrent-gc-syncs=5",
    "--enable-hostpath-provisioner",
  ];
}

function schedulerArguments(folder: string): string[] {
  return [
    `--kubeconfig=${path.join(folder, "kubeconfig")}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=1000",
    "--kube-api-burst=1000",
  ];
}

function writeKubeconfig(folder: string, url: string, caPem: string, token: string): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "local",
    contexts: [{ name: "local", context: { cluster: "local", user: "admin" } }],
    clusters: [
      {
        name: "local",
        cluster: {
          server: url,
          "certificate-authority-data": Buffer.from(caPem).toString("base64"),
        },
      },
    ],
    users: [{ name: "admin", user: { token } }],
  };
  writeSecret(folder, "kubeconfig", JSON.stringify(config));
}

function launch(
  own: Running,
  programs: ControlPlanePrograms,
  part: ControlPlanePart,
  flags: readonly string[],
): void {
  const [program, ...leading] = programs.commands[part] ?? [];
  if (program === undefined) throw new Error(`there is no ${part} in ${programs.source}`);
  const log = openSync(path.join(own.folder, `${part}.log`), "a");
  // The parts of our own binary end when their standard input does: also when this process is killed.
  const child = spawn(program, [...leading, ...flags], {
    cwd: own.folder,
    stdio: ["pipe", log, log],
  });
  child.on("error", () => {}); // The missing process is noticed, with its log, by untilReady.
  closeSync(log);
  child.unref();
  own.children.set(part, child);
}

async function untilReady(
  own: Running,
  part: ControlPlanePart,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = clock.nowMs() + readyWithinMs;
  while (!(await isReady().catch(() => false))) {
    const child = own.children.get(part);
    const hasEnded = child?.pid === undefined || child.exitCode !== null;
    if (hasEnded || clock.nowMs() > deadlineMs) {
      const log = readFileSync(path.join(own.folder, `${part}.log`), "utf8").trim();
      const what = hasEnded ? "ended" : `was not ready in ${readyWithinMs / 1000} s`;
      throw new Error(`${part} ${what}; its last lines:\n${log.split("\n").slice(-15).join("\n")}`);
    }
    await sleep(clock, 100);
  }
}

async function answers(url: string, ca?: string, token?: string): Promise<boolean> {
  const answer = await call(url, { ca, token });
  return answer.status === 200;
}

async function compactEtcd(etcdUrl: string): Promise<void> {
  const key = Buffer.from("/").toString("base64");
  const range = await call(`${etcdUrl}/v3/kv/range`, { body: JSON.stringify({ key }) });
  const revision = /"revision":\s*"(\d+)"/.exec(range.text)?.[1];
  const body = JSON.stringify({ revision, physical: true });
  const answer = await call(`${etcdUrl}/v3/kv/compaction`, { body });
  if (answer.status !== 200 && !answer.text.includes("compacted")) {
    throw new Error(`etcd refused to compact: ${answer.status} ${answer.text}`);
  }
}

function call(
  url: string,
  { ca, token, body }: { ca?: string; token?: string; body?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith("https:") ? httpsRequest : httpRequest;
    const headers: Record<string, string> = {};
    if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
    const method = body === undefined ? "GET" : "POST";
    const request = start(url, { method, headers, ca, timeout: 5000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error(`no answer from ${url}`)));
    request.end(body);
  });
}

/** All sockets are open at once, so that the ports differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.on("error", reject);
          server.listen(0, "127.0.0.1", () => {
            const address = server.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function stop(own: Running): Promise<void> {
  await Promise.all([...own.children.values()].map(endChild));
  kill(own);
}

async function endChild(child: ChildProcess | undefined): Promise<void> {
  const hasEnded = child?.exitCode !== null || child.signalCode !== null;
  if (child?.pid === undefined || hasEnded) return;
  child.ref();
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  child.kill("SIGKILL");
  await ended;
}

/** Synchronous, for the end of the process. A stop by SIGTERM would take seconds for data nobody wants. */
function kill(own: Running): void {
  for (const child of own.children.values()) child.kill("SIGKILL");
  rmSync(own.folder, { recursive: true, force: true, maxRetries: 5 });
  own.forget();
}
