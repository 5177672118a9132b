// Rules PIC11, PIC12, PIC15: what looks like a secret, and placeholders that are the same for the same value.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { Redaction } from "./redaction.ts";

function redact(text: string, secrets: readonly string[] = [], names: readonly string[] = []) {
  const redaction = new Redaction();
  for (const secret of secrets) redaction.secret(secret);
  redaction.text(text);
  redaction.settle((value) => names.some((name) => name.includes(value)));
  return redaction.text(text);
}

const cases: [string, string, string][] = [
  ["a connection string", "sample:aB3dE@10.1.0.1:4501", "sample:REDACTED1@10.1.0.1:4501"],
  ["one with TLS in IPv6", "a_b:xyz@[fd00::1]:4500:tls", "a_b:REDACTED1@[fd00::1]:4500:tls"],
  ["one in JSON", '{"cs":"d:k1@h.x:1,i:2"}', '{"cs":"d:REDACTED1@h.x:1,i:2"}'],
  [
    "user info of a URL",
    "GET https://bob:hunter2@host/x failed",
    "GET https://REDACTED1:REDACTED2@host/x failed",
  ],
  [
    "an account of an object store",
    "blobstore://KEY:se/cr+et:tok@s3:443/b?bucket=x",
    "blobstore://REDACTED2:REDACTED1:REDACTED3@s3:443/b?bucket=x",
  ],
  ["one that was masked", "blobstore://KEY:***@s3/b", "blobstore://REDACTED1:***@s3/b"],
  ["a bearer token", "Authorization: Bearer abcdef123456", "Authorization: Bearer REDACTED1"],
  ["another scheme", "authorization: Token abc", "authorization: Token REDACTED1"],
  ["basic credentials", "sends Basic Ym9iOnB3, ok", "sends Basic REDACTED1, ok"],
  ["the word basic", "the Basic operations", "the Basic operations"],
  ["a JSON web token", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "got REDACTED1"],
  ["a password by name", "--tls_password=abc --x=1", "--tls_password=REDACTED1 --x=1"],
  ["a password after its flag", "run --password abc -v", "run --password REDACTED1 -v"],
  ["a token in JSON", '{"apiToken": "abc", "n": 1}', '{"apiToken": "REDACTED1", "n": 1}'],
  ["a token in escaped JSON", '{\\"token\\":\\"abc\\"}', '{\\"token\\":\\"REDACTED1\\"}'],
  ["a user of curl", "curl -u bob:pw http://x", "curl -u bob:REDACTED1 http://x"],
  ["the name of a file", "tls_password_file=/x", "tls_password_file=/x"],
  [
    "a knob",
    "--knob_token_bytes=500 --knob_secret_cache=7",
    "--knob_token_bytes=500 --knob_secret_cache=7",
  ],
  [
    "a digest",
    "docker-pullable://fdb@sha256:12 a/b:7.3@sha256:12",
    "docker-pullable://fdb@sha256:12 a/b:7.3@sha256:12",
  ],
  ["a missing Secret", 'secret "fdb-certs" not found', 'secret "fdb-certs" not found'],
  [
    "a private key",
    "x\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\ny",
    "x\nREDACTED1\ny",
  ],
  ["a key that was cut", "-----BEGIN PRIVATE KEY-----\\nabc\\ndef", "REDACTED1"],
  [
    "a key whose lines have times, cut at its end",
    "T1 -----BEGIN PRIVATE KEY-----\nT2 MIIEabcdefghijklmnopqrstuvwx\nT3 abc",
    "T1 REDACTED1",
  ],
  [
    "a key that was cut at its beginning",
    "said so.\nMIIEabcdefghijklmnop\n2026-01-01T00:00:00Z MIIEabcdefghijk\nabc=\n-----END PRIVATE KEY-----\nx",
    "said so.\nREDACTED1\nx",
  ],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc"],
];

for (const [title, text, expected] of cases) {
  test(`[PIC12] ${title}: ${text.split("\n")[0]?.slice(0, 60)}`, () => {
    assert.equal(redact(text), expected);
  });
}

test("[PIC12] a value that is secret in one place is found in every form", () => {
  const secret = 'p@ss "w/rd"';
  const base64 = Buffer.from(secret).toString("base64");
  const text = `${secret}|${JSON.stringify(secret)}|${encodeURIComponent(secret)}|${base64}`;
  assert.equal(redact(text, [secret]), 'REDACTED1|"REDACTED1"|REDACTED1|REDACTED1');
});

test("[PIC12] values of any size and number are found, the longest first", () => {
  const large = `large${"x-".repeat(200_000)}`;
  const many = Array.from({ length: 2_000 }, (_, index) => `value-${index}-of-many`);
  const text = `${large} ${many[7]} ${many[1999]} prefix-and-more prefix`;
  const result = redact(text, [...many, large, "prefix", "prefix-and-more"]);
  assert.match(result, /^REDACTED\d+ REDACTED8 REDACTED2000 (REDACTED\d+) (REDACTED\d+)$/);
  const [, longer, shorter] = /(\w+) (\w+)$/.exec(result) ?? [];
  assert.notEqual(longer, shorter);
});

test("[PIC13] a value that is part of a name stays in texts", () => {
  assert.equal(redact("pod sample-log-1", ["sample"], ["sample-log-1"]), "pod sample-log-1");
  assert.equal(redact("pod sample-log-1", ["sample"]), "pod REDACTED1-log-1");
});

test("[PIC11] placeholders of an earlier time are not given again", () => {
  assert.equal(redact("password=abc password=REDACTED1"), "password=REDACTED2 password=REDACTED1");
});

const secrets = fc
  .string({ minLength: 8, maxLength: 40 })
  .filter((text) => !text.includes("REDACTED"));

test("[PIC11] [PIC12] no secret is in a text, and equal ones have equal placeholders", () => {
  fc.assert(
    fc.property(fc.uniqueArray(secrets, { maxLength: 5 }), fc.lorem(), (values, words) => {
      const text = values.map((value) => `${words} ${value} ${value}`).join("\n");
      const result = redact(text, values);
      for (const value of values) {
        if (!words.includes(value)) assert.ok(!result.includes(value), `${value} in ${result}`);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[PIC12] of several keys that were cut at their beginning none is left", () => {
  const part = (letter: string): string =>
    `said so.\n${letter.repeat(40)}\n${letter}=\n-----END PRIVATE KEY-----\n`;
  const result = redact(part("M") + part("N") + part("O"));
  assert.doesNotMatch(result, /MM|NN|OO|END/);
  assert.equal(result.match(/said so\./g)?.length, 3);
});

test("[PIC15] what was replaced is not replaced again", () => {
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.constantFrom(...cases), ([, one], [, other]) => {
      const once = redact(`${one}\n${other}`);
      assert.equal(redact(once), once);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("[PIC12] no text takes longer than its length", () => {
  const size = 30_000;
  const hostile = [
    "a",
    "-",
    "a.",
    "--password",
    "password",
    ":a",
    "eyJ-",
    "x://",
    "blobstore://",
    " -u ",
  ];
  const lines = [
    "-----BEGIN PRIVATE KEY-----\n",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n",
    "a=b\n",
  ];
  for (const part of [...hostile, ...lines]) {
    const text = `token: ${part.repeat(Math.ceil(size / part.length))} PRIVATE KEY-----`;
    const startedMs = process.cpuUsage().user / 1000;
    redact(text);
    const tookMs = process.cpuUsage().user / 1000 - startedMs;
    assert.ok(tookMs < 5_000, `${part}: ${tookMs} ms`);
  }
});
