// What all updates of running pods wait for: a change that touches every process together comes first, or a pod made
// now would have to be made again. Rules: spec/restart.md [T52].
import { hold } from "./hold.ts";
import type { Hold } from "./hold.ts";
import { isJumping } from "./running-version.ts";
import type { Draft } from "./step.ts";
import { isConvertingTls } from "./tls-switch.ts";

export function interruptionOf(draft: Draft): Hold | undefined {
  const remedy = "Nothing: it goes on when that change is complete.";
  if (isJumping(draft)) {
    const { version } = draft.desired.cluster.spec;
    const message = `The database is being brought to version ${version} first`;
    return hold("PodUpdateHeld", message, remedy, 5_000);
  }
  if (!isConvertingTls(draft)) return undefined;
  return hold("PodUpdateHeld", "TLS is being switched first", remedy, 5_000);
}
