// Backups of a cluster: what can be restored as a bar on a time axis, how far behind it is, drills; and restores into it.
// Rules: spec/page.md [PAGE15].
import { counted } from "../../model/counted.ts";
import { formatAge } from "../../plugin/explain/words.ts";
import { bytesText } from "../../plugin/text/units.ts";
import type { BackupCard, BackupsModel, DrillsModel, RestoreCard } from "../view-model.ts";
import { windowBar } from "./backup-window.ts";
import { Age, Answer, pure, Told, Until, Wait } from "./parts.tsx";
import { serverMs } from "./state.ts";
import { dateText, verdictWords } from "./words.ts";

export const BackupsView = pure(({ model }: { readonly model: BackupsModel }) => {
  const backups = Object.values(model.backups);
  const restores = Object.values(model.restores);
  return (
    <section aria-labelledby="backups-title">
      <h2 id="backups-title">Backups</h2>
      {model.problem === undefined ? null : <p class="notice">{model.problem}</p>}
      {backups.length === 0 && model.problem === undefined ? (
        <p class="empty">
          No FoundationDBBackup names this cluster: nothing of it can be restored elsewhere.
        </p>
      ) : null}
      {backups.map((card) => (
        <Backup key={card.backup} card={card} />
      ))}
      {restores.length === 0 ? null : <h2>Restores into this cluster</h2>}
      {restores.map((card) => (
        <Restore key={card.restore} card={card} />
      ))}
    </section>
  );
});

