// A storage process group that is replaced since its server runs another engine than the configuration names, where the
// resource asks for that. Rules: spec/migration.md [MIG13].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { engineView } from "../../model/storage-engines.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { operatorTimeMs } from "../view/server-time.ts";

/** As a clause; undefined when it stays. */
export function otherEngine(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  const { spec, status } = snapshot.cluster;
  const { storageEngineChange } = snapshot.memory.once(automationOf, spec);
  if (storageEngineChange !== "Replace" || group.processClass !== "storage") return undefined;
  const database = databaseStatus(snapshot);
  const view = database && snapshot.memory.once(engineView, database);
  const sinceMs = operatorTimeMs(snapshot, status?.storageEngineMigration?.since);
  if (view === undefined || sinceMs === undefined || !view.isOneForAll) return undefined;
  // A server that began since and still has another engine would be replaced without end.
  const old = view.old.find(
    ({ name, createdMs }) =>
      name === group.processGroupID && createdMs !== undefined && createdMs < sinceMs,
  );
  return old === undefined ? undefined : `its storage server runs ${old.engine}`;
}
