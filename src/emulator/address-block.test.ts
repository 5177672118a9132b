// Addresses of several clusters on one network.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  addressBlocksMax,
  blockOf,
  isServiceAddress,
  nodeAddress,
  podAddresses,
  serviceAddress,
} from "./address-block.ts";

test("[MU2] blocks share no address, and a pod's address tells its block", () => {
  const seen = new Set<string>();
  for (let block = 0; block < addressBlocksMax; block += 1) {
    const pods = [1, 65_536, 900_000].flatMap((number) =>
      Object.values(podAddresses(block, number)),
    );
    const services = ["IPv4", "IPv6"].map((family) => serviceAddress(block, family, [7, 9]));
    for (const address of [nodeAddress(block, 5), ...pods, ...services]) {
      assert.ok(!seen.has(address), address);
      seen.add(address);
    }
    for (const address of pods) assert.equal(blockOf(address), block, address);
    assert.ok(isServiceAddress(block, services[0] ?? ""));
    assert.ok(!isServiceAddress((block + 1) % addressBlocksMax, services[0] ?? ""));
  }
  assert.equal(blockOf("192.168.0.1"), undefined);
});

test("[MU2] the first and the last address of a service network belong to nobody", () => {
  assert.ok(!isServiceAddress(0, "10.0.0.0"));
  assert.ok(!isServiceAddress(1, "10.16.255.255"));
  assert.ok(isServiceAddress(1, "10.16.0.1"));
  assert.ok(!isServiceAddress(1, "10.160.0.1"));
});
