// Servers look for the data of a database that spec.adopt brings back where the spec says. Coordinators and logs may find theirs
// where storage servers do not: the database then recovers, and does not serve. Rules: spec/adoption.md [ADO7], [ADO21].
import { annotationKeys } from "../../build/labels.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { claimWithOtherLayout } from "../safety/no-database.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { coordinatorsRemedy } from "./lost-coordinators.ts";

const fields = "spec.imageType, spec.storageServersPerPod and spec.logServersPerPod";
const asTheyWere = "as they were when the data was written";

export const layoutRemedy = `Set ${fields} ${asTheyWere}: they say where on a volume servers look for it.`;

/** As a clause. */
export function elsewhereText(claimName: string): string {
  return `the annotation ${annotationKeys.diskLayout} of ${claimName} says that data was written elsewhere on its volume than where its pod looks`;
}

interface NotReadyText {
  readonly message: string;
  readonly remedy: string;
}

/** Of a database that was created and does not serve, before it has been seen; `message` is what its status says. */
export function notReadyText(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  message: string,
): NotReadyText {
  const remedy = coordinatorsRemedy(snapshot, draft, status);
  const isReached = status.client?.coordinators?.quorum_reachable === true;
  if (snapshot.cluster.spec.adopt === undefined || !isReached) return { message, remedy };
  const claim = claimWithOtherLayout(snapshot, draft.groups);
  if (claim === undefined) {
    // Claims of another operator do not tell.
    const doubt = `If all pods run and it stays so, look whether ${fields} are ${asTheyWere}.`;
    return { message, remedy: `${remedy} ${doubt}` };
  }
  return {
    message: `${message}; ${elsewhereText(claim)}`,
    remedy: `${layoutRemedy} If they are right, look at \`fdbcli --exec 'status details'\` in one of the pods.`,
  };
}
