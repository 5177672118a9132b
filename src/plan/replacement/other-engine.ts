// A storage process group that is replaced since its server runs another engine than the configuration names, where the
// resource asks for that. Rules: spec/migration.md [MIG13].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { desiredConfiguration } from "../../model/database-configuration.ts";
import { engineFamily, engineView } from "../../model/storage-engines.ts";
import type { EngineView, OldServer } from "../../model/storage-engines.ts";
import type { MigrationView } from "../configuration/storage-migration.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { calendarTimeMs, databaseTimeMs } from "../view/server-time.ts";

/** As a clause; undefined when it stays. */
export function otherEngine(snapshot: Snapshot, group: ProcessGroup): string | undefined {
  if (group.processClass !== "storage") return undefined;
  const database = databaseStatus(snapshot);
  const view = database && snapshot.memory.once(engineView, database);
  const sinceMs = beganMs(snapshot);
  if (view === undefined || sinceMs === undefined) return undefined;
  const old = toBeReplaced(snapshot, view, sinceMs).find(
    ({ name }) => name === group.processGroupID,
  );
  return old === undefined ? undefined : `its storage server runs ${old.engine}`;
}

/** With replacements under way it matters neither that the database changes no server nor that it could empty none. */
export function withReplacements(snapshot: Snapshot, view: EngineView): MigrationView {
  const { status } = snapshot.cluster;
  const { to } = status?.storageEngineMigration ?? {};
  const sinceMs = to === view.to ? beganMs(snapshot) : undefined;
  const old = new Set(
    toBeReplaced(snapshot, view, sinceMs ?? databaseTimeMs(snapshot)).map(({ name }) => name),
  );
  const isReplaced =
    old.size > 0 &&
    (status?.processGroups ?? []).some(
      ({ processClass, processGroupID }) => processClass === "storage" && old.has(processGroupID),
    );
  return isReplaced ? { ...view, pause: undefined, isReplaced } : view;
}

/** By the clock of the database, which also says when a server was made; ours may be wrong, and be put right meanwhile. */
function beganMs({ cluster }: Snapshot): number | undefined {
  const { since, databaseSince } = cluster.status?.storageEngineMigration ?? {};
  return calendarTimeMs(databaseSince ?? since);
}

/** A server that began since and still has another engine would be replaced without end. */
function toBeReplaced(snapshot: Snapshot, view: EngineView, sinceMs: number): OldServer[] {
  const { storageEngineChange } = snapshot.memory.once(automationOf, snapshot.cluster.spec);
  if (storageEngineChange !== "Replace" || !view.isOneForAll) return [];
  // Where the resource wants another engine than the one in force, its wish may have been taken back.
  const { databaseConfiguration = {} } = snapshot.cluster.spec;
  const { storage_engine: wanted } = snapshot.memory.once(
    desiredConfiguration,
    databaseConfiguration,
  );
  if (engineFamily(wanted) !== view.to) return [];
  return view.old.filter(({ createdMs }) => createdMs !== undefined && createdMs < sinceMs);
}
