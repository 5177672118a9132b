// The sidecar and init container of the split image: copies files, renders the monitor
// configuration, and answers HTTP requests of the operator. Carries rules KUBELET40, KUBELET43 and
// KUBELET44.
import { createHash } from "node:crypto";
import type { Program, ProgramContext, RunningProgram } from "../pod/container-program.ts";
import { joinPath } from "../pod/container-program.ts";
import { copyFiles, copyInputs } from "./input-copy.ts";
import type { InputCopy } from "./input-copy.ts";
import type { PodResponse } from "../pod/network.ts";
import { parseFlags } from "./program-flags.ts";
import type { FlagKinds, Flags } from "./program-flags.ts";
import { findSubstitutions, renderMonitorConf } from "./sidecar-substitutions.ts";

const flagKinds: FlagKinds = {
  "init-mode": "switch",
  "bind-address": "text",
  tls: "switch",
  "tls-certificate-file": "text",
  "tls-ca-file": "text",
  "tls-key-file": "text",
  "tls-verify-peers": "text",
  "input-dir": "text",
  "output-dir": "text",
  "substitute-variable": "list",
  "copy-file": "list",
  "copy-binary": "list",
  "copy-library": "list",
  "input-monitor-conf": "text",
  "main-container-version": "text",
  "public-ip-family": "text",
  "main-container-conf-dir": "text",
  "require-not-empty": "list",
};

const copyDurationMs = 500;

export const runSplitSidecar: Program = (context) => {
  const parsed = parseFlags(flagKinds, context.args);
  if ("problem" in parsed) return failed(context, 2, parsed.problem);
  const version = context.files.read("/var/fdb/version")?.trim();
  if (version === undefined) return failed(context, 1, "cannot read /var/fdb/version");
  const sidecar = new Sidecar(context, parsed.flags, version);
  const timer = context.clock.setTimer(copyDurationMs, () => sidecar.run());
  return {
    terminate: () => {
      timer.cancel();
      context.exit(0);
    },
    kill: () => timer.cancel(),
  };
};

function failed(context: ProgramContext, code: number, message: string): RunningProgram {
  context.writeLog(message);
  context.exit(code);
  return { terminate: () => {}, kill: () => {} };
}

class Sidecar {
  readonly #context: ProgramContext;
  readonly #flags: Flags;
  readonly #version: string;
  readonly #mainVersion: string;
  readonly #output: string;

  constructor(context: ProgramContext, flags: Flags, version: string) {
    this.#context = context;
    this.#flags = flags;
    this.#version = version;
    this.#mainVersion = flags.text("main-container-version", "");
    this.#output = flags.text("output-dir", "/var/output-files");
  }

  run(): void {
    const problem =
      copyInputs(this.#context, this.#copy(this.#mainVersion !== this.#version)) ?? this.#render();
    if (problem !== undefined) return this.#fail(problem);
    if (this.#flags.isOn("init-mode")) return this.#context.exit(0);
    const useTls = this.#flags.isOn("tls");
    const missing = useTls ? this.#missingCertificate() : undefined;
    if (missing !== undefined) return this.#fail(missing);
    const { address, port } = this.#bindAddress();
    const isOpen = this.#context.listen(address, port, useTls, (method, path) =>
      this.#answer(method, path),
    );
    if (!isOpen) this.#fail(`cannot listen on ${address} port ${port}`);
  }

  #fail(message: string): void {
    this.#context.writeLog(message);
    this.#context.exit(1);
  }

