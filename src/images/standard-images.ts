// Which images can be pulled and what they contain: FoundationDB's own images of every supported
// version, and any other image as something that simply runs. Carries rules KUBELET12 and
// KUBELET13.
import type { ContainerImage, ImageCatalogue } from "../emulator/kubelet-images.ts";
import { isSupported, parseVersion } from "../model/version.ts";
import { binaryText } from "../pod/container-program.ts";
import type { Program } from "../pod/container-program.ts";
import { runBackupTool } from "./backup-tool.ts";
import { runInContainer } from "./commands/command-table.ts";
import { runCopy } from "./copy-program.ts";
import { runFdbmonitor } from "./fdbmonitor.ts";
import { runGeneric } from "./generic-program.ts";
import { runSplitSidecar } from "./split-sidecar.ts";
import { runUnifiedMonitor } from "./unified-monitor.ts";

const binaries = ["fdbserver", "fdbcli", "fdbmonitor", "fdbbackup", "backup_agent", "fdbrestore"];
const toolNames = ["backup_agent", "fdbbackup", "fdbrestore"] as const;
const shells = ["sh", "/bin/sh", "bash", "/bin/bash"];

/** `aliases`: further references, and the FoundationDB image that each of them stands for. */
export function standardImages(aliases: Readonly<Record<string, string>> = {}): ImageCatalogue {
  const known = new Map<string, ContainerImage | undefined>();
  return {
    find(reference) {
      const actual = aliases[reference] ?? reference;
      if (!known.has(reference)) known.set(reference, readReference(actual));
      return known.get(reference);
    },
  };
}

function readReference(reference: string): ContainerImage | undefined {
  const match = /^(?:.*\/)?([^/:@]+)(?::([\w][\w.-]*))?(?:@.*)?$/.exec(reference);
  const name = match?.[1] ?? "";
  const tag = match?.[2] ?? "latest";
  switch (name) {
    case "fdb-kubernetes-monitor":
      return databaseImage(tag, "fdb-kubernetes-monitor", runUnifiedMonitor);
    case "foundationdb":
      return databaseImage(tag, "fdbmonitor", runFdbmonitor);
    case "foundationdb-kubernetes-sidecar":
      return databaseImage(tag, "sidecar.py", runSplitSidecar);
    default:
      // A name that is nearly one of FoundationDB's is a mistake, and no registry has it.
      if (/fdb|foundationdb/.test(repositoryOf(reference))) return undefined;
      return { files: new Map(), program: () => runGeneric, command: runInContainer };
  }
}

/** Without registry, tag and digest. */
function repositoryOf(reference: string): string {
  const [first = "", ...rest] = reference
    .replace(/@.*$/, "")
    .replace(/:[\w.-]*$/, "")
    .split("/");
  const isRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first);
  return (isRegistry ? rest : [first, ...rest]).join("/");
}

function databaseImage(tag: string, entryPoint: string, run: Program): ContainerImage | undefined {
  const text = /^\d+\.\d+\.\d+(-rc\d+)?/.exec(tag)?.[0];
  const version = text === undefined ? undefined : parseVersion(text);
  if (text === undefined || version === undefined || !isSupported(version)) return undefined;
  const files = new Map(binaries.map((name) => [`/usr/bin/${name}`, binaryText(name, text)]));
  files.set("/var/fdb/version", `${text}\n`);
  const names = new Set([entryPoint, `/usr/bin/${entryPoint}`]);
  return {
    files,
    command: runInContainer,
    program([first]) {
      if (first === undefined || names.has(first)) return run;
      const tool = toolNames.find((name) => first === name || first === `/usr/bin/${name}`);
      if (tool !== undefined) return runBackupTool(tool);
      if (first === "cp" || first === "/usr/bin/cp") return runCopy;
      if (shells.includes(first)) return run === runFdbmonitor ? run : runGeneric;
      const isThere = files.has(first) || files.has(`/usr/bin/${first}`);
      return isThere || genericCommands.has(first) ? runGeneric : undefined;
    },
  };
}

const genericCommands = new Set(["sleep", "tail", "cat", "true", "false"]);
