// A Secret with certificates, and what gives them to the processes of a cluster: for simulated clusters that speak TLS.
// Rules: spec/database.md [FDB50], spec/certificates.md [CERT9].
import { secrets } from "../kube/resource.ts";
import type { KubeClient } from "../kube/client.ts";
import type { SeenCertificate } from "../model/certificate.ts";
import { certificateText } from "./database/simulated-certificate.ts";
import type { Container, EnvVar, PodSpec } from "../kube/generated/types.ts";

const name = "certificates";
const folder = "/var/certificates";

const certificateEnv: readonly EnvVar[] = [
  { name: "FDB_TLS_CERTIFICATE_FILE", value: `${folder}/tls.crt` },
  { name: "FDB_TLS_KEY_FILE", value: `${folder}/tls.key` },
  { name: "FDB_TLS_CA_FILE", value: `${folder}/ca.crt` },
];

/** The files of a Secret for TLS. */
export interface CertificateTexts {
  readonly "tls.crt": string;
  readonly "tls.key": string;
  readonly "ca.crt": string;
}

/** Simulated servers take any text for a certificate. */
const sampleTexts: CertificateTexts = {
  ...{ "tls.crt": "certificate", "tls.key": "key", "ca.crt": "authority" },
};

export async function createCertificates(
  client: KubeClient,
  namespace: string,
  texts: CertificateTexts = sampleTexts,
): Promise<void> {
  await client.create(secrets, {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } },
    stringData: { ...texts },
  });
}

/** What cert-manager does when a certificate nears its end. */
export async function renewCertificates(
  client: KubeClient,
  namespace: string,
  certificate: Pick<SeenCertificate, "notBeforeMs" | "notAfterMs">,
): Promise<void> {
  const shown = { subject: "CN=sample", names: "DNS:sample", issuer: "CN=sample authority" };
  const patch = { stringData: { "tls.crt": certificateText({ ...shown, ...certificate }) } };
  await client.patch(secrets, { namespace, name }, patch, { type: "merge" });
}

/** The pod of a template whose main container finds the certificates. */
export function withCertificates(spec: PodSpec): PodSpec {
  const mounted = (container: Container): Container => ({
    ...container,
    env: [...(container.env ?? []), ...certificateEnv],
    volumeMounts: [...(container.volumeMounts ?? []), { name, mountPath: folder }],
  });
  return {
    ...spec,
    containers: spec.containers.map((container) =>
      container.name === "foundationdb" ? mounted(container) : container,
    ),
    volumes: [...(spec.volumes ?? []), { name, secret: { secretName: name } }],
  };
}
