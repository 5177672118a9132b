// Looks at the certificate of a process: begins a TLS connection, takes what the process shows, and hangs up. A process that
// wants a certificate from us may refuse us; it has shown its own by then. Rule: spec/certificates.md [CERT1].
import type { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import type { SecureContextOptions } from "node:tls";
import type { Clock } from "../env/clock.ts";
import type { SeenCertificate } from "../model/certificate.ts";
import { PodUnreachableError } from "./network.ts";
import type { Handshake } from "./network.ts";

export function seeCertificate(
  { host, port, timeoutMs }: Handshake,
  clock: Clock,
  own: SecureContextOptions,
): Promise<SeenCertificate> {
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    // Whether we trust it is not the question: only dates and issuer are looked at, and nothing is sent.
    const socket = connect({ ...own, host, port, rejectUnauthorized: false, requestOCSP: true });
    const end = (): void => {
      timer.cancel();
      socket.destroy();
    };
    const fail = (why: string): void => {
      end();
      reject(new PodUnreachableError(`${where}: ${why}`));
    };
    const timer = clock.setTimer(timeoutMs, () => fail(`no certificate within ${timeoutMs} ms`));
    const take = (): void => {
      const shown = socket.getPeerX509Certificate();
      if (shown === undefined) return;
      end();
      resolve(readCertificate(shown));
    };
    // Told when the certificate is there and our own answer has not gone out, and so before anybody can refuse us.
    socket.on("OCSPResponse", take);
    socket.on("secureConnect", take);
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => fail("the connection was closed before a certificate was shown"));
  });
}

function readCertificate(shown: X509Certificate): SeenCertificate {
  const { subject, subjectAltName = "", issuer, validFromDate, validToDate } = shown;
  return {
    subject: oneLine(subject),
    names: subjectAltName,
    issuer: oneLine(issuer),
    notBeforeMs: validFromDate.getTime(),
    notAfterMs: validToDate.getTime(),
  };
}

/** Names stand in lines of their own. */
function oneLine(name: string | undefined): string {
  return (name ?? "").split("\n").join(", ");
}
