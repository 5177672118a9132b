// A self-signed certificate for the loopback addresses, written in DER by hand: kubectl sends a token only
// over TLS, and nothing but Node may be needed to start the server.
import { append } from "../env/long-lists.ts";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface Certificate {
  certificatePem: string;
  keyPem: string;
}

/** Valid long enough that no clock has to be asked. */
const notBefore = "200101000000Z";
const notAfter = "491231235959Z";

export function selfSignedCertificate(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const signatureAlgorithm = sequence(objectId("1.2.840.10045.4.3.2"));
  const name = sequence(
    set(sequence(objectId("2.5.4.3"), utf8("fdb-operator emulated Kubernetes"))),
  );
  const serial = randomBytes(15);
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), serial])),
    signatureAlgorithm,
    name,
    sequence(utcTime(notBefore), utcTime(notAfter)),
    name,
    spki,
    explicit(3, sequence(...extensions())),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, signatureAlgorithm, bitString(signature));
  return {
    certificatePem: pem("CERTIFICATE", certificate),
    keyPem: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  };
}

function extensions(): Buffer[] {
  const critical = tagged(0x01, Buffer.from([0xff]));
  const certificateAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  // Digital signature and certificate signing.
  const keyUsage = tagged(0x03, Buffer.from([2, 0x84]));
  // Servers of a database are clients of each other.
  const purposes = sequence(objectId("1.3.6.1.5.5.7.3.1"), objectId("1.3.6.1.5.5.7.3.2"));
  const loopback6 = Buffer.alloc(16);
  loopback6[15] = 1;
  const names = sequence(
    tagged(0x82, Buffer.from("localhost")),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, loopback6),
  );
  return [
    sequence(objectId("2.5.29.19"), critical, octets(certificateAuthority)),
    sequence(objectId("2.5.29.15"), critical, octets(keyUsage)),
    sequence(objectId("2.5.29.37"), octets(purposes)),
    sequence(objectId("2.5.29.17"), octets(names)),
  ];
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const octets = (content: Buffer): Buffer => tagged(0x04, content);
const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
const utcTime = (text: string): Buffer => tagged(0x17, Buffer.from(text));
const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content);
const bitString = (content: Buffer): Buffer =>
  tagged(0x03, Buffer.concat([Buffer.from([0]), content]));

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let high = part >>> 7; high > 0; high >>>= 7) digits.unshift((high & 0x7f) | 0x80);
    append(bytes, digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
