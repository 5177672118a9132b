// What `kubectl fdb --help` costs: somebody waits for it, and completion starts the program at every press of a key.
// Measured on a fresh bundle, and on the executable where one was built. Rules: spec/deploy.md [DEP22].
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "../scripts/bundle.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

const root = dirname(import.meta.dirname);
const aimMs = 150;
const repetitions = 5;

/** Processor time of one `--help`, of user and system together, by the shell's own count of its children. */
export function helpCpuMs(program: string, ...before: readonly string[]): number {
  const script = '"$@" --help >/dev/null; times';
  const { stdout } = spawnSync("sh", ["-c", script, "sh", program, ...before], {
    ...{ encoding: "utf8", timeout: 60_000 },
  });
  const [, children = ""] = stdout.trim().split("\n");
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return Math.round(seconds.reduce((sum, one) => sum + one, 0) * 1_000);
}

export interface PluginStart {
  program: string;
  cpuMs: number;
}

export async function runPluginStarts(): Promise<PluginStart[]> {
  const bundled = join(root, "dist/kubectl-fdb.js");
  await bundle("src/cli/kubectl-fdb.ts", bundled);
  const target = `${process.platform}-${process.arch}`;
  const executable = join(root, "dist/executable", target, "kubectl-fdb");
  return [
    { program: "bundle", cpuMs: leastOfMany(process.execPath, bundled) },
    ...(existsSync(executable) ? [{ program: "executable", cpuMs: leastOfMany(executable) }] : []),
  ];
}

/** Whatever else runs on the machine only adds to it. */
function leastOfMany(program: string, ...before: readonly string[]): number {
  const used = Array.from({ length: repetitions }, () => helpCpuMs(program, ...before));
  return used.reduce((left, right) => Math.min(left, right));
}

export function pluginStartAims(starts: readonly PluginStart[]): Aim[] {
  return starts.map(({ program, cpuMs }) => ({
    ...{ what: `kubectl fdb --help (${program}), CPU ms`, value: cpuMs, limit: aimMs },
    isMet: cpuMs <= aimMs,
  }));
}

export function pluginStartTable(starts: readonly PluginStart[]): string {
  return renderTable(
    "kubectl fdb --help",
    [
      { title: "program", cell: ({ program }) => program, align: "left" },
      { title: "CPU ms", cell: ({ cpuMs }) => String(cpuMs) },
      { title: "aim", cell: () => String(aimMs) },
      { title: "", cell: ({ cpuMs }) => mark(cpuMs <= aimMs) },
    ],
    starts,
  );
}
