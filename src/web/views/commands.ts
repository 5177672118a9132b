// Commands that a person may copy from the page: it changes nothing itself. Rules: spec/web.md [WEB14].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { isHibernated } from "../../api/hibernation.ts";
import type { CopiedCommand } from "../view-model.ts";

export function clusterCommands(cluster: FoundationDBCluster): CopiedCommand[] {
  const { metadata } = cluster;
  const { name = "", namespace = "default" } = metadata;
  const of = (command: string): string => `kubectl fdb ${command} ${name} -n ${namespace}`;
  const wake =
    `kubectl patch foundationdbcluster ${name} -n ${namespace} --type merge ` +
    `-p '{"spec":{"hibernate":false}}' --dry-run=server`;
  return [
    ...(isHibernated(cluster)
      ? [{ title: "Wake the database: as it stands this only tries it", command: wake }]
      : []),
    { title: "What is going on, and why", command: of("explain") },
    { title: "What is about to be done", command: of("plan") },
    { title: "The processes, the busiest first", command: of("top") },
    { title: "Where everything is", command: of("tree") },
    { title: "The logs of all pods, by time", command: of("logs") },
    { title: "Everything for who helps you, without secrets", command: of("report") },
  ];
}

/** Gives a volume in quarantine back. */
export function restoreCommand({ metadata }: FoundationDBCluster, volumeClaim: string): string {
  const { name = "", namespace = "default" } = metadata;
  return `kubectl fdb quarantine restore -c ${name} -n ${namespace} ${volumeClaim} --dry-run`;
}

/** `pod` is empty when there is none. */
export function groupCommands(
  { metadata }: FoundationDBCluster,
  group: string,
  pod: string,
): CopiedCommand[] {
  const { name = "", namespace = "default" } = metadata;
  const remove = `kubectl fdb remove process-groups -c ${name} -n ${namespace} ${group} --dry-run`;
  return [
    ...(pod === ""
      ? []
      : [
          { title: "Its log", command: `kubectl logs ${pod} -n ${namespace} --all-containers` },
          {
            title: "What Kubernetes says of its pod",
            command: `kubectl describe pod ${pod} -n ${namespace}`,
          },
        ]),
    { title: "What replacing it would do", command: remove },
  ];
}
