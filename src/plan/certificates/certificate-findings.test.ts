// What is said of certificates, by the certificates that processes show.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { formatTime } from "../../kube/time.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import type { CertificateObservation } from "../snapshot.ts";
import { certificateFindings } from "./certificate-findings.ts";

const nowMs = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;

const ids = ["storage-1", "storage-2", "log-1"];
const targets = ids.map((processGroupId) => ({
  ...{ key: `${processGroupId}/1`, processGroupId, host: "10.1.0.1", port: 4500, run: "1" },
}));

function certificate(fields: Partial<SeenCertificate> = {}): SeenCertificate {
  return {
    ...{ subject: "CN=orders", names: "DNS:orders", issuer: "CN=authority" },
    ...{ notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + 90 * dayMs, ...fields },
  };
}

const isSilent = "silent";

/** The certificate of each process in turn; undefined for one that nobody has looked at yet. */
function find(
  shown: readonly (SeenCertificate | typeof isSilent | undefined)[],
  status: FoundationDBCluster["status"] = { requiredAddresses: { tls: true } },
) {
  const certificates = new Map<string, CertificateObservation>();
  shown.forEach((each, index) => {
    const key = targets[index]?.key ?? "";
    if (each === isSilent) certificates.set(key, { kind: "silent", message: "nobody" });
    else if (each !== undefined) certificates.set(key, { kind: "shown", certificate: each });
  });
  const cluster = { metadata: {}, spec: { version: "7.3.69" }, status } as FoundationDBCluster;
  return certificateFindings({ certificates, cluster, nowMs }, targets);
}

test("[CERT5] the earliest expiry and who issued that certificate", () => {
  const first = certificate({ notAfterMs: nowMs + 30 * dayMs, issuer: "CN=other" });
  const { certificates, judgements } = find([certificate(), first, certificate()]);
  assert.deepEqual(certificates, {
    expires: formatTime(nowMs + 30 * dayMs),
    issuer: "CN=other",
  });
  assert.deepEqual(judgements, {});
});

test("[CERT6] from 14 days before the end it is said, with the time and not with the days that are left", () => {
  const left = (days: number) => certificate({ notAfterMs: nowMs + days * dayMs });
  assert.deepEqual(find([left(14.01), left(50), left(50)]).judgements, {});
  const { CertificateExpiring: soon } = find([left(14), left(14), left(50)]).judgements;
  assert.equal(soon?.reason, "CertificateExpiring");
  assert.match(
    soon?.message ?? "",
    /^The certificates of storage-1 and storage-2, issued by CN=authority, expire at 2026-01-15T00:00:00Z\. From then on no new connection succeeds\. Renew the Secret/,
  );
  const { CertificateExpiring: over } = find([left(0), left(50), left(50)]).judgements;
  assert.equal(over?.reason, "CertificateExpired");
  assert.match(over?.message ?? "", /of storage-1, issued by CN=authority, expired at/);
});

test("[CERT5] [CERT6] an issuer of any length makes neither status nor message huge", () => {
  const issuer = `CN=${"a".repeat(60_000)}`;
  const { certificates, judgements } = find([
    certificate({ issuer, notAfterMs: nowMs + dayMs }),
    certificate(),
    certificate(),
  ]);
  assert.equal(certificates?.issuer?.length, 1024);
  assert.match(
    judgements["CertificateExpiring"]?.message ?? "",
    /issued by CN=a{197}…, expires at/,
  );
});

test("[CERT7] who shows an older certificate for the same names is outdated", () => {
  const newer = certificate({ notBeforeMs: nowMs });
  const { CertificateOutdated: found } = find([newer, certificate(), newer]).judgements;
  assert.match(found?.message ?? "", /^storage-2 still shows an older certificate than other/);
  // A new authority is no reason not to compare; other names are.
  const issued = certificate({ notBeforeMs: nowMs, issuer: "CN=new authority" });
  assert.ok(find([issued, certificate(), issued]).judgements["CertificateOutdated"]);
  const own = ids.map((id, index) =>
    certificate({ names: `DNS:${id}`, notBeforeMs: nowMs - index * dayMs }),
  );
  assert.deepEqual(find(own).judgements, {});
});

test("[CERT4] until all were looked at, and while nobody answers, the last finding stands", () => {
  const certificates = { expires: "2026-01-02T00:00:00Z", issuer: "CN=before" };
  const condition = {
    ...({ type: "CertificateExpiring", status: "True", reason: "CertificateExpiring" } as const),
    ...{ message: "soon", lastTransitionTime: "2026-01-01T00:00:00Z" },
  };
  const status = { requiredAddresses: { tls: true }, certificates, conditions: [condition] };
  const { lastTransitionTime: _, type: __, ...judgement } = condition;
  const last = { certificates, judgements: { CertificateExpiring: judgement } };
  assert.deepEqual(find([certificate(), certificate(), undefined], status), last);
  assert.deepEqual(find([isSilent, isSilent, isSilent], status), last);
  assert.deepEqual(find([certificate(), certificate(), isSilent], status).judgements, {});
});

test("[CERT5] without TLS nothing is said of certificates", () => {
  const certificates = { expires: "2026-01-02T00:00:00Z", issuer: "CN=before" };
  const cluster = {
    ...{ metadata: {}, spec: { version: "7.3.69" } },
    status: { certificates, requiredAddresses: { nonTLS: true } },
  } as FoundationDBCluster;
  assert.deepEqual(certificateFindings({ cluster, nowMs }, []), { judgements: {} });
});
