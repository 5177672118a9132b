// Finds the programs of a real Kubernetes control plane: those in KUBEBUILDER_ASSETS, or one binary of our
// own that holds all four, built once from tools/control-plane.
import { existsSync } from "node:fs";
import path from "node:path";
import { goProgram, goProgramPath } from "./go-program.ts";
import type { Environment, GoProgram } from "./go-program.ts";

export type { Environment } from "./go-program.ts";

export type ControlPlanePart =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler";

export interface ControlPlanePrograms {
  /** Program and leading arguments of each part; a part that is missing here cannot be started. */
  readonly commands: Readonly<Partial<Record<ControlPlanePart, readonly string[]>>>;
  /** Where the programs come from, for people. */
  readonly source: string;
}

const controlPlane: GoProgram = {
  name: "control-plane",
  title: "etcd and Kubernetes",
  module: "control-plane",
  package: ".",
  stamp: { of: "k8s.io/kubernetes", variable: "k8s.io/component-base/version.gitVersion" },
  remedy: "install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a control plane",
  duration: "about 10 minutes",
};
const parts: readonly ControlPlanePart[] = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
];

export async function findControlPlane(
  environment: Environment,
  say: (line: string) => void,
): Promise<ControlPlanePrograms> {
  const assets = environment["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && assets !== "") return programsOfAssets(assets);
  const binary = await goProgram(controlPlane, environment, say);
  return {
    commands: Object.fromEntries(parts.map((part) => [part, [binary, part]])),
    source: `tools/control-plane, ${path.basename(binary)}`,
  };
}

/** Where our own binary lies, or would lie once it is built. */
export function binaryPath(environment: Environment): string {
  return goProgramPath(controlPlane, environment);
}

function programsOfAssets(folder: string): ControlPlanePrograms {
  const commands: Partial<Record<ControlPlanePart, readonly string[]>> = {};
  for (const part of parts) {
    const program = path.join(folder, part);
    if (existsSync(program)) commands[part] = [program];
  }
  for (const part of ["etcd", "kube-apiserver"] as const) {
    if (commands[part] === undefined) {
      throw new Error(
        `KUBEBUILDER_ASSETS has no ${part}: point it at a folder with etcd and kube-apiserver, or unset it`,
      );
    }
  }
  return { commands, source: "KUBEBUILDER_ASSETS" };
}
