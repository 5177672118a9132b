// What a spec says about packing. Rules: spec/packing.md [PACK12], [PACK13].
import assert from "node:assert/strict";
import { test } from "node:test";
import { domainCount, isPackingEnabled } from "./packing.ts";

const defaults: readonly [string | undefined, number][] = [
  [undefined, 2],
  ["single", 1],
  ["double", 2],
  ["triple", 3],
  ["three_data_hall", 3],
  ["three_data_hall_fallback", 3],
  ["three_datacenter", 3],
  ["three_datacenter_fallback", 3],
];

for (const [mode, domains] of defaults) {
  test(`[PACK12] ${mode ?? "no mode"}: ${domains} logical fault domains unless told otherwise`, () => {
    const databaseConfiguration = mode === undefined ? {} : { redundancy_mode: mode };
    const spec = { version: "7.3.63", databaseConfiguration } as Parameters<typeof domainCount>[0];
    assert.equal(domainCount(spec), domains);
    assert.equal(domainCount({ ...spec, distributionConfig: { desiredFaultDomains: 7 } }), 7);
  });
}

test("[PACK13] nothing is packed unless the resource says so", () => {
  const version = "7.3.63";
  assert.equal(isPackingEnabled({ version }), false);
  assert.equal(
    isPackingEnabled({ version, distributionConfig: { desiredFaultDomains: 3 } }),
    false,
  );
  assert.equal(isPackingEnabled({ version, distributionConfig: { enabled: true } }), true);
});
