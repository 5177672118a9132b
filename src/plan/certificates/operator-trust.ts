// The spec names authorities for the operator's own client, and they are not there. Rules: spec/certificates.md [CERT10], [CERT11].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { clusterNameLabel } from "../../api/effective.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";
import { sentence } from "../hold.ts";
import { remedyOf } from "../reasons/registry.ts";

/** A client that trusts something goes on with it; where there is none the database waits, which a wait tells. */
export function trustWarnings({ cluster, operatorTrust, database }: Snapshot): PlanWarning[] {
  if (cluster.spec.operatorTrust === undefined || operatorTrust !== undefined) return [];
  if (database.kind === "missing" && database.reason === "Untrusted") return [];
  const message = `${sentence(missingTrust(cluster))}: the operator's client goes on with what it trusted before. ${remedyOf("OperatorTrustMissing")}`;
  return [{ reason: "OperatorTrustMissing", message }];
}

/** What is missing, as a clause. */
export function missingTrust({
  spec,
  metadata,
}: Pick<FoundationDBCluster, "spec" | "metadata">): string {
  const { configMap = "", key = "ca.crt" } = spec.operatorTrust ?? {};
  return (
    `there is no ConfigMap ${configMap} with the key ${key} and the label ` +
    `${clusterNameLabel}=${metadata.name ?? ""}, which spec.operatorTrust names`
  );
}
