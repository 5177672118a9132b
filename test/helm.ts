// The real `helm`, built once from tools/packaging; renders and judges the chart.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../src/kube/object.ts";
import { goProgram, goProgramPath } from "./go-program.ts";
import type { Environment, GoProgram } from "./go-program.ts";

const program: GoProgram = {
  name: "helm",
  title: "helm",
  module: "packaging",
  package: "helm.sh/helm/v3/cmd/helm",
  remedy: "install Go 1.26 or newer",
  duration: "about 3 minutes",
};

export const chartFolder = path.resolve(import.meta.dirname, "../deploy/chart");

/** Where helm lies, or would lie once it is built. */
export function helmPath(environment: Environment): string {
  return goProgramPath(program, environment);
}

export interface HelmAnswer {
  readonly isOk: boolean;
  readonly output: string;
}

export interface Helm {
  run(args: readonly string[]): HelmAnswer;
  /** The objects of the chart with these values (`--set` syntax), or what helm says against them. */
  template(values: readonly string[], namespace?: string): readonly KubeObject[] | string;
}

export async function openHelm(
  environment: Environment,
  say: (line: string) => void,
): Promise<Helm> {
  const binary = await goProgram(program, environment, say);
  const run = (args: readonly string[]): HelmAnswer => {
    const result = spawnSync(binary, args, { encoding: "utf8", env: { ...environment } });
    return { isOk: result.status === 0, output: `${result.stdout}${result.stderr}` };
  };
  const template = (
    values: readonly string[],
    namespace = "fdb-operator",
  ): readonly KubeObject[] | string => {
    const settings = values.flatMap((value) => ["--set", value]);
    const place = ["--namespace", namespace, "--kube-version", "1.37.0"];
    const answer = run(["template", "fdb-operator", chartFolder, ...place, ...settings]);
    if (!answer.isOk) return answer.output;
    return parseAllDocuments(answer.output).flatMap((document) => {
      const object: unknown = document.toJS();
      return isObject(object) ? [object] : [];
    });
  };
  return { run, template };
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null && "kind" in value;
}
