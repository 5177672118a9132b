// Servers look for the data of a database that spec.adopt brings back where its claims say, and where the spec says for claims that
// do not tell. Coordinators and logs may find theirs where storage servers do not: the database then recovers, and does not serve.
// Rules: spec/adoption.md [ADO7], [ADO21].
import { annotationKeys } from "../../build/labels.ts";
import { isStateful } from "../../model/process-class.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { sentence } from "../hold.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { layoutOnClaim } from "../view/disk-layout.ts";
import { coordinatorsRemedy } from "./lost-coordinators.ts";

const fields = "spec.imageType, spec.storageServersPerPod and spec.logServersPerPod";
const asTheyWere = "as they were when the data was written";
const annotation = `the annotation ${annotationKeys.diskLayout}`;

/** As a clause. */
export function elsewhereText(claimName: string): string {
  return `${annotation} of ${claimName} says that data was written elsewhere on its volume than where its pod looks`;
}

/** What decides where servers look, by what their claims tell. */
type Place =
  | { readonly kind: "spec" }
  /** Of this claim, against the spec. */
  | { readonly kind: "claim"; readonly claimName: string }
  | { readonly kind: "both" };

function placeOf(snapshot: Snapshot, { groups }: Draft): Place {
  const view = viewOf(snapshot);
  const other = groups.find(({ diskLayout }) => diskLayout !== undefined);
  if (other !== undefined) {
    return { kind: "claim", claimName: view.of(other).claimName ?? other.processGroupID };
  }
  const isTold = groups
    .filter(({ processClass }) => isStateful(processClass))
    .every((group) => layoutOnClaim(view.of(group).claim) !== undefined);
  return { kind: isTold ? "both" : "spec" };
}

/** As a clause. */
function againstSpec(claimName: string): string {
  return `pods look for their data where ${annotation} of their claims says, which for ${claimName} is not where the spec says`;
}

const untrueRemedy =
  "If that annotation is not true, take it away from these claims: then the spec counts.";

/** What is told of a connection string behind which servers find no database, while spec.adopt says that there is one. */
export function nothingFoundText(snapshot: Snapshot, draft: Draft): NotReadyText {
  const place = placeOf(snapshot, draft);
  const message =
    "Behind the connection string no database has been created, and spec.adopt says that there is one";
  const search =
    "look for the right connection string: fdb.cluster lies beside the data on each volume. Only when there is nothing to bring back, take spec.adopt away to create a new database.";
  if (place.kind === "both") return { message, remedy: sentence(search) };
  if (place.kind === "claim") {
    const text = `${message}; ${againstSpec(place.claimName)}`;
    return { message: text, remedy: `${untrueRemedy} If it is true, ${search}` };
  }
  const layoutRemedy = `Set ${fields} ${asTheyWere}: they say where on a volume servers look for it.`;
  return { message, remedy: `${layoutRemedy} If they are right, ${search}` };
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
  const place = placeOf(snapshot, draft);
  if (place.kind === "both") return { message, remedy };
  if (place.kind === "claim") {
    const text = `${message}; ${againstSpec(place.claimName)}`;
    return { message: text, remedy: `${remedy} ${untrueRemedy}` };
  }
  // Claims of another operator do not tell.
  const doubt = `If all pods run and it stays so, look whether ${fields} are ${asTheyWere}.`;
  return { message, remedy: `${remedy} ${doubt}` };
}
