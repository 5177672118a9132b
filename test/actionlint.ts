// The real actionlint, built once from tools/workflows; judges the workflows.
import { spawnSync } from "node:child_process";
import { goProgram, goProgramPath } from "./go-program.ts";
import type { Environment, GoProgram } from "./go-program.ts";

const program: GoProgram = {
  name: "actionlint",
  title: "actionlint",
  module: "workflows",
  package: "github.com/rhysd/actionlint/cmd/actionlint",
  remedy: "install Go 1.26 or newer",
  duration: "half a minute",
};

/** Where it lies, or would lie once it is built. */
export function actionlintPath(environment: Environment): string {
  return goProgramPath(program, environment);
}

export function buildActionlint(
  environment: Environment,
  say: (line: string) => void,
): Promise<string> {
  return goProgram(program, environment, say);
}

/** What it says against these workflows; empty when it finds nothing. */
export function lint(environment: Environment, files: readonly string[]): string {
  const { stdout, stderr } = spawnSync(actionlintPath(environment), ["-no-color", ...files], {
    encoding: "utf8",
    env: { ...environment },
  });
  return `${stdout}${stderr}`;
}
