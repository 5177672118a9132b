// TLS needs a certificate and its key in every database pod, and the operator makes neither. fdbserver starts without them
// and then cannot talk to anybody. Rules: spec/api.md [API42], [API43].
import type { FoundationDBCluster } from "./cluster.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { processSettingsOf } from "./effective.ts";
import { parameterValue } from "./localities.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { wantedCounts } from "./wanted-counts.ts";

const mainContainerName = "foundationdb";

/** What fdbserver looks for in its own folder when nobody names a file. */
const defaultFolder = "/etc/foundationdb";

const files = [
  { what: "certificate", variable: "FDB_TLS_CERTIFICATE_FILE", parameter: "tls_certificate_file" },
  { what: "key", variable: "FDB_TLS_KEY_FILE", parameter: "tls_key_file" },
] as const;

export function certificateProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  if (spec.mainContainer?.enableTls !== true) return [];
  const lacking = Object.keys(wantedCounts(spec)).flatMap((processClass) => {
    const missing = files.filter((file) => !isNamed(spec, processClass, file));
    return missing.length === 0 ? [] : [{ processClass, missing }];
  });
  if (lacking.length === 0) return [];
  const classes = lacking.map(({ processClass }) => processClass).join(", ");
  const missing = files.filter((file) => lacking.some((each) => each.missing.includes(file)));
  const whats = missing.map(({ what }) => what).join(" and no ");
  const variables = missing.map(({ variable }) => variable).join(" and ");
  const message = `processes of class ${classes} have no TLS ${whats}, so they could talk to nobody`;
  const remedy =
    `mount the files into container ${mainContainerName} in spec.processes.general.podTemplate and name them in its ` +
    `variables ${variables} (docs/certificates.md)`;
  return [problem("spec.mainContainer.enableTls", true, message, remedy)];
}

/**
 * A cluster that speaks TLS already has its certificates from somewhere, such as its image or an admission webhook: only who
 * begins with it is asked for them.
 */
export function newTlsProblems(
  cluster: Pick<FoundationDBCluster, "spec" | "status">,
): readonly ValidationProblem[] {
  const { requiredAddresses, connectionString = "" } = cluster.status ?? {};
  if (requiredAddresses?.tls === true || /:tls\b/.test(connectionString)) return [];
  return certificateProblems(cluster.spec);
}

function isNamed(
  spec: ClusterSpec,
  processClass: string,
  { variable, parameter }: (typeof files)[number],
): boolean {
  const { podTemplate, customParameters = [] } = processSettingsOf(spec, processClass);
  const main = podTemplate?.spec?.containers?.find(({ name }) => name === mainContainerName);
  const normal = (text: string) => text.replaceAll("-", "_");
  return (
    customParameters.some((each) => parameterValue(normal(each), parameter) !== undefined) ||
    (main?.env ?? []).some(({ name }) => name === variable) ||
    // What such a source holds is known to the kubelet alone.
    (main?.envFrom ?? []).length > 0 ||
    (main?.volumeMounts ?? []).some(({ mountPath }) => mountPath.startsWith(defaultFolder))
  );
}
