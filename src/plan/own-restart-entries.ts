// Entries with which this instance told the others that its processes may be restarted. While they stand, or cannot be
// read, nothing is prepared for an upgrade in which all processes change at once: somebody else's restart would bring
// processes back with the new version before the others. Rules: spec/upgrade.md [U59].
import type { SetEntry } from "../fdb/keys.ts";
import { coordinationOf, isGlobal, ownPrefixOf, setsOfPurpose } from "./shared-sets.ts";
import type { Snapshot } from "./snapshot.ts";
import type { NewWait } from "./wait.ts";
import { nameList } from "./wait.ts";

const step = "updateSidecarVersions";

/** Process groups with such an entry; undefined when it is not known. */
function announcedForRestart(snapshot: Snapshot): readonly string[] | undefined {
  if (!isGlobal(snapshot, snapshot.cluster.status ?? {})) return [];
  const known = coordinationOf(snapshot);
  if (known === undefined) return undefined;
  const ownPrefix = ownPrefixOf(snapshot);
  const isOwn = (entry: SetEntry): boolean => entry.processGroupIdPrefix === ownPrefix;
  const { pending, ready } = setsOfPurpose.restart;
  const ids = [pending, ready].flatMap((set) => {
    const { entries, foreign } = known.sets[set];
    return [...entries, ...foreign].filter(isOwn).map(({ processGroupId }) => processGroupId);
  });
  return [...new Set(ids)].sort();
}

/** Why nothing may be prepared for an upgrade yet. */
export function restartEntriesWait(snapshot: Snapshot): NewWait | undefined {
  const ids = announcedForRestart(snapshot);
  if (ids?.length === 0) return undefined;
  const message =
    ids === undefined
      ? "The coordination sets have not been read, so it is not known who may restart processes here"
      : `The others may still restart ${nameList(ids)}: their entries have to be taken out of the coordination sets first`;
  return {
    step,
    reason: "CoordinationSettling",
    message: `The upgrade is about to be prepared. ${message}`,
    remedy:
      "Nothing for a minute; if it lasts, look at `kubectl fdb coordination` and at why the database takes no writes.",
    retryAfterMs: 2_000,
    isForDatabase: true,
  };
}
