// Command lines, addresses and connection strings as the operator writes them, and what is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { reachableAt } from "./fabric.ts";
import { parseConnectionString, parseNetworkAddress } from "./network-address.ts";
import { parseServerArguments } from "./server-arguments.ts";

const usual = [
  "--cluster_file=/var/fdb/data/fdb.cluster",
  "--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
  "--public_address=[10.1.38.94]:4501",
  "--class=storage",
  "--logdir=/var/log/fdb-trace-logs",
  "--loggroup=sample",
  "--datadir=/var/fdb/data/1",
  "--locality_process_id=storage-1-1",
  "--locality_instance_id=storage-1",
  "--locality_machineid=node-1",
  "--locality_zoneid=node-1",
  "--tls_verify_peers=I.CN=localhost",
  "--knob_disable_posix_kernel_aio=1",
];

test("[FDB1] the command line that the operator writes is understood", () => {
  const parsed = parseServerArguments(usual);
  assert.ok("arguments" in parsed);
  assert.deepEqual(parsed.arguments.localities, {
    process_id: "storage-1-1",
    instance_id: "storage-1",
    machineid: "node-1",
    zoneid: "node-1",
  });
  assert.deepEqual(parsed.arguments.knobs, { disable_posix_kernel_aio: "1" });
  assert.equal(parsed.arguments.processClass, "storage");
  assert.equal(parsed.arguments.publicAddresses[0]?.host, "10.1.38.94");
});

test("[FDB1] values may follow their option, dashes may replace underscores", () => {
  const parsed = parseServerArguments([
    "--class",
    "log",
    "-p",
    "10.0.0.1:4501",
    "--log-group",
    "g",
  ]);
  assert.ok("arguments" in parsed);
  assert.equal(parsed.arguments.processClass, "log");
  assert.equal(parsed.arguments.logGroup, "g");
});

for (const [change, message] of [
  [["--colour=blue"], /unknown option `--colour'/],
  [["--class"], /`--class' requires an argument/],
  [["--class=store"], /Unknown machine class `store'/],
  [["--public_address=here:4501"], /Could not parse network address `here:4501'/],
  [["--public_address=10.0.0.1"], /Could not parse network address `10.0.0.1'/],
  [["--public_address=10.0.0.1:4501,10.0.0.1:4500,10.0.0.1:4499"], /At most two/],
  [["--memory=lots"], /memory limit/],
  [["--listen_address=10.0.0.1:4501:tls"], /TLS state/],
  [["--knob_cache_eviction_policy=fifo"], /eviction policy/],
  [["--memory=2GiB"], /--memory has to be larger/],
  [["--cache_memory=all"], /cache memory/],
  [["--knobb_max_trace_lines=1"], /unknown option `--knobb_max_trace_lines'/],
] as const) {
  test(`[FDB1] ${change.join(" ")} is refused`, () => {
    const parsed = parseServerArguments(["--public_address=10.0.0.1:4501", ...change]);
    assert.ok("error" in parsed);
    assert.match(parsed.error, message);
  });
}

test("[FDB60] knobs that fdbserver does not know, or whose value it cannot read, are warnings", () => {
  const knobs = ["--knob_x=", "--knob-max-trace-lines=many", "--knob_min_trace_severity=10"];
  const parsed = parseServerArguments(["--public_address=10.0.0.1:4501", ...knobs]);
  assert.ok("arguments" in parsed);
  assert.deepEqual(parsed.warnings, [
    "WARNING: Invalid knob option 'x'",
    "WARNING: Invalid value 'many' for knob option 'max_trace_lines'",
  ]);
});

test("[FDB60] memory that is larger than the page cache is taken", () => {
  for (const sizes of [["--memory=2GiB", "--cache_memory=100MiB"], ["--memory=4096"]]) {
    const parsed = parseServerArguments(["--public_address=10.0.0.1:4501", ...sizes]);
    assert.ok("arguments" in parsed, sizes.join(" "));
  }
});

test("[FDB1] a missing public address is refused", () => {
  assert.deepEqual(parseServerArguments(["--class=log"]), {
    error: "ERROR: The -p or --public_address option is required",
  });
});

test("[FDB2] addresses carry IPv4, IPv6, host names and the TLS suffix", () => {
  assert.deepEqual(parseNetworkAddress("10.0.0.1:4501"), {
    host: "10.0.0.1",
    port: 4501,
    useTls: false,
    isHostName: false,
  });
  assert.deepEqual(parseNetworkAddress("[fd00::1]:4500:tls"), {
    host: "fd00::1",
    port: 4500,
    useTls: true,
    isHostName: false,
  });
  assert.equal(parseNetworkAddress("log-1.sample.svc:4501")?.isHostName, true);
  for (const text of [
    "fd00::1:4501",
    "10.0.0.1",
    "10.0.0.1:0",
    "10.0.0.1:70000",
    "1.2.3:5",
    "",
    "a b:1",
  ]) {
    assert.equal(parseNetworkAddress(text), undefined, text);
  }
});

test("[FDB2] a connection string may follow comments, and nothing else", () => {
  const parsed = parseConnectionString(
    "# comment\n\nsample:abc@10.0.0.1:4501:tls,log-1.svc:4501\n",
  );
  assert.equal(parsed?.coordinators.length, 2);
  for (const text of [
    "",
    "sample@10.0.0.1:4501",
    "sample:abc@",
    "sa-mple:abc@10.0.0.1:4501",
    "s:a@x",
  ]) {
    assert.equal(parseConnectionString(text), undefined, text);
  }
});

test("[FDB40] a process behind a service is reached at both its addresses", () => {
  const behind = ["--public_address=10.96.0.7:4501", "--listen_address=10.1.38.94:4501"];
  const parsed = parseServerArguments([
    ...usual.filter((one) => !one.includes("address")),
    ...behind,
  ]);
  assert.ok("arguments" in parsed);
  const hosts = reachableAt(parsed.arguments).map((address) => address.host);
  assert.deepEqual(hosts, ["10.96.0.7", "10.1.38.94"]);
});
