// The spec as it can be brought about now: names and TLS wait where they would lead to nobody. Whoever observes a cluster
// sees it so, the steps and the guard alike. Rules: spec/plan.md [P96], [P110], spec/restart.md [T77],
// spec/upgrade.md [U88].
import { withCertificatesFirst } from "../pods/certificates-first.ts";
import { withSafeNames } from "../services/family-change.ts";
import { withNamesAfterUpgrade } from "../services/names-after-upgrade.ts";
import { withWakingNames } from "../hibernation/waking-names.ts";
import type { Snapshot } from "../snapshot.ts";

export function withSpecInForce(snapshot: Snapshot): Snapshot {
  return withWakingNames(withCertificatesFirst(withNamesAfterUpgrade(withSafeNames(snapshot))));
}
