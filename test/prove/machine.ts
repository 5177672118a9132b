// What is installed on this machine that a proof can use. Rules: spec/proof.md [PROVE1].
import { existsSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { findInstallation, installationPlaces } from "../../src/fdb/client/installation.ts";
import type { InstallationPlaces } from "../../src/fdb/client/installation.ts";
import { compareVersions, parseVersion } from "../../src/model/version.ts";
import type { Version } from "../../src/model/version.ts";
import { binaryPath } from "../control-plane-binary.ts";
import { isOnPath } from "../go-program.ts";
import type { Environment } from "../go-program.ts";
import { objectStorePath } from "../object-store.ts";

export interface Machine {
  /** Of FoundationDB, with server, library and fdbcli; the oldest first. */
  readonly versions: readonly string[];
  /** What FoundationDB lacks, in words; empty when there is a version. */
  readonly missing: string;
  readonly hasBackupTools: boolean;
  /** An S3 server is there, or can be built. */
  readonly hasObjectStore: boolean;
  /** So is a Kubernetes control plane. */
  readonly hasControlPlane: boolean;
  readonly cores: number;
  readonly memoryGiB: number;
}

export async function findMachine(
  environment: Environment,
  places: InstallationPlaces = installationPlaces(environment),
): Promise<Machine> {
  const installation = await findInstallation(places);
  const versions = orderedVersions(
    installation.servers
      .map(({ version }) => version)
      .filter((version) => installation.find(version) !== undefined),
  );
  const newest = versions.at(-1);
  const tools = ["fdbbackup", "fdbrestore", "backup_agent"] as const;
  const hasGo = isOnPath("go", environment);
  const missing = installation.explainMissing(installation.clients[0]?.version ?? "7.3");
  return {
    versions,
    missing:
      newest !== undefined
        ? ""
        : missing || "fdbserver is missing: name its folder in FDB_BINARY_DIR",
    hasBackupTools:
      newest !== undefined &&
      tools.every((name) => installation.findTool(name, newest) !== undefined),
    hasObjectStore: hasGo || existsSync(objectStorePath(environment)),
    hasControlPlane:
      hasGo ||
      (environment["KUBEBUILDER_ASSETS"] ?? "") !== "" ||
      existsSync(binaryPath(environment)),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}

/** Without those that are none. */
export function orderedVersions(texts: readonly string[]): string[] {
  return texts
    .flatMap((text): { text: string; version: Version }[] => {
      const version = parseVersion(text);
      return version === undefined ? [] : [{ text, version }];
    })
    .toSorted((left, right) => compareVersions(left.version, right.version))
    .map(({ text }) => text);
}
