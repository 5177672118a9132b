// The map as a table, for those who read or search it as text; its rows are made when it is opened.
// Rules: spec/page.md [PAGE8].
import { useSignal } from "@preact/signals";
import type { MapModel, Tile } from "../view-model.ts";
import { Mark } from "./mark.tsx";
import { pure } from "./parts.tsx";
import { roleText } from "./words.ts";

interface TableProps {
  readonly map: MapModel;
  readonly onSelect: (group: string) => void;
}

export function MapTable({ map, onSelect }: TableProps) {
  const isOpen = useSignal(false);
  return (
    <details class="map-table" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>All process groups as a table</summary>
      {isOpen.value ? <Rows map={map} onSelect={onSelect} /> : null}
    </details>
  );
}

function Rows({ map, onSelect }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Process groups as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Process group</th>
            <th scope="col">State</th>
            <th scope="col">Class</th>
            <th scope="col">Roles</th>
            <th scope="col">Place</th>
            <th scope="col">Node</th>
            <th scope="col">Trouble</th>
          </tr>
        </thead>
        <tbody>
          {map.columns.flatMap(({ places, rows }) => {
            const place = places.map(({ name }) => name || "not known").join(" / ");
            return rows.flatMap(({ node, groups }) =>
              groups.map((group) => (
                <Row key={group} {...{ group, node, place, onSelect }} tile={map.tiles[group]} />
              )),
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly group: string;
  readonly node: string;
  readonly place: string;
  readonly tile: Tile | undefined;
  readonly onSelect: (group: string) => void;
}

const Row = pure(({ group, node, place, tile, onSelect }: RowProps) => {
  if (tile === undefined) return null;
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" onClick={() => onSelect(group)}>
          {group}
        </button>
      </th>
      <td class={`state-${tile.state}`}>
        <Mark name={tile.state} /> {tile.state}
      </td>
      <td>{tile.processClass}</td>
      <td>
        {[...(tile.isCoordinator ? ["coordinator"] : []), ...tile.roles.map(roleText)].join(", ")}
      </td>
      <td>{place}</td>
      <td>{node === "" ? "none" : node}</td>
      <td>{tile.troubles.join(", ")}</td>
    </tr>
  );
});
