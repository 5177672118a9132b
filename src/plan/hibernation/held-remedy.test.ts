// What helps where a database does not fall asleep. Rules: spec/hibernation.md [HIB22].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { remedyOf } from "../reasons/registry.ts";
import type { WaitReason } from "../reasons/registry.ts";
import type { NewWait } from "../wait.ts";
import { withHeldRemedy } from "./held-remedy.ts";

const usual = remedyOf("HibernationHeld");

function waitFor(reason: WaitReason): NewWait {
  return { step: "any", reason, message: "", remedy: usual, retryAfterMs: 1_000 };
}

for (const [beside, named] of [
  [[], undefined],
  [["VolumesGrowing"], undefined],
  [["VolumeGrowthFailed", "VolumesGrowing"], "VolumeGrowthFailed"],
  [["PodChangePending"], "PodChangePending"],
  [["PodChangePending", "VolumeGrowthFailed"], "PodChangePending and VolumeGrowthFailed"],
  [["VolumeShrinkRefused", "NodeNotCordoned", "HibernationUnconfirmed"], undefined],
] as const satisfies readonly (readonly [readonly WaitReason[], string | undefined])[]) {
  test(`[HIB22] HibernationHeld beside ${beside.join(", ") || "nothing"} names ${named ?? "nobody"}`, () => {
    const told = withHeldRemedy([...beside, "HibernationHeld" as const].map(waitFor));
    const remedies = told.map(({ remedy = "" }) => remedy);
    const held = remedies.pop() ?? "";
    if (named === undefined) assert.equal(held, usual);
    else assert.ok(held.startsWith(`Mend what needs a person first: ${named}. `), held);
    assert.deepEqual(new Set(remedies).size, beside.length === 0 ? 0 : 1, "others keep theirs");
  });
}
