// The spec names authorities for the operator's own client, and they are not there. Rule: spec/certificates.md [CERT10].
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";

export function trustWarnings({ cluster, operatorTrust }: Snapshot): PlanWarning[] {
  const { configMap, key = "ca.crt" } = cluster.spec.operatorTrust ?? {};
  if (configMap === undefined || operatorTrust !== undefined) return [];
  const message =
    `spec.operatorTrust names key ${key} of ConfigMap ${configMap}, and there is none that has the label ` +
    `foundationdb.org/fdb-cluster-name=${cluster.metadata.name ?? ""}: the operator's client goes on with what it trusted before. ` +
    "Create the ConfigMap with that key and label, or take the field away.";
  return [{ reason: "OperatorTrustMissing", message }];
}