  #copy(hasBinaries: boolean): InputCopy {
    return {
      inputDirectory: this.#flags.text("input-dir", "/var/input-files"),
      outputDirectory: this.#output,
      files: this.#flags.list("copy-file"),
      nonEmptyFiles: this.#flags.list("require-not-empty"),
      binaries: hasBinaries ? this.#flags.list("copy-binary") : [],
      binaryDirectory: `bin/${this.#version}`,
    };
  }

  #substitutions() {
    return findSubstitutions({
      environment: this.#context.environment,
      hostName: this.#context.pod.name,
      ownAddress: this.#context.pod.ips[0] ?? "",
      ownVersion: this.#version,
      mainContainerVersion: this.#mainVersion,
      mainContainerConfDirectory: this.#flags.text("main-container-conf-dir", "/var/dynamic-conf"),
      publicIpFamily: this.#flags.text("public-ip-family", ""),
      variables: this.#flags.list("substitute-variable"),
    });
  }

  #render(): string | undefined {
    const name = this.#flags.text("input-monitor-conf", "");
    if (name === "") return undefined;
    const source = joinPath(this.#copy(false).inputDirectory, name);
    const template = this.#context.files.read(source);
    if (template === undefined) return `no such file: ${source}`;
    const substitutions = this.#substitutions();
    if ("problem" in substitutions) return substitutions.problem;
    const target = joinPath(this.#output, "fdbmonitor.conf");
    const text = renderMonitorConf(template, substitutions.value);
    const isWritten = this.#context.files.write(target, text);
    return isWritten ? undefined : `cannot write ${target}: read-only file system`;
  }

  #bindAddress(): { address: string; port: number } {
    const found = this.#substitutions();
    const { FDB_POD_IP: own = "" } = "problem" in found ? {} : found.value;
    const text = this.#flags.text("bind-address", `${own}:8080`);
    const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text);
    if (match !== null) return { address: match[1] ?? match[2] ?? "", port: Number(match[3]) };
    return { address: text, port: 8080 };
  }

  #missingCertificate(): string | undefined {
    for (const [flag, variable] of [
      ["tls-certificate-file", "FDB_TLS_CERTIFICATE_FILE"],
      ["tls-ca-file", "FDB_TLS_CA_FILE"],
      ["tls-key-file", "FDB_TLS_KEY_FILE"],
    ] as const) {
      const path = this.#flags.text(flag, this.#context.environment[variable] ?? "");
      if (path === "") return `TLS needs --${flag} or ${variable}`;
      if (this.#context.files.read(path) === undefined) return `no such file: ${path}`;
    }
    return undefined;
  }

  #answer(method: string, path: string): PodResponse {
    const [command = "", ...rest] = path.split("/");
    const file = rest.join("/");
    if (method === "GET") return this.#read(command, file);
    if (method === "POST" && file === "") return this.#act(command);
    return notFound;
  }

  #read(command: string, file: string): PodResponse {
    const text = file === "" ? undefined : this.#context.files.read(joinPath(this.#output, file));
    switch (command) {
      case "ready":
        return ok;
      case "check_hash":
        if (text === undefined) return { status: 404, body: `${file} not found\n` };
        return { status: 200, body: createHash("sha256").update(text).digest("hex") };
      case "is_present":
        return text === undefined ? { status: 404, body: `${file} not found\n` } : ok;
      case "substitutions": {
        const found = this.#substitutions();
        if ("problem" in found) return { status: 500, body: `${found.problem}\n` };
        return { status: 200, body: `${JSON.stringify(found.value)}\n` };
      }
      default:
        return notFound;
    }
  }

  #act(command: string): PodResponse {
    switch (command) {
      case "copy_files":
        return outcome(copyFiles(this.#context, this.#copy(false)));
      case "copy_binaries":
        return outcome(
          copyInputs(this.#context, {
            ...this.#copy(this.#mainVersion !== this.#version),
            files: [],
          }),
        );
      case "copy_libraries":
        return ok;
      case "copy_monitor_conf":
        return outcome(this.#render());
      case "refresh_certs":
        return this.#flags.isOn("tls") ? ok : { status: 400, body: "the server uses no TLS\n" };
      case "restart":
        this.#context.exit(1);
        return ok;
      default:
        return notFound;
    }
  }
}

const ok: PodResponse = { status: 200, body: "OK\n" };
const notFound: PodResponse = { status: 404, body: "not found\n" };

function outcome(problem: string | undefined): PodResponse {
  return problem === undefined ? ok : { status: 500, body: `${problem}\n` };
}
