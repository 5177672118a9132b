// The story of one process group: conditions, pod, volume, processes, what happened. It is asked for when a tile is chosen, and
// again whenever that tile changes. Rules: spec/page.md [PAGE10].
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { counted } from "../../model/counted.ts";
import type { ProcessRow } from "../../model/process-row.ts";
import { bytesText, coresText, percentText, secondsText } from "../../plugin/text/units.ts";
import type { Story, StoryPod, StoryVolume, Tile } from "../view-model.ts";
import { effects } from "./effects.ts";
import { Mark } from "./mark.tsx";
import { Age, Copied, Told } from "./parts.tsx";
import { durationText, roleText, stateMeanings } from "./words.ts";

interface StoryProps {
  readonly namespace: string;
  readonly name: string;
  readonly group: string;
  /** Undefined when the process group is gone. */
  readonly tile: Tile | undefined;
  readonly onClose: () => void;
}

export function StoryPanel({ namespace, name, group, tile, onClose }: StoryProps) {
  const story = useSignal<Story | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    let isWanted = true;
    effects()
      .story(namespace, name, group)
      .then(
        (told) => {
          if (!isWanted) return;
          story.value = told;
          problem.value = undefined;
        },
        (error: unknown) => {
          if (isWanted) problem.value = error instanceof Error ? error.message : String(error);
        },
      );
    return () => {
      isWanted = false;
    };
  }, [namespace, name, group, tile]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [group]);
  const told = story.value?.group === group ? story.value : undefined;
  return (
    <aside class="story" aria-labelledby="story-title">
      <div class="story-head">
        <h2 id="story-title" tabIndex={-1} ref={heading}>
          {group}
        </h2>
        <button type="button" onClick={onClose} aria-keyshortcuts="Escape">
          Close
        </button>
      </div>
      {tile === undefined ? (
        <p class="notice">This process group is gone from the resource.</p>
      ) : (
        <p class={`state state-${tile.state}`} role="status">
          <Mark name={tile.state} /> <strong>{tile.state}</strong>
          <span class="dim"> {stateMeanings[tile.state]}</span>
        </p>
      )}
      {tile === undefined || tile.troubles.length === 0 || told !== undefined ? null : (
        <p class={`troubles state-${tile.state}`}>{tile.troubles.join(", ")}</p>
      )}
      {problem.value === undefined ? null : <p class="notice">{problem}</p>}
      {told === undefined ? null : <StoryBody story={told} isCoordinator={tile?.isCoordinator} />}
    </aside>
  );
}

function StoryBody({
  story,
  isCoordinator = false,
}: {
  story: Story;
  isCoordinator?: boolean | undefined;
}) {
  const places = [
    ["Class", story.processClass],
    ["Datacenter", story.dataCenter],
    ["Hall", story.hall],
    [story.node === "" ? "Fault domain, last known" : "Fault domain", story.faultDomain],
    ["Node", story.node],
    ["Address", story.addresses.join(", ")],
  ].filter(([, value]) => value !== "");
  return (
    <>
      <Conditions story={story} />
      <section>
        <h3>Place</h3>
        <dl class="pairs">
          {places.map(([title, value]) => (
            <Pair key={title} title={title ?? ""} value={value ?? ""} />
          ))}
        </dl>
      </section>
      {story.processes.map((row) => (
        <ProcessFigures key={row.process} row={row} isCoordinator={isCoordinator} />
      ))}
      {story.processes.length === 0 ? (
        <section>
          <h3>Process</h3>
          <p class="dim">The database does not see a process of this group.</p>
        </section>
      ) : null}
      <PodPart pod={story.pod} />
      {story.volume === undefined ? null : <VolumePart volume={story.volume} />}
      {story.events.length === 0 ? null : (
        <section>
          <h3>Events</h3>
          <ul class="plain">
            {story.events.map(({ reason, message, at, count }) => (
              <li key={`${reason} ${message} ${at}`}>
                <Since ms={Date.parse(at)} /> <strong>{reason}</strong> <Told text={message} />
                {count > 1 ? ` (${count} times)` : ""}
              </li>
            ))}
          </ul>
        </section>
      )}
      {story.commands.length === 0 ? null : (
        <section>
          <h3>Commands to copy</h3>
          {story.commands.map((one) => (
            <Copied key={one.command} {...one} />
          ))}
        </section>
      )}
    </>
  );
}

