// Certificates of simulated worlds: a line of text in the place of a real file, with what a handshake shows of one. Any other
// text is a certificate for everybody that never ends. Rule: spec/certificates.md [CERT9].
import type { SeenCertificate } from "../../model/certificate.ts";

const unlimited: SeenCertificate = {
  ...{ subject: "CN=simulated", names: "", issuer: "CN=simulated authority" },
  ...{ notBeforeMs: 0, notAfterMs: Date.UTC(2200, 0) },
};

export function certificateText(certificate: SeenCertificate): string {
  const { subject, names, issuer, notBeforeMs, notAfterMs } = certificate;
  return [subject, names, issuer, timeText(notBeforeMs), timeText(notAfterMs)].join("|");
}

export function readCertificate(text: string): SeenCertificate {
  const [subject, names, issuer, notBefore, notAfter] = text.split("|");
  const [notBeforeMs, notAfterMs] = [Date.parse(notBefore ?? ""), Date.parse(notAfter ?? "")];
  if (subject === undefined || names === undefined || issuer === undefined) return unlimited;
  if (Number.isNaN(notBeforeMs) || Number.isNaN(notAfterMs)) return unlimited;
  return { subject, names, issuer, notBeforeMs, notAfterMs };
}

/** Certificates know no parts of seconds. */
function timeText(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString();
}
