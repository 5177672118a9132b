// What went wrong with writes and commands, as waits: those of one cause are one, with the remedy that its answer asks for.
// Rules: spec/explain.md [E51], [E58].
import { leastOf } from "../../env/long-lists.ts";
import type { ActionFailure, Snapshot } from "../snapshot.ts";
import { isResizeRefusal } from "../resize/resize-state.ts";
import { isGrowthRefusal } from "../volumes/size-change.ts";
import type { NewWait } from "../wait.ts";

/** Acts of one step that failed with the same answer are one wait: sixteen pods without a service account have one cause. */
export function failureWaits(snapshot: Snapshot): NewWait[] {
  // A volume that cannot grow is replaced, and that is told.
  // So is a pod that cannot be resized in place and is made again.
  const failures = snapshot.failures.filter(
    (failure) => !isGrowthRefusal(failure) && !isResizeRefusal(failure),
  );
  const alike = Map.groupBy(failures, ({ step, what, message }) =>
    JSON.stringify([step, what.split(" ", 2), failureText(message, what)]),
  );
  return [...alike.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const more = members.length === 1 ? "" : ` (and ${members.length - 1} more of this kind)`;
    return {
      step: first.step,
      reason: "ActionFailed" as const,
      message: `Could not ${first.what}${more}: ${first.message}`,
      retryAfterMs: Math.max(
        0,
        leastOf(members.map(({ retryAtMs }) => retryAtMs)) - snapshot.nowMs,
      ),
      remedy: failureRemedy(first),
    };
  });
}

/** The answer without the names of the objects that it is about. */
function failureText(message: string, what: string): string {
  const names = what.split(" ").filter((word) => word.includes("-"));
  return names.reduce((text, name) => text.replaceAll(name, "*"), message);
}

const failureRemedies: readonly [RegExp, string][] = [
  [/exceeded quota/i, "Raise the ResourceQuota of the namespace, or ask for less in the spec."],
  [
    /serviceaccount .*not found/i,
    "Create the service account, or correct serviceAccountName in the pod template.",
  ],
  [
    /admission webhook/i,
    "Look at what the admission webhook asks for, or exempt the namespace from it.",
  ],
  [
    /forbidden|cannot .* resource/i,
    "Give the operator's role the permission that the answer names.",
  ],
  [/is invalid|unprocessable/i, "Correct the field of the spec that the answer names."],
];

function failureRemedy({ message, isCommand }: ActionFailure): string {
  if (isCommand) {
    return "Nothing, when it passes by itself: it is tried again. If it lasts, look at the status of the database.";
  }
  const found = failureRemedies.find(([pattern]) => pattern.test(message));
  return found?.[1] ?? "The answer of the API server names the cause.";
}
