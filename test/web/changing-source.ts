// A source whose models are changed on their way to the page, to see what the page does with one change.
import type { Source } from "../../src/web/server/source.ts";
import type { ClusterModel, PageModel, Tile } from "../../src/web/view-model.ts";

export interface ChangingSource extends Source {
  /** From now on what the source tells is changed so. */
  change(edit: (model: PageModel) => PageModel): void;
}

export function changingSource(source: Source): ChangingSource {
  const listeners = new Set<() => void>();
  let edit = (model: PageModel): PageModel => model;
  return {
    ...source,
    look(cluster, onNews) {
      listeners.add(onNews);
      const look = source.look(cluster, onNews);
      let last: { of: PageModel; by: typeof edit; model: PageModel } | undefined;
      return {
        ...look,
        model() {
          const of = look.model();
          if (last?.of !== of || last.by !== edit) last = { of, by: edit, model: edit(of) };
          return last.model;
        },
        end() {
          listeners.delete(onNews);
          look.end();
        },
      };
    },
    change(wanted) {
      edit = wanted;
      for (const listener of listeners) listener();
    },
  };
}

/** With another tile in the place of this one. */
export function withTile(model: PageModel, group: string, change: Partial<Tile>): PageModel {
  const { cluster } = model;
  if (cluster === undefined || cluster.isMissing) return model;
  const tile = { ...(cluster.map.tiles[group] as Tile), ...change };
  const map = { ...cluster.map, tiles: { ...cluster.map.tiles, [group]: tile } };
  return { ...model, cluster: { ...cluster, map } satisfies ClusterModel };
}
