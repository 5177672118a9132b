// Settings without effect are named, never accepted in silence.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { unusedSettings } from "./unused-settings.ts";

const version = "7.3.63";

test("[API34] settings that this version does not act on are named", () => {
  const found = unusedSettings({
    version,
    distributionConfig: { enabled: true },
  });
  assert.deepEqual(
    found.map(({ field }) => field),
    ["spec.distributionConfig.enabled"],
  );
});

test("[API34] the same settings switched off are fine", () => {
  const off = {
    version,
    distributionConfig: { enabled: false },
  };
  assert.deepEqual([...unusedSettings({ version }), ...unusedSettings(off)], []);
});
