// What the operator keeps in memory about one restore. All of it can be lost: the next pass finds it again.
import { readRestoreLayer } from "../../fdb/restore-layer.ts";
import type { RestoreLayer, RestoreQuestion } from "../../fdb/restore-layer.ts";
import type { TimePair } from "../../model/backup-time-map.ts";
import type { RestoreFacts } from "../../plan/restore/snapshot.ts";
import { LayerReader } from "../backup/layer-reader.ts";
import type { LayerReaderOptions } from "../backup/layer-reader.ts";
import { newResourceState } from "../backup/state.ts";
import type { ResourceState } from "../backup/state.ts";

export interface RestoreState extends ResourceState {
  readonly reader: LayerReader<RestoreQuestion, RestoreLayer>;
  /** What the pass before found; a new operator begins anew. */
  facts: RestoreFacts;
  /** The map of times of the backup, as it was last read. */
  timeline: { readonly readMs: number; readonly pairs: readonly TimePair[] } | undefined;
}

export function newRestoreState(options: LayerReaderOptions): RestoreState {
  const reader = new LayerReader(options, { read: readRestoreLayer, gist });
  return { reader, timeline: undefined, facts: {}, ...newResourceState() };
}

/** Without what moves all the time. */
function gist({ isPaused, lockUid, restores, occupied }: RestoreLayer): unknown {
  const states = restores.map(({ tag, uid, state }) => [tag, uid, state]);
  return [isPaused, lockUid, occupied !== undefined, states];
}
