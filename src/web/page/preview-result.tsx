// What a preview found, the most important first: the outcome, what it costs, what happens in which order, what cannot be undone.
// Rules: spec/page.md [PAGE16].
import { bytesText } from "../../plugin/text/units.ts";
import { durationText } from "./words.ts";
import type { PreviewReport, Range } from "../../preview/report.ts";
import type { PreviewAnswer, Urgency } from "../view-model.ts";

const outcomes: Readonly<Record<PreviewReport["outcome"], readonly [Urgency, string]>> = {
  nothing: [0, "Nothing would happen"],
  done: [0, "It would be done"],
  blocked: [3, "It would get stuck"],
  refused: [3, "It would be refused"],
  lost: [3, "Data would be lost: no living process has a copy of it at the end"],
  unfinished: [2, "It was not done within the limits of a preview"],
};

export function PreviewResult({ answer }: { readonly answer: PreviewAnswer }) {
  const { report, text } = answer;
  const [ofOutcome, title] = outcomes[report.outcome];
  const urgency = ofOutcome === 0 && report.warnings.length > 0 ? 2 : ofOutcome;
  return (
    <div class="preview-result" role="region" aria-label="What would happen" aria-live="polite">
      <div class={`block edge urgency-${urgency}`}>
        <h2>{title}</h2>
        <p>
          {report.change}
          {report.seeds.length === 0 ? null : <span class="dim"> · {triedText(report)}</span>}
        </p>
        {report.refusal === undefined ? null : <p class="notice">{report.refusal}</p>}
        {report.warnings.map((warning) => (
          <p class="notice" key={warning}>
            {warning}
          </p>
        ))}
        <dl class="costs">
          {costsOf(report).map(([name, value, note]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <strong>{value}</strong>
                {note === "" ? null : <span class="dim">{note}</span>}
              </dd>
            </div>
          ))}
        </dl>
      </div>
      <Phases title="What happens, in order" phases={report.phases} />
      <Phases title="What would happen anyway" phases={report.pending} />
      {report.waits.length === 0 ? null : (
        <div class="block">
          <h3>It would wait for</h3>
          <ul class="plain waits">
            {report.waits.map(({ reason, message, remedy, concern }) => (
              <li
                key={`${reason} ${message}`}
                class={`wait edge urgency-${concern === "person" ? 3 : 2}`}
              >
                <p>
                  <strong>{reason}</strong> {message}
                </p>
                <p class="remedy">
                  <strong>What to do:</strong> {remedy}
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Lines
        title="Pods that find no node"
        lines={Object.entries(report.withoutNode).map(([pod, why]) => `${pod}: ${why}`)}
      />
      <Lines title="What cannot be undone" lines={report.irreversible} />
      <Lines title="How the copy differs" lines={report.differences} />
      <Lines title="What no preview knows" lines={report.unknown} />
      <details class="block">
        <summary>As text</summary>
        <pre tabIndex={0}>{text}</pre>
      </details>
    </div>
  );
}

/** With other chances other things may happen: a range of one run is none. */
function triedText({ seeds }: PreviewReport): string {
  const times = seeds.length === 1 ? "once" : `${seeds.length} times, with other chances each time`;
  return `tried out ${times}`;
}

function costsOf(report: PreviewReport): [string, string, string][] {
  const { faultTolerance: tolerance, version } = report;
  const domains = (of: { data: number } | undefined): string =>
    of === undefined ? "not known" : String(of.data);
  return [
    ["Recoveries", ranged(report.recoveries), pauseText(report)],
    [
      "Data to move",
      ranged(report.bytesMoved, bytesText),
      `about ${ranged(report.movementSeconds, durationText)}`,
    ],
    ["Other work", ranged(report.otherSeconds, durationText), "an estimate"],
    ["Pods made again", ranged(report.podsMadeAgain), ""],
    ["Processes restarted", ranged(report.processesRestarted), ""],
    ["Coordinator changes", ranged(report.coordinatorChanges), ""],
    [
      "Fault domains that may fail",
      domains(tolerance.lowest),
      `lowest; ${domains(tolerance.before)} before`,
    ],
    ["Process groups", ...groupsText(report)],
    ...(version === undefined
      ? []
      : [["Version", `${version.from} → ${version.to}`, ""] satisfies [string, string, string]]),
  ];
}

function pauseText({ recoveries, longestPauseSeconds }: PreviewReport): string {
  return recoveries.most === 0
    ? "no pause"
    : `the longest pause ${durationText(longestPauseSeconds)}`;
}

function groupsText({ processGroups: { added, removed } }: PreviewReport): [string, string] {
  const parts = [
    ...Object.entries(added).map(([name, range]) => `+${ranged(range)} ${name}`),
    ...Object.entries(removed).map(([name, range]) => `−${ranged(range)} ${name}`),
  ];
  return parts.length === 0
    ? ["all stay", "none added, none removed"]
    : [parts.join(", "), "added and removed"];
}

function ranged({ least, most }: Range, told: (value: number) => string = String): string {
  return spanText(told(least), told(most));
}

interface PhasesProps {
  readonly title: string;
  readonly phases: PreviewReport["phases"];
}

function Phases({ title, phases }: PhasesProps) {
  if (phases.length === 0) return null;
  const end = phases.reduce((most, { toSeconds }) => Math.max(most, toSeconds), 1);
  const percent = (seconds: number): string => `${(seconds / end) * 100}%`;
  return (
    <div class="block">
      <h3>{title}</h3>
      <ol class="plain phases">
        {phases.map(({ what, count, fromSeconds, toSeconds }) => (
          <li key={what}>
            <span class="phase-what">
              {what}
              {count > 1 ? <span class="dim"> × {count}</span> : null}
            </span>
            <span class="phase-bar" aria-hidden="true">
              <span
                style={{ left: percent(fromSeconds), width: percent(toSeconds - fromSeconds) }}
              />
            </span>
            <span class="phase-time dim">
              {spanText(durationText(fromSeconds), durationText(toSeconds))}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div class="block">
      <h3>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

function spanText(from: string, to: string): string {
  return from === to ? from : `${from} to ${to}`;
}
