// The real `promtool` and `prometheus`, built once from tools/monitoring without the ways of finding targets that nobody needs here.
import { spawnSync } from "node:child_process";
import { goProgram, goProgramPath } from "./go-program.ts";
import type { Environment, GoProgram } from "./go-program.ts";

const shared = {
  module: "monitoring",
  tags: ["remove_all_sd"],
  remedy: "install Go 1.26 or newer",
} as const;

const promtool: GoProgram = {
  ...shared,
  ...{ name: "promtool", title: "promtool" },
  package: "github.com/prometheus/prometheus/cmd/promtool",
  duration: "about 3 minutes",
};

const prometheus: GoProgram = {
  ...shared,
  ...{ name: "prometheus", title: "Prometheus" },
  package: "github.com/prometheus/prometheus/cmd/prometheus",
  duration: "about 2 minutes after promtool",
};

/** Where promtool lies, or would lie once it is built. */
export function promtoolPath(environment: Environment): string {
  return goProgramPath(promtool, environment);
}

export function buildPromtool(
  environment: Environment,
  say: (line: string) => void,
): Promise<string> {
  return goProgram(promtool, environment, say);
}

export function buildPrometheus(
  environment: Environment,
  say: (line: string) => void,
): Promise<string> {
  return goProgram(prometheus, environment, say);
}

/** What promtool prints, and whether it is content. */
export function runPromtool(
  environment: Environment,
  args: readonly string[],
): { readonly isOk: boolean; readonly output: string } {
  const result = spawnSync(promtoolPath(environment), args, { encoding: "utf8", timeout: 120_000 });
  return { isOk: result.status === 0, output: `${result.stdout}${result.stderr}` };
}
