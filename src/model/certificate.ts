// A certificate as a process shows it at the beginning of a TLS connection. Rules: spec/certificates.md [CERT1].

export interface SeenCertificate {
  /** Whom it is for, such as CN=orders. */
  readonly subject: string;
  /** Other names that it is for, as they stand in it; empty when there are none. */
  readonly names: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}
