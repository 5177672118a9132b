// What the operator does and waits for, with what a person can do, as `kubectl fdb explain` and `plan` say it.
// Rules: spec/page.md [PAGE9].
import type { ClassRow } from "../../plugin/status/group-counts.ts";
import { recentMax } from "../../plugin/explain/recent-max.ts";
import type { ClusterModel, NowModel } from "../view-model.ts";
import { Age, Commands, Copied, pure, Told, Until, Wait } from "./parts.tsx";

interface NowProps {
  readonly now: NowModel;
  readonly commands: ClusterModel["commands"];
  /** The address of the view of backups. */
  readonly backupsHref: string;
}

export const NowView = pure(({ now, commands, backupsHref }: NowProps) => (
  <div class="columns">
    <div>
      <section class="block">
        <h2>Waits</h2>
        {now.waits.length > 0 ? null : (
          <p class="dim">
            {now.backupWaits.length === 0
              ? "The operator waits for nothing."
              : "For the cluster itself the operator waits for nothing."}
          </p>
        )}
        <Outrun now={now} />
        <ul class="plain waits">
          {now.waits.map((wait) => (
            <Wait
              key={`${wait.step} ${wait.reason} ${wait.object ?? ""}`}
              wait={wait}
              meaning={now.meanings[wait.reason]}
              urgency={now.ownUrgency}
            />
          ))}
          {now.backupWaits.map(({ backup, ...wait }) => (
            <Wait
              key={`${backup} ${wait.step} ${wait.reason}`}
              wait={{ ...wait, object: `backup/${backup}` }}
              meaning={now.meanings[wait.reason]}
            />
          ))}
        </ul>
        {now.backupWaits.length === 0 ? null : (
          <p>
            <a href={backupsHref}>See Backups</a>
          </p>
        )}
      </section>
      <section class="block">
        <h2>About to be done</h2>
        {now.nothingAhead === undefined ? null : <p class="dim">{now.nothingAhead}</p>}
        <ol class="plain ahead">
          {now.ahead.map(({ flag, text, detail, processGroups }) => (
            <li key={flag}>
              <strong>{text}</strong>
              {detail === undefined ? null : <span>: {detail}</span>}
              {processGroups.length === 0 ? null : <p class="dim">{listed(processGroups)}</p>}
            </li>
          ))}
        </ol>
      </section>
      <Troubles now={now} />
      <Quarantine now={now} />
    </div>
    <div>
      <Classes now={now} />
      <Lately now={now} />
      <AdviceList advice={now.advice} />
      <Commands commands={commands} />
      {now.unread.length === 0 ? null : (
        <section class="block">
          <h2>What could not be read</h2>
          <ul class="plain">
            {now.unread.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  </div>
));

function Lately({ now }: { readonly now: NowModel }) {
  return (
    <section class="block">
      <h2>Lately</h2>
      {now.recent.length === 0 ? <p class="dim">No event within the last hour.</p> : null}
      <ul class="plain">
        {now.recent.map(({ at, type, reason, message, count }) => (
          <li key={`${at} ${reason} ${message}`} class={type === "Warning" ? "warned" : ""}>
            <span class="dim">
              <Age since={at} /> ago
            </span>{" "}
            <strong>
              {type === "Warning" ? "Warning: " : ""}
              {reason}
            </strong>{" "}
            <Told text={message} />
            {count > 1 ? <span class="dim"> ({count} times)</span> : null}
          </li>
        ))}
      </ul>
      {now.recent.length < recentMax ? null : (
        <p class="dim">The last {recentMax}. Older ones are in the time line.</p>
      )}
    </section>
  );
}

/** What the operator waited for when it wrote that down, and has done since, may not agree. */
function Outrun({ now: { outrun } }: { readonly now: NowModel }) {
  if (outrun === undefined) return null;
  const { writtenAt, at, reason, message } = outrun;
  return (
    <p class="dim">
      Written <Age since={writtenAt} /> ago. Since then, <Age since={at} /> ago:{" "}
      <strong>{reason}</strong> {message}
    </p>
  );
}

const listedMax = 12;

function listed(names: readonly string[]): string {
  const more = names.length - listedMax;
  return `${names.slice(0, listedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function AdviceList({ advice }: Pick<NowModel, "advice">) {
  if (advice.length === 0) return null;
  return (
    <section class="block">
      <h2>Could be better</h2>
      <ul class="plain">
        {advice.map(({ topic, message, remedy }) => (
          <li key={topic}>
            {message}. <span class="dim">{remedy}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Troubles({ now }: { readonly now: NowModel }) {
  const { troubles } = now.processGroups;
  if (troubles.length + now.objects.length === 0) return null;
  return (
    <section class="block">
      <h2>Not as it should be</h2>
      <ul class="plain">
        {troubles.map(({ condition, meaning, processClass, ids, total, since }) => (
          <li key={`${condition} ${processClass}`}>
            <strong>
              {ids.length} of {total} {processClass}:
            </strong>{" "}
            {meaning} <span class="dim">({condition}</span>
            {since === undefined ? null : (
              <span class="dim">
                , <Age since={since} />
              </span>
            )}
            <span class="dim">) {listed(ids)}</span>
          </li>
        ))}
        {now.objects.map(({ object, text, since }) => (
          <li key={object}>
            <strong>{object}</strong> {text}{" "}
            {since === undefined ? null : (
              <span class="dim">
                for <Age since={since} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Volumes of process groups that are gone: what can still be had back, and until when. */
function Quarantine({ now }: { readonly now: NowModel }) {
  const { quarantine } = now;
  if (quarantine.length === 0) return null;
  return (
    <section class="block">
      <h2>Volumes in quarantine</h2>
      <p class="dim">
        Their process groups were removed. Each can be given back as long as it is there. As they
        stand, the commands only try it.
      </p>
      <ul class="plain">
        {quarantine
          .slice(0, listedMax)
          .map(({ volumeClaim, processGroupID, until, kept, command }) => (
            <li key={volumeClaim}>
              <strong>{volumeClaim}</strong>
              {processGroupID === undefined ? null : (
                <span class="dim"> of {processGroupID}</span>
              )}:{" "}
              {until === undefined ? (
                `not deleted by itself${kept === undefined ? "" : `, ${kept}`}`
              ) : (
                <>
                  deleted <Until at={until} /> at the earliest
                </>
              )}
              <Copied title="Give it back" command={command} />
            </li>
          ))}
      </ul>
      {quarantine.length > listedMax ? (
        <p class="dim">and {quarantine.length - listedMax} more</p>
      ) : null}
    </section>
  );
}

/** Those that are not there are worse than those that are, and do not run as they should. */
function shortText({ missing, failing }: ClassRow): string {
  const parts = [missing > 0 ? `${missing} missing` : "", failing > 0 ? `${failing} failing` : ""];
  return parts.filter(Boolean).join(", ");
}

function Classes({ now }: { readonly now: NowModel }) {
  return (
    <section class="block">
      <h2>Process classes</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Process classes">
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col">Wanted</th>
              <th scope="col">There</th>
              <th scope="col">Well</th>
              <th scope="col">Outdated</th>
              <th scope="col">Leaving</th>
            </tr>
          </thead>
          <tbody>
            {now.classes.map((row) => (
              <tr key={row.processClass}>
                <th scope="row">{row.processClass}</th>
                <td>{row.wanted}</td>
                <td>{row.total}</td>
                <td>
                  {now.verdict === "asleep" ? "asleep" : row.well}
                  {row.starting === 0 ? null : <span class="dim"> ({row.starting} starting)</span>}
                  {shortText(row) === "" ? null : (
                    <strong class="short"> ({shortText(row)})</strong>
                  )}
                </td>
                <td>{row.outdated === 0 ? 0 : <strong class="late">{row.outdated}</strong>}</td>
                <td>{row.leaving}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
