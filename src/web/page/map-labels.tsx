// The names on the map: of regions, halls and zones above their columns, of nodes beside their tiles.
// Rules: spec/page.md [PAGE7].
import type { MapPlace } from "../view-model.ts";
import type { MapLayout, Panel } from "./map-layout.ts";
import { pure } from "./parts.tsx";

export const MapLabels = pure(({ layout }: { readonly layout: MapLayout }) => (
  <div class={`map-labels map-${layout.size}`} style={{ height: `${layout.height}px` }}>
    {layout.panels.map((panel) => (
      <PanelLabels key={panel.column.id} panel={panel} />
    ))}
  </div>
));

function PanelLabels({ panel }: { readonly panel: Panel }) {
  const { x, y, width, height, column } = panel;
  const box = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
  const { places } = column;
  return (
    <>
      <div class="panel" style={box}>
        <h3>
          {places.length === 0 ? <span class="place">all nodes</span> : null}
          {places.map((place) => (
            <PlaceName key={`${place.kind} ${place.name}`} place={place} />
          ))}
        </h3>
      </div>
      {panel.rows.map(({ row, x: left, y: top, width: room }) => (
        <p
          key={row.node}
          class="node"
          style={{ left: `${left}px`, top: `${top}px`, width: `${room}px` }}
          title={[row.node === "" ? "without a node" : row.node, ...row.notes].join(", ")}
        >
          {row.node === "" ? <em>without a node</em> : row.node}
          {row.notes.map((note) => (
            <strong key={note} class={note === "not ready" ? "note lost" : "note"}>
              {" "}
              {note}
            </strong>
          ))}
        </p>
      ))}
    </>
  );
}

function PlaceName({ place }: { readonly place: MapPlace }) {
  return (
    <span class="place">
      <span class="dim">{place.kind}</span> {place.name === "" ? "not known" : place.name}
      {place.notes.map((note) => (
        <strong key={note} class="note">
          {" "}
          {note}
        </strong>
      ))}
    </span>
  );
}
