// Agents and commands of a restore are made as those of a backup are: the restore lends its name and uid, and a template
// comes from its own spec, from the backup that is restored, or from a backup whose agents do the work.
// Carries the rules RS30, RS31 and RS38 of spec/restore.md.
import type { BackupSpec, FoundationDBBackup } from "../api/backup.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { imageTypeOf } from "../api/effective.ts";
import type { FoundationDBRestore } from "../api/restore.ts";
import type { Deployment } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import { agentDeploymentName } from "./backup-deployment.ts";

const nameSuffix = "-restore-agents";

export function restoreDeploymentName(restoreName: string): string {
  return `${restoreName}${nameSuffix}`;
}

/** Of the agents of a backup, or of those of a restore's own. */
export function agentsNameOf({ kind, metadata }: KubeObject): string {
  const nameOf = kind === "FoundationDBRestore" ? restoreDeploymentName : agentDeploymentName;
  return nameOf(metadata.name ?? "");
}

/** The restore whose own agents carry this name of a Deployment. */
export function restoreNameOfAgents(deploymentName: string): string | undefined {
  return deploymentName.endsWith(nameSuffix)
    ? deploymentName.slice(0, -nameSuffix.length)
    : undefined;
}

/** What the builders of agents and commands need, with the template of another backup. */
export function lentTemplate(restore: FoundationDBRestore, spec: BackupSpec): FoundationDBBackup {
  const { apiVersion, kind, metadata } = restore;
  return { apiVersion, kind, metadata, spec };
}

/** The template of agents that are there, for a command of a restore whose backup is gone and with it the template. */
export function keptTemplate(
  restore: FoundationDBRestore,
  cluster: FoundationDBCluster,
  { spec }: Deployment,
): FoundationDBBackup {
  const made = ownAgents(restore, undefined, cluster);
  const kept = spec === undefined ? {} : { podTemplateSpec: spec.template };
  // Its images have their tags already.
  return { ...made, spec: { ...made.spec, ...kept, allowTagOverride: true } };
}

/** Agents of the restore's own: of the version that the destination runs, whatever the backup was made with. */
export function ownAgents(
  restore: FoundationDBRestore,
  source: FoundationDBBackup | undefined,
  cluster: FoundationDBCluster,
): FoundationDBBackup {
  const { agents, blobStoreConfiguration, customParameters = [], encryptionKeyPath } = restore.spec;
  const { spec: given } = source ?? {};
  const isOwn = agents?.podTemplateSpec !== undefined;
  const template = isOwn ? agents : { ...given, ...agents };
  const { podTemplateSpec, mainContainer, sidecarContainer, allowTagOverride } = template;
  const imageType = template.imageType ?? imageTypeOf(cluster.spec);
  const store = blobStoreConfiguration ?? given?.blobStoreConfiguration;
  const keyPath = encryptionKeyPath ?? given?.encryptionKeyPath;
  return lentTemplate(restore, {
    version: cluster.status?.runningVersion || cluster.spec.version,
    clusterName: restore.spec.destinationClusterName,
    imageType,
    agentCount: agents?.count ?? 2,
    customParameters: [...(given?.customParameters ?? []), ...customParameters],
    ...(store === undefined ? {} : { blobStoreConfiguration: store }),
    ...(keyPath === undefined ? {} : { encryptionKeyPath: keyPath }),
    ...(podTemplateSpec === undefined ? {} : { podTemplateSpec }),
    ...(mainContainer === undefined ? {} : { mainContainer }),
    ...(sidecarContainer === undefined ? {} : { sidecarContainer }),
    ...(allowTagOverride === undefined ? {} : { allowTagOverride }),
  });
}
