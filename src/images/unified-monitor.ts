// fdb-kubernetes-monitor, the program of the unified image, in its three modes. The launcher runs
// fdbservers as the mounted JSON says and tells by annotations which configuration is active.
// Rules KUBELET34 to KUBELET39.
import { metricsPort } from "../model/pod-ports.ts";
import { isProtocolCompatible, parseVersion } from "../model/version.ts";
import type { ContainerProcess } from "../pod/container-command.ts";
import type { Program, ProgramContext, RunningProgram } from "../pod/container-program.ts";
import { binaryVersion, joinPath } from "../pod/container-program.ts";
import { copyInputs } from "./input-copy.ts";
import {
  parseMonitorConfiguration,
  resolveArguments,
  usedEnvironment,
} from "./monitor-configuration.ts";
import type { Environment, MonitorConfiguration, Resolved } from "./monitor-configuration.ts";
import { flagsFromEnvironment, parseFlags } from "./program-flags.ts";
import type { FlagKinds, Flags } from "./program-flags.ts";
import { ServerSlot } from "./server-slot.ts";
import type { ServerCommand } from "./server-slot.ts";

export const launcherAnnotations = {
  currentConfiguration: "foundationdb.org/launcher-current-configuration",
  environment: "foundationdb.org/launcher-environment",
  clusterFileChange: "foundationdb.org/cluster-file-change",
  outdatedConfigMapSeen: "foundationdb.org/outdated-config-map-seen",
  delayShutdown: "foundationdb.org/delay-shutdown",
  isolate: "foundationdb.org/isolate-process-group",
} as const;

const flagKinds: FlagKinds = {
  mode: "text",
  "fdbserver-path": "text",
  "input-dir": "text",
  "output-dir": "text",
  "input-monitor-conf": "text",
  "log-path": "text",
  "copy-file": "list",
  "copy-binary": "list",
  "copy-library": "list",
  "copy-primary-library": "text",
  "require-not-empty": "list",
  "version-file": "text",
  "shared-binary-dir": "text",
  "binary-output-dir": "text",
  "main-container-version": "text",
  "additional-env-file": "text",
  "process-count": "number",
  "listen-address": "text",
  "enable-pprof": "switch",
  "enable-node-watch": "switch",
  "certificate-path": "text",
  "certificate-key-path": "text",
};

const copyDurationMs = 500;
const clusterFilePath = "/var/fdb/data/fdb.cluster";

export const runUnifiedMonitor: Program = (context) => {
  const { args, environment } = context;
  const parsed = parseFlags(flagKinds, [
    ...flagsFromEnvironment(flagKinds, args, environment),
    ...args,
  ]);
  if ("problem" in parsed) return ended(context, 2, parsed.problem);
  const { flags } = parsed;
  const versionFile = flags.text("version-file", "/var/fdb/version");
  const version = context.files.read(versionFile)?.trim();
  if (version === undefined) return ended(context, 1, `cannot read ${versionFile}`);
  switch (flags.text("mode", "launcher")) {
    case "launcher":
      return launch(context, flags, version);
    case "init":
      return runCopy(context, flags, version, true);
    case "sidecar":
      return runCopy(context, flags, version, false);
    default:
      return ended(context, 1, `unknown mode ${flags.text("mode", "")}`);
  }
};

function ended(context: ProgramContext, code: number, message: string): RunningProgram {
  context.writeLog(message);
  context.exit(code);
  return { terminate: () => {}, kill: () => {} };
}

/** Copies files into a shared volume; as init container it ends then, as sidecar it stays. */
function runCopy(
  context: ProgramContext,
  flags: Flags,
  version: string,
  isInit: boolean,
): RunningProgram {
  const mainVersion = flags.text("main-container-version", "");
  const parsed = parseVersion(version);
  const directory =
    isInit && parsed !== undefined ? `${parsed.major}.${parsed.minor}` : `bin/${version}`;
  const timer = context.clock.setTimer(copyDurationMs, () => {
    if (!isInit && mainVersion === version) {
      return context.writeLog("the main container has the same version: nothing to copy");
    }
    const problem = copyInputs(context, {
      inputDirectory: flags.text("input-dir", "."),
      outputDirectory: flags.text("output-dir", "."),
      files: flags.list("copy-file"),
      nonEmptyFiles: flags.list("require-not-empty"),
      binaries: flags.list("copy-binary"),
      binaryDirectory: flags.text("binary-output-dir", directory),
    });
    if (problem !== undefined) context.writeLog(problem);
    if (problem !== undefined || isInit) context.exit(problem === undefined ? 0 : 1);
  });
  return {
    terminate: () => {
      timer.cancel();
      context.exit(0);
    },
    kill: () => timer.cancel(),
  };
}