function Backup({ card }: { readonly card: BackupCard }) {
  return (
    <article class={`block edge urgency-${card.urgency}`}>
      <div class="title-row">
        <h3>{card.backup}</h3>
        <span class="meta">
          <span>{verdictWords[card.verdict]}</span>
          {card.state === undefined ? null : <span>{card.state}</span>}
          {card.destination === undefined ? null : <span>{card.destination}</span>}
        </span>
      </div>
      <p class="headline">
        <Told text={card.headline} />
      </p>
      <p class="answers">
        <Answer fact={card.running} yes="runs" no="does not run" />
        <Answer fact={card.restorable} yes="can be restored" no="cannot be restored" />
        <Answer fact={card.upToDate} yes="up to date" no="behind" />
        {card.verified === undefined ? null : (
          <Answer
            fact={card.verified}
            yes="proved by a drill"
            no="not proved by a drill"
            unknown="not proved by a drill yet"
          />
        )}
      </p>
      <Window card={card} />
      <dl class="pairs wide">
        {pairsOf(card).map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {card.nextRunMs === undefined ? null : (
          <div>
            <dt>Next run</dt>
            <dd>
              <Until at={card.nextRunMs} />
            </dd>
          </div>
        )}
      </dl>
      <Drills drills={card.drills} />
      <Runs runs={card.runs} />
      <ul class="plain waits">
        {card.waits.map((wait) => (
          <Wait key={`${wait.reason} ${wait.object ?? ""}`} wait={wait} />
        ))}
      </ul>
    </article>
  );
}

function pairsOf(card: BackupCard): [string, string][] {
  const pairs: [string, string | undefined][] = [
    ["Written", card.writtenBytes === undefined ? undefined : bytesText(card.writtenBytes)],
    [
      "Snapshot",
      card.snapshotPercent === undefined
        ? undefined
        : `${card.snapshotPercent} % of its period has passed`,
    ],
  ];
  return pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** The times that can be restored, what was missing at the last look, and what nobody has looked at since. */
function Window({ card }: { readonly card: BackupCard }) {
  const bar = windowBar(card, serverMs.value);
  if (bar === undefined) {
    return (
      <p class="window-text">
        {card.window === undefined
          ? "Nothing can be restored yet."
          : `Versions ${card.window.from.version ?? "?"} to ${card.window.to.version ?? "?"} can be restored.`}
      </p>
    );
  }
  const { fromMs, toMs, lookMs, share, missingShare, lostMs, lostMostMs } = bar;
  const isFresh = lostMostMs - lostMs < 1_000;
  return (
    <div class="window">
      <p class="window-text">
        Any moment of <strong>{formatAge(toMs - fromMs)}</strong> can be restored, from{" "}
        {dateText(fromMs)} to {dateText(toMs)}.{" "}
        {isFresh ? (
          <>
            What came after, <strong>{formatAge(lostMs)}</strong>, would be lost.
          </>
        ) : (
          <>
            When the operator looked last, <strong>{formatAge(serverMs.value - lookMs)} ago</strong>
            , what came after, {formatAge(lostMs)}, would have been lost. If the backup has got no
            further since, it is <strong>{formatAge(lostMostMs)}</strong> now.
          </>
        )}
      </p>
      <div class="window-bar" aria-hidden="true">
        <div class="window-filled" style={{ width: `${share * 100}%` }} />
        <div class="window-missing" style={{ width: `${missingShare * 100}%` }} />
      </div>
      <div class="window-ends dim" aria-hidden="true">
        <span>{dateText(fromMs)}</span>
        <span>
          {isFresh ? "now" : `now, ${formatAge(serverMs.value - lookMs)} after the last look`}
        </span>
      </div>
    </div>
  );
}

function Drills({ drills }: { readonly drills: DrillsModel | undefined }) {
  if (drills === undefined) return null;
  const { last, lastPassedMs, nextMs, running } = drills;
  return (
    <div class="drills">
      <h4>Drills</h4>
      <ul class="plain">
        {last === undefined ? <li class="dim">None has ended yet.</li> : null}
        {last === undefined ? null : (
          <li>
            <strong>
              {last.result}
              {last.isEmpty === true ? ", but proves nothing: the database was empty" : ""}
            </strong>{" "}
            <Age since={last.atMs} /> ago: <Told text={last.message} />
          </li>
        )}
        {lastPassedMs === undefined ? null : (
          <li>
            Last passed <Age since={lastPassedMs} /> ago
          </li>
        )}
        {running === undefined ? null : (
          <li>
            One is under way into {running.cluster}: {running.phase}
          </li>
        )}
        {nextMs === undefined ? null : (
          <li>
            Next <Until at={nextMs} />
          </li>
        )}
      </ul>
    </div>
  );
}

function Runs({ runs }: { readonly runs: BackupCard["runs"] }) {
  if (runs.length === 0) return null;
  return (
    <details>
      <summary>{counted(runs.length, "scheduled run")}</summary>
      <ul class="plain">
        {runs.toReversed().map(({ atMs, result, message }) => (
          <li key={atMs}>
            {dateText(atMs)} <strong>{result}</strong> <Told text={message ?? ""} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Restore({ card }: { readonly card: RestoreCard }) {
  return (
    <article class={`block edge urgency-${card.urgency}`}>
      <div class="title-row">
        <h3>{card.restore}</h3>
        <span class="meta">
          <span>{verdictWords[card.verdict]}</span>
          {card.state === undefined ? null : <span>{card.state}</span>}
          {card.source === undefined ? null : <span>{card.source}</span>}
        </span>
      </div>
      <p class="headline">
        <Told text={card.headline} />
      </p>
      {card.percent === undefined ? null : (
        <p>
          <progress max={100} value={card.percent} aria-label="Restored so far" /> {card.percent} %
          {card.writtenBytes === undefined ? "" : ` · ${bytesText(card.writtenBytes)} written`}
          {card.etaMs === undefined ? null : (
            <>
              {" · done "}
              <Until at={card.etaMs} />
            </>
          )}
        </p>
      )}
      <ul class="plain waits">
        {card.waits.map((wait) => (
          <Wait key={`${wait.reason} ${wait.object ?? ""}`} wait={wait} />
        ))}
      </ul>
    </article>
  );
}
