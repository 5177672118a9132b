// The spec as it can be brought about now: names and TLS wait where they would lead to nobody, a version for its window.
// Whoever observes a cluster sees it so, the steps and the guard alike. Rules: spec/plan.md [P96], [P110], [P114], [P116],
// spec/restart.md [T77], spec/upgrade.md [U88], spec/windows.md [WIN13], spec/adoption.md [ADO16].
import { withCertificatesFirst } from "../pods/certificates-first.ts";
import { withFamilyInTurn } from "../services/family-in-turn.ts";
import { withSafeNames } from "../services/family-change.ts";
import { withNamesInTurn } from "../services/names-in-turn.ts";
import { withNamesUntilSeen } from "../services/names-until-seen.ts";
import { withWakingNames } from "../hibernation/waking-names.ts";
import { withVersionInWindow } from "../safety/version-window.ts";
import type { Snapshot } from "../snapshot.ts";

export function withSpecInForce(snapshot: Snapshot): Snapshot {
  const steps = [
    withVersionInWindow,
    withCertificatesFirst,
    withFamilyInTurn,
    withSafeNames,
    withNamesInTurn,
    withWakingNames,
    withNamesUntilSeen,
  ];
  const found = steps.reduce((seen, step) => step(seen), snapshot);
  const { spec } = snapshot.cluster;
  return found.cluster.spec === spec ? found : { ...found, storedSpec: spec };
}
