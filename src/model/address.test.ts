// Addresses and connection strings.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  hasIp,
  hostOf,
  addressesInCommandLine,
  addressesOf,
  formatAddress,
  isIpAddress,
  isTls,
  parseAddress,
  processPort,
  withoutFlags,
} from "./address.ts";
import type { ProcessAddress } from "./address.ts";
import {
  coordinatorsOf,
  defaultDescription,
  formatConnectionString,
  parseConnectionString,
} from "./connection-string.ts";
import { canonicalIp, isIpv4, isIpv6 } from "./ip-address.ts";

const ipv4 = fc.ipV4();
const ipv6 = fc.ipV6().filter((text) => canonicalIp(text)?.includes(":") === true);
const names = fc.domain();
const addresses: fc.Arbitrary<ProcessAddress> = fc.record(
  {
    host: fc.oneof(ipv4, ipv6, names).map((host) => canonicalIp(host) ?? host),
    port: fc.integer({ min: 1, max: 65_535 }),
    flags: fc.constantFrom([], ["tls"], ["other", "tls"]),
    fromHostname: fc.boolean(),
  },
  { noNullPrototype: true },
);

function address(text: string): ProcessAddress {
  const result = parseAddress(text);
  assert.ok(result.ok, text);
  return result.value;
}

test("[M14] an address that was written is read back", () => {
  fc.assert(
    fc.property(addresses, (each) => {
      assert.deepEqual(address(formatAddress(each)), each);
    }),
    { seed: 1, numRuns: 500 },
  );
  assert.deepEqual(address("[::1]"), { host: "::1", port: 0, flags: [], fromHostname: false });
  assert.equal(formatAddress(address("1.1.1.1:4500:tls:a")), "1.1.1.1:4500:a:tls");
  assert.equal(withoutFlags(address("[fd00::1]:4500:tls")), "[fd00::1]:4500");
  assert.equal(hostOf("[fd00::1]:4500:tls"), "fd00::1");
  assert.ok(isTls(address("host:4500:tls")) && !isIpAddress(address("host:4500:tls")));
});

test("[M15] IP addresses have one canonical text", () => {
  const texts: [string, string | undefined][] = [
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"],
    ["::", "::"],
    ["fe80::", "fe80::"],
    ["10.0.0.01", undefined],
    ["256.0.0.1", undefined],
    ["1:2:3", undefined],
    ["1::2::3", undefined],
    ["host", undefined],
  ];
  for (const [text, canonical] of texts) assert.equal(canonicalIp(text), canonical, text);
  assert.ok(isIpv6("::1") && !isIpv6("1.1.1.1") && isIpv4("1.1.1.1") && isIpv4("::ffff:1.2.3.4"));
});

test("[M16] texts that are no addresses are refused with the reason", () => {
  for (const text of [
    "",
    "1.1.1.1:bad",
    "locality_instance_id:storage-1",
    ":4500",
    "::1]:4500",
    "a:70000",
  ]) {
    const result = parseAddress(text);
    assert.ok(!result.ok && result.error.length > 10, text);
  }
});

test("[M17] ports follow the process number and TLS comes first", () => {
  assert.deepEqual(
    [1, 2, 3].map((n) => [processPort(n, true), processPort(n, false)]),
    [
      [4500, 4501],
      [4502, 4503],
      [4504, 4505],
    ],
  );
  assert.deepEqual(addressesOf("[::1]", 2, { tls: true, nonTLS: true }).map(formatAddress), [
    "[::1]:4502:tls",
    "[::1]:4503",
  ]);
  assert.deepEqual(addressesOf("1.1.1.1", 1, {}), []);
});

test("[M18] addresses are read from a command line", () => {
  const both = addressesInCommandLine(
    "/usr/bin/fdbserver --public_address=[::1]:4500:tls,[::1]:4501 --class=log",
  );
  assert.ok(both.ok);
  assert.deepEqual(both.value.map(formatAddress), ["[::1]:4500:tls", "[::1]:4501"]);
  assert.ok(!addressesInCommandLine("fdbserver --class=log").ok);
  assert.ok(!addressesInCommandLine("fdbserver --public_address=1.1.1.1:x").ok);
});

test("[M19] a connection string that was written is read back", () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-zA-Z0-9_]+$/),
      fc.stringMatching(/^[a-zA-Z0-9]+$/),
      fc.array(addresses.map(formatAddress), { minLength: 1, maxLength: 5 }),
      (description, generationId, coordinators) => {
        const connection = { description, generationId, coordinators };
        const result = parseConnectionString(formatConnectionString(connection));
        assert.deepEqual(result, { ok: true, value: connection });
      },
    ),
    { seed: 1, numRuns: 200 },
  );
  assert.deepEqual(coordinatorsOf("a:b@1.1.1.1:4500,h:4501:tls"), ["1.1.1.1:4500", "h:4501:tls"]);
  const file = "# DO NOT EDIT!\r\n# a:b@not this\r\na:b@1.1.1.1:4500\r\n";
  assert.deepEqual(coordinatorsOf(file), ["1.1.1.1:4500"], "a cluster file as servers write it");
});

test("[M20] ill-formed connection strings are refused", () => {
  for (const text of [
    "",
    "a",
    "a-b:c@1.1.1.1:1",
    "a:c",
    "a:c_d@1.1.1.1:1",
    "a:b@",
    "a:b@1.1.1.1:x",
  ]) {
    assert.ok(!parseConnectionString(text).ok, text);
  }
  assert.deepEqual(coordinatorsOf("nonsense"), []);
});

test("[M21] a database is described by the name of its cluster", () => {
  assert.equal(defaultDescription("my-cluster-1"), "my_cluster_1");
});

test("[M14] the host of any text is that of its address, however usual it looks", () => {
  const beginnings = fc.constantFrom(
    "",
    "10.2.3.4",
    "10.2.3.4:4501",
    "255.0.0.1:4500:tls",
    "[fd00::1]",
  );
  const pieces = fc.array(
    fc.constantFrom(..."0123459.:[] tlsx".split(""), ":tls", "(fromHostname)", "256"),
    {
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(beginnings, pieces, (beginning, more) => {
      const text = beginning + more.join("");
      const read = parseAddress(text);
      assert.equal(hostOf(text), read.ok ? read.value.host : text);
    }),
    { seed: 1, numRuns: 5_000 },
  );
});

for (const [text, expected] of [
  ["10.0.0.1:4501", true],
  ["10.0.0.1:4500:tls", true],
  ["[2001:db8::1]:4501", true],
  ["10.0.0.1", true],
  ["sample-log-1.sample.default.svc.cluster.local:4501", false],
  ["", false],
  ["?", false],
] as const) {
  test(`[M14] ${JSON.stringify(text)} has ${expected ? "an" : "no"} IP`, () => {
    assert.equal(hasIp(text), expected);
  });
}