function Conditions({ story }: { readonly story: Story }) {
  const { conditions, removal } = story;
  if (conditions.length === 0 && removal === undefined) return null;
  return (
    <section>
      <h3>Conditions</h3>
      <ul class="plain">
        {removal === undefined ? null : (
          <li>
            <strong>{removal.text}</strong> <Since ms={removal.sinceMs} />
          </li>
        )}
        {conditions.map(({ type, meaning, sinceMs }) => (
          <li key={type}>
            <strong>{type}</strong> {meaning} <Since ms={sinceMs} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Since({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return null;
  return (
    <span class="dim">
      <Age since={ms} /> ago
    </span>
  );
}

function Pair({ title, value }: { readonly title: string; readonly value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function ProcessFigures({ row, isCoordinator }: { row: ProcessRow; isCoordinator: boolean }) {
  const duties = [...(isCoordinator ? ["coordinator"] : []), ...row.roles.map(roleText)];
  const memory = `${bytesText(row.memoryBytes)} of ${bytesText(row.memoryLimitBytes)}`;
  const disk = `${bytesText(row.diskFreeBytes)} of ${bytesText(row.diskTotalBytes)}`;
  const figures: readonly (readonly [string, number | undefined, string])[] = [
    ["Up for", row.uptimeSeconds, durationText(row.uptimeSeconds ?? 0)],
    ["CPU", row.cpuCores, `${coresText(row.cpuCores)} cores`],
    ["Run loop busy", row.runLoopBusy, percentText(row.runLoopBusy)],
    ["Memory", row.memoryBytes, memory],
    ["Disk busy", row.diskBusy, percentText(row.diskBusy)],
    ["Disk free", row.diskFreeBytes, disk],
    ["Stored", row.storedBytes, bytesText(row.storedBytes)],
    ["Queue", row.queueBytes, bytesText(row.queueBytes)],
    ["Lag", row.lagSeconds, secondsText(row.lagSeconds)],
    ["Durability lag", row.durabilityLagSeconds, secondsText(row.durabilityLagSeconds)],
  ];
  return (
    <section>
      <h3>Process</h3>
      <p>
        {duties.length === 0 ? "no role" : duties.join(", ")}
        <span class="dim">
          {" "}
          {row.version} at {row.address}
        </span>
      </p>
      {row.notes.length === 0 ? null : <p class="troubles">{row.notes.join(", ")}</p>}
      <dl class="pairs">
        {figures
          .filter(([, value]) => value !== undefined)
          .map(([title, , text]) => (
            <Pair key={title} title={title} value={text} />
          ))}
      </dl>
    </section>
  );
}

function PodPart({ pod }: { readonly pod: StoryPod | undefined }) {
  if (pod === undefined) {
    return (
      <section>
        <h3>Pod</h3>
        <p class="dim">There is none.</p>
      </section>
    );
  }
  return (
    <section>
      <h3>Pod</h3>
      <p>
        {pod.name}
        <span class="dim">
          {" "}
          {pod.phase}, {pod.isReady ? "ready" : "not ready"}
          {pod.createdMs === undefined ? "" : " · made "}
        </span>
        <Since ms={pod.createdMs} />
      </p>
      {pod.trouble === undefined ? null : <p class="troubles">{pod.trouble}</p>}
      <ul class="plain">
        {pod.containers.map((container) => (
          <li key={container.name}>
            <strong>{container.name}</strong> {container.state}
            {container.sinceMs === undefined ? null : (
              <>
                {" for "}
                <Age since={container.sinceMs} />
              </>
            )}
            <span class="dim">
              {" · "}
              {container.image} · {counted(container.restarts, "restart")}
            </span>
            {container.lastEnd === undefined ? null : (
              <div class="dim">
                ended before: {container.lastEnd.text} <Since ms={container.lastEnd.atMs} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function VolumePart({ volume }: { readonly volume: StoryVolume }) {
  return (
    <section>
      <h3>Volume</h3>
      <p>
        {volume.claim}
        <span class="dim">
          {" "}
          {[volume.phase, volume.capacity, volume.storageClass].filter(Boolean).join(", ")}
        </span>
      </p>
      {volume.trouble === undefined ? null : <p class="troubles">{volume.trouble}</p>}
    </section>
  );
}