function launch(context: ProgramContext, flags: Flags, version: string): RunningProgram {
  for (const name of ["FDB_POD_NAMESPACE", "FDB_POD_NAME"]) {
    if ((context.environment[name] ?? "") === "") {
      return ended(context, 1, `cannot find the own pod: the environment has no ${name}`);
    }
  }
  const launcher = new Launcher(context, flags, version);
  launcher.start();
  return launcher;
}

interface Active {
  readonly text: string;
  readonly configuration: MonitorConfiguration;
  readonly binaryPath: string;
}

class Launcher implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #flags: Flags;
  readonly #version: string;
  readonly #configurationPath: string;
  readonly #slots: ServerSlot[] = [];
  readonly #failures = new Map<ServerSlot, number>();
  #active: Active | undefined;
  #loadedAtSeconds = 0;
  #isIsolated = false;
  #isStopping = false;

  constructor(context: ProgramContext, flags: Flags, version: string) {
    this.#context = context;
    this.#flags = flags;
    this.#version = version;
    const inputDirectory = flags.text("input-dir", ".");
    this.#configurationPath = joinPath(
      inputDirectory,
      flags.text("input-monitor-conf", "config.json"),
    );
    for (let number = 1; number <= flags.number("process-count", 1); number += 1) {
      this.#slots.push(this.#createSlot(number));
    }
  }

  start(): void {
    this.#isIsolated = this.#readIsolation();
    this.#serveMetrics();
    this.#load();
    this.#context.files.onChange(this.#configurationPath, () => this.#load());
    this.#watchClusterFile();
    this.#context.onPodChange(() => this.#onPodChange());
  }

  /** A port that is taken only costs the metrics. */
  #serveMetrics(): void {
    const text = this.#flags.text("listen-address", `:${metricsPort}`);
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(text) ?? [];
    const useTls = this.#flags.text("certificate-path", "") !== "";
    const address = host.replace(/^\[(.*)\]$/, "$1");
    const isOpen = this.#context.listen(address, Number(port), useTls, (method, path) =>
      method === "GET" && path === "metrics"
        ? { status: 200, body: `fdb_monitor_processes ${this.#slots.length}\n` }
        : { status: 404, body: "404 page not found" },
    );
    if (!isOpen) this.#context.writeLog(`cannot listen on ${text}`);
  }

  /** The file's first appearance is not a change: the server makes it when it starts. */
  #watchClusterFile(): void {
    const { files, ownPod } = this.#context;
    let isKnown = files.read(clusterFilePath) !== undefined;
    files.onChange(clusterFilePath, () => {
      const seconds = String(this.#nowSeconds());
      if (isKnown) ownPod.annotate({ [launcherAnnotations.clusterFileChange]: seconds });
      isKnown = true;
    });
  }

  terminate(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const slot of this.#slots) slot.close();
    this.#exitWhenIdle();
  }

  kill(): void {
    this.#isStopping = true;
    for (const slot of this.#slots) slot.close();
  }

  processes(): readonly ContainerProcess[] {
    return this.#slots.flatMap((slot) => slot.processes());
  }

  #createSlot(number: number): ServerSlot {
    const slot: ServerSlot = new ServerSlot({
      name: `process ${number}`,
      context: this.#context,
      next: () => this.#command(number),
      pauseMs: (exit, ranMs) => {
        if (exit.code === 0) return 0;
        const failures = ranMs >= 300_000 ? 1 : (this.#failures.get(slot) ?? 0) + 1;
        this.#failures.set(slot, failures);
        return Math.min(60, failures ** 2) * 1000;
      },
      onIdle: () => this.#exitWhenIdle(),
    });
    return slot;
  }

  #command(number: number): ServerCommand | undefined {
    if (this.#active === undefined || !this.#mayRun()) return undefined;
    const { configuration, binaryPath } = this.#active;
    const args = resolveArguments(configuration, number, this.#environment());
    if ("problem" in args) {
      this.#context.writeLog(`process ${number} cannot start: ${args.problem}`);
      return undefined;
    }
    return { binaryPath, args: args.value };
  }

  #mayRun(): boolean {
    return this.#active?.configuration.runServers !== false && !this.#isIsolated;
  }

  #load(): void {
    if (this.#isStopping) return;
    this.#loadedAtSeconds = this.#nowSeconds();
    const text = this.#context.files.read(this.#configurationPath);
    if (text === undefined) {
      return this.#context.writeLog(`cannot open ${this.#configurationPath}`);
    }
    if (text === this.#active?.text) return this.#apply();
    const accepted = this.#judge(text);
    if ("problem" in accepted) {
      return this.#context.writeLog(`the new configuration is not used: ${accepted.problem}`);
    }
    this.#active = accepted.value;
    this.#announce(accepted.value);
    this.#apply();
  }

  /** A configuration is accepted only when its binary is there and its arguments can be made. */
  #judge(text: string): Resolved<Active> {
    const parsed = parseMonitorConfiguration(text);
    if ("problem" in parsed) return parsed;
    const configuration = parsed.value;
    const binaryPath = this.#binaryPath(configuration.version);
    if (binaryVersion(this.#context.files.read(binaryPath)) === undefined) {
      return { problem: `there is no executable ${binaryPath}` };
    }
    const args = resolveArguments(configuration, 1, this.#environment());
    if ("problem" in args) return args;
    return { value: { text, configuration, binaryPath } };
  }

  #binaryPath(wanted: string): string {
    const [own, other] = [parseVersion(this.#version), parseVersion(wanted)];
    if (own !== undefined && other !== undefined && isProtocolCompatible(own, other)) {
      return this.#flags.text("fdbserver-path", "/usr/bin/fdbserver");
    }
    const shared = this.#flags.text("shared-binary-dir", "/var/fdb/shared-binaries/bin");
    return joinPath(shared, wanted, "fdbserver");
  }

  #announce({ text, configuration, binaryPath }: Active): void {
    const used: Record<string, string> = {
      ...usedEnvironment(configuration, this.#environment()),
      BINARY_DIR: binaryPath.slice(0, binaryPath.lastIndexOf("/")),
    };
    const sorted = Object.fromEntries(
      Object.keys(used)
        .toSorted()
        .map((name) => [name, used[name]]),
    );
    this.#context.ownPod.annotate({
      [launcherAnnotations.currentConfiguration]: text,
      [launcherAnnotations.environment]: JSON.stringify(sorted),
    });
  }

  #apply(): void {
    for (const slot of this.#slots) {
      if (this.#mayRun()) slot.ensure();
      else if (slot.isRunning) slot.stop();
    }
  }

  #onPodChange(): void {
    const isIsolated = this.#readIsolation();
    const seen = Number(this.#annotation(launcherAnnotations.outdatedConfigMapSeen) ?? 0);
    const isOutdated = seen > this.#loadedAtSeconds;
    if (isIsolated !== this.#isIsolated) {
      this.#isIsolated = isIsolated;
      this.#apply();
    }
    if (isOutdated) this.#load();
  }

  /** Labels of the node become variables when the monitor is told to watch its node. */
  #environment(): Environment {
    const { environment, ownPod, files } = this.#context;
    const extra: Record<string, string> = {};
    const file = this.#flags.text("additional-env-file", "");
    for (const line of (file === "" ? "" : (files.read(file) ?? "")).split("\n")) {
      const match = /^export ([A-Za-z_]\w*)=(.*)$/.exec(line);
      if (match?.[1] !== undefined) extra[match[1]] = match[2] ?? "";
    }
    if (!this.#flags.isOn("enable-node-watch")) return { ...environment, ...extra };
    for (const [key, value] of Object.entries(ownPod.nodeLabels())) {
      extra[`NODE_LABEL_${key.replaceAll(/[/.]/g, "_").toUpperCase()}`] = value;
    }
    return { ...environment, ...extra };
  }

  #readIsolation(): boolean {
    return this.#annotation(launcherAnnotations.isolate) === "true";
  }

  #annotation(name: string): string | undefined {
    return this.#context.ownPod.annotations()[name];
  }

  #exitWhenIdle(): void {
    if (!this.#isStopping || this.#slots.some((slot) => slot.isRunning)) return;
    const delayMs = goDurationMs(this.#annotation(launcherAnnotations.delayShutdown) ?? "");
    if (delayMs === 0) return this.#context.exit(0);
    this.#context.clock.setTimer(delayMs, () => this.#context.exit(0));
  }

  #nowSeconds(): number {
    return Math.floor(this.#context.clock.nowMs() / 1000);
  }
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Go's notation of durations, for example 1m30s; other text is no delay. */
function goDurationMs(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return 0;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }
  return totalMs;
}
