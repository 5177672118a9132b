// Acts, recoveries, waits and failures on one axis that moves with the time, and the same as a list.
// Rules: spec/page.md [PAGE11].
import { useSignal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { counted } from "../../model/counted.ts";
import { formatAge } from "../../plugin/explain/words.ts";
import type { TimeLineEntry, TimeLineKind, TimeLineModel } from "../view-model.ts";
import { Age, pure, Told } from "./parts.tsx";
import { serverMs } from "./state.ts";
import { axisOf, kindTitles, shareOf, shownEntries, spans } from "./time-axis.ts";
import { ticksOf, timeLineKinds } from "./time-axis.ts";
import type { Axis, SpanName } from "./time-axis.ts";
import { clockText, dateText, momentText, timeTitle } from "./words.ts";

export function TimeLineView({ model }: { readonly model: TimeLineModel }) {
  const span = useSignal<SpanName>("all");
  const kinds = useSignal<ReadonlySet<TimeLineKind>>(new Set(timeLineKinds));
  const marked = useSignal<string | undefined>(undefined);
  const axis = axisOf(model, span.value, serverMs.value);
  const entries = shownEntries(model, axis, kinds.value);
  // Another one only once a day, so that entries are not drawn again with every second.
  const todayMs = Math.floor(serverMs.value / dayMs) * dayMs;
  const toggle = (kind: TimeLineKind): void => {
    const next = new Set(kinds.value);
    if (!next.delete(kind)) next.add(kind);
    kinds.value = next;
  };
  return (
    <section aria-labelledby="time-line-title">
      <div class="title-row">
        <h2 id="time-line-title">Time line</h2>
        <fieldset class="choices">
          <legend class="visually-hidden">How far back</legend>
          {(Object.keys(spans) as SpanName[]).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="span"
                checked={span.value === name}
                onChange={() => (span.value = name)}
              />
              {name}
            </label>
          ))}
        </fieldset>
        <fieldset class="choices">
          <legend class="visually-hidden">What is shown</legend>
          {timeLineKinds.map((kind) => (
            <label key={kind} class={`kind-${kind}`}>
              <input
                type="checkbox"
                checked={kinds.value.has(kind)}
                onChange={() => toggle(kind)}
              />
              {kindTitles[kind]}
            </label>
          ))}
        </fieldset>
      </div>
      <Drawing axis={axis} entries={entries} marked={marked} />
      <p class="dim">
        {counted(entries.length, "entry", "entries")}. Times are in UTC. Looked at since{" "}
        {dateText(model.sinceMs)}; what was before is known from events alone.
      </p>
      <ol class="plain entries" aria-label="Entries, the newest first">
        {entries.map(([id, entry]) => (
          <Entry key={id} {...{ id, entry, todayMs }} isMarked={marked.value === id} />
        ))}
      </ol>
    </section>
  );
}

const dayMs = 86_400_000;
const laneHeight = 30;
const width = 1_000;

interface DrawingProps {
  readonly axis: Axis;
  readonly entries: readonly (readonly [string, TimeLineEntry])[];
  readonly marked: ReadonlySignal<string | undefined> & { value: string | undefined };
}

/** The list says the same in words. */
function Drawing({ axis, entries, marked }: DrawingProps) {
  const height = laneHeight * timeLineKinds.length;
  const ticks = ticksOf(axis, 8);
  const isLong = axis.toMs - axis.fromMs > 86_400_000;
  // A name at the very end would stand out of the drawing.
  const hasRoom = (at: number): boolean => shareOf(axis, at) <= 0.97;
  return (
    <div class="time-drawing" aria-hidden="true">
      <div class="lane-names">
        {timeLineKinds.map((kind) => (
          <span key={kind} class={`kind-${kind}`}>
            {kindTitles[kind]}
          </span>
        ))}
      </div>
      <div class="lanes">
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
          {ticks.map((at) => (
            <line
              key={at}
              class="tick"
              x1={shareOf(axis, at) * width}
              x2={shareOf(axis, at) * width}
              y1={0}
              y2={height}
            />
          ))}
          {entries.map(([id, entry]) => (
            <Bar key={id} {...{ id, entry, axis, marked }} />
          ))}
        </svg>
        <div class="tick-names">
          {ticks.filter(hasRoom).map((at) => (
            <span key={at} style={{ left: `${shareOf(axis, at) * 100}%` }}>
              {isLong ? dateText(at).replace(" UTC", "") : clockText(at)}
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}

interface BarProps {
  readonly id: string;
  readonly entry: TimeLineEntry;
  readonly axis: Axis;
  readonly marked: DrawingProps["marked"];
}

const widthMin = 4;

function Bar({ id, entry, axis, marked }: BarProps) {
  const lane = timeLineKinds.indexOf(entry.kind);
  const from = shareOf(axis, entry.fromMs) * width;
  const to = shareOf(axis, entry.toMs ?? axis.toMs) * width;
  const wide = Math.max(widthMin, to - from);
  return (
    <rect
      class={`bar kind-${entry.kind} ${entry.toMs === undefined ? "goes-on" : ""}`}
      x={Math.min(from, width - wide)}
      y={lane * laneHeight + 6}
      width={wide}
      height={laneHeight - 12}
      rx={2}
      onMouseEnter={() => (marked.value = id)}
      onMouseLeave={() => (marked.value = undefined)}
      onClick={() =>
        document.querySelector(`#entry-${CSS.escape(id)}`)?.scrollIntoView({ block: "center" })
      }
    >
      <title>{`${clockText(entry.fromMs)} UTC ${entry.reason}: ${entry.text}`}</title>
    </rect>
  );
}

interface EntryProps {
  readonly id: string;
  readonly entry: TimeLineEntry;
  readonly isMarked: boolean;
  readonly todayMs: number;
}

const Entry = pure(({ id, entry, isMarked, todayMs }: EntryProps) => {
  const { kind, fromMs, toMs, reason, text, remedy, object, count, firstMs } = entry;
  return (
    <li id={`entry-${id}`} class={`entry edge kind-${kind} ${isMarked ? "marked" : ""}`}>
      <span class="entry-time">
        <time dateTime={new Date(fromMs).toISOString()} title={timeTitle(fromMs)}>
          {momentText(fromMs, todayMs)}
        </time>
        <span class="dim">
          {toMs === undefined ? (
            <>
              for <Age since={fromMs} />
            </>
          ) : toMs - fromMs >= 1_000 ? (
            `${count === undefined ? "took" : "over"} ${formatAge(toMs - fromMs)}`
          ) : (
            ""
          )}
        </span>
      </span>
      <span class="entry-kind">{kind}</span>
      <span class="entry-text">
        <strong>{reason}</strong> <Told text={text} />
        {object === undefined ? null : <span class="dim"> {object}</span>}
        {count === undefined ? null : (
          <span class="dim">
            {` (${count} times${firstMs === undefined ? "" : `, the first at ${momentText(firstMs, todayMs)}`})`}
          </span>
        )}
        {remedy === undefined || toMs !== undefined ? null : (
          <span class="remedy">
            <strong>What to do:</strong> <Told text={remedy} />
          </span>
        )}
      </span>
    </li>
  );
});
