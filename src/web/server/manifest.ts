// The resource as a person would write it: without what the server and the operator put in. Rules: spec/web.md [WEB26].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Stored } from "../../kube/resource.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export async function manifestOf(cluster: Stored<FoundationDBCluster>): Promise<string> {
  const { stringify } = await import("yaml");
  const { apiVersion, kind, metadata, spec } = cluster;
  const { name, namespace, labels } = metadata;
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {};
  return stringify({
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace },
      ...(labels === undefined ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec,
  });
}
