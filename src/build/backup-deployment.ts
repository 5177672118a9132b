// The Deployment of the agents of a backup, byte for byte as the Go operator makes it, so that its agents are taken over
// without a restart. Carries the rule BK4 of spec/backup.md.
import type { FoundationDBBackup } from "../api/backup.ts";
import type { Deployment } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { agentCountOf } from "../api/effective-backup.ts";
import { agentTemplate } from "./backup-agent.ts";
import { annotationKeys, ownerReferenceTo } from "./labels.ts";
import { built } from "./problem.ts";
import type { Built } from "./problem.ts";
import { deploymentSpecHash } from "./spec-hash.ts";

/** On the Deployment: the uid of its backup. */
export const backupForLabel = "foundationdb.org/backup-for";
/** On the agents: the name of their Deployment. */
export const agentLabel = "foundationdb.org/deployment-name";

const nameSuffix = "-backup-agents";

export function agentDeploymentName(backupName: string): string {
  return `${backupName}${nameSuffix}`;
}

/** The backup whose agents carry this value of `agentLabel`. */
export function backupNameOfAgents(deploymentName: string): string | undefined {
  return deploymentName.endsWith(nameSuffix)
    ? deploymentName.slice(0, -nameSuffix.length)
    : undefined;
}

/** Undefined when no agents are wanted. */
export function agentDeployment(
  backup: FoundationDBBackup,
  name = agentDeploymentName(backup.metadata.name ?? ""),
): Built<Stored<Deployment> | undefined> {
  const replicas = agentCountOf(backup.spec);
  if (replicas === 0) return built(undefined);
  const template = agentTemplate(backup);
  if (!template.ok) return template;
  const matchLabels = { [agentLabel]: name };
  const labels = { ...template.value.metadata?.labels, ...matchLabels };
  const spec = {
    replicas,
    selector: { matchLabels },
    template: { ...template.value, metadata: { ...template.value.metadata, labels } },
  };
  const given = backup.spec.backupDeploymentMetadata;
  return built({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: backup.metadata.namespace ?? "",
      labels: { ...given?.labels, [backupForLabel]: backup.metadata.uid ?? "" },
      annotations: {
        ...given?.annotations,
        [annotationKeys.lastAppliedSpec]: deploymentSpecHash(spec),
      },
      ownerReferences: [ownerReferenceTo(backup)],
    },
    spec,
  });
}
