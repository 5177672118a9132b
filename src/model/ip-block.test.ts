// Blocks of addresses, and what lies in them. Rules: spec/network.md [NET12], [NET20].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isInsideBlock, parseAddressBlock, parseIpBlock } from "./ip-block.ts";

const inside: readonly [block: string, address: string, expected: boolean][] = [
  ["10.1.0.0/16", "10.1.255.9", true],
  ["10.1.0.0/16", "10.2.0.1", false],
  ["10.1.2.3/32", "10.1.2.3", true],
  ["0.0.0.0/0", "192.0.2.1", true],
  ["0.0.0.0/0", "2001:db8::1", false],
  ["2001:db8::/64", "2001:db8::ffff:1", true],
  ["2001:db8::/64", "2001:db8:0:1::1", false],
  ["::/0", "2001:db8::1", true],
  ["172.16.0.0/12", "172.31.255.255", true],
  ["172.16.0.0/12", "172.32.0.0", false],
];

for (const [block, address, expected] of inside) {
  test(`[NET12] ${address} is ${expected ? "" : "not "}in ${block}`, () => {
    const [whole, part] = [parseIpBlock(block), parseAddressBlock(address)];
    assert.ok(whole !== undefined && part !== undefined);
    assert.equal(isInsideBlock(whole, part), expected);
  });
}

for (const text of [
  "",
  "10.1.0.0",
  "10.1.0/16",
  "10.1.0.0/33",
  "10.1.0.0/-1",
  "10.1.0.0/016",
  "::/129",
  "a/8",
  "10.0.0.0/8/9",
]) {
  test(`[NET20] "${text}" is no block of addresses`, () => {
    assert.equal(parseIpBlock(text), undefined);
  });
}
