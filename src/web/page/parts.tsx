// Small pieces that several views are made of: ages, answers, marks, commands to copy, lists of waits.
// Rules: spec/page.md [PAGE5].
import { useComputed, useSignal } from "@preact/signals";
import { Component } from "preact";
import type { ComponentChildren, FunctionComponent } from "preact";
import type { ExplainedFact } from "../../plugin/explain/page.ts";
import { formatAge } from "../../plugin/explain/words.ts";
import type { CopiedCommand, ExplainedWait } from "../view-model.ts";
import { effects } from "./effects.ts";
import { serverMs } from "./state.ts";
import type { Urgency } from "../view-model.ts";
import {
  answerMarks,
  answerWords,
  chipOf,
  commandIn,
  timeTitle,
  toldParts,
  wordsIn,
} from "./words.ts";
import type { Needed } from "./words.ts";

/** A component that is drawn again only when one of its properties is another. */
export function pure<P extends object>(Draw: FunctionComponent<P>): FunctionComponent<P> {
  class Pure extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [left, right] = [
        this.props as Record<string, unknown>,
        next as Record<string, unknown>,
      ];
      const names = new Set([...Object.keys(left), ...Object.keys(right)]);
      return [...names].some((name) => left[name] !== right[name]);
    }

    override render(): ComponentChildren {
      return <Draw {...this.props} />;
    }
  }
  return Pure as unknown as FunctionComponent<P>;
}

/** Counted on by the clock of the API server; only a text that is another touches the page. */
export function Age({ since }: { readonly since: number | string | undefined }) {
  const sinceMs = typeof since === "string" ? Date.parse(since) : since;
  if (sinceMs === undefined || Number.isNaN(sinceMs)) return null;
  // Another beginning is another text at once, and not at the next tick.
  return <AgeText key={sinceMs} sinceMs={sinceMs} />;
}

function AgeText({ sinceMs }: { readonly sinceMs: number }) {
  const text = useComputed(() => formatAge(serverMs.value - sinceMs));
  return (
    <time class="age" dateTime={new Date(sinceMs).toISOString()} title={timeTitle(sinceMs)}>
      {text}
    </time>
  );
}

/** A sentence of the operator. */
export function Told({ text }: { readonly text: string }) {
  return (
    <>
      {toldParts(text).map((part) =>
        typeof part === "string" ? (
          wordsIn(part).map(({ pieces, isWhole }, at) =>
            isWhole ? (
              <span class="whole" key={at}>
                <Pieces {...{ pieces }} />
              </span>
            ) : (
              <Pieces key={at} {...{ pieces }} />
            ),
          )
        ) : (
          <time
            key={part.atMs}
            dateTime={new Date(part.atMs).toISOString()}
            title={timeTitle(part.atMs)}
          >
            {part.text}
          </time>
        ),
      )}
    </>
  );
}

function Pieces({ pieces }: { readonly pieces: readonly string[] }) {
  return <>{pieces.map((piece, at) => (at === 0 ? piece : [<wbr key={at} />, piece]))}</>;
}

/** How long until then; "now" when it is past. */
export function Until({ at }: { readonly at: number | string | undefined }) {
  const atMs = typeof at === "string" ? Date.parse(at) : at;
  if (atMs === undefined || Number.isNaN(atMs)) return null;
  return <UntilText key={atMs} atMs={atMs} />;
}

function UntilText({ atMs }: { readonly atMs: number }) {
  const text = useComputed(() =>
    atMs <= serverMs.value ? "now" : `in ${formatAge(atMs - serverMs.value)}`,
  );
  return <span class="age">{text}</span>;
}

export function UrgencyChip(needed: Needed) {
  const [mark, text] = chipOf(needed);
  return (
    <span class={`chip urgency-${needed.urgency}`}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      {text}
    </span>
  );
}

interface AnswerProps {
  readonly fact: ExplainedFact;
  /** "No" is no reason to worry: it is being worked on. */
  readonly isPatient?: boolean;
  /** "No" is what is wanted: the database sleeps. */
  readonly isAsleep?: boolean;
}

/** "later" where a "no" is being turned into a "yes". */
function toneOf({ fact, isPatient, isAsleep }: AnswerProps): keyof typeof answerMarks {
  if (fact.answer !== "no") return fact.answer;
  return isAsleep === true ? "asleep" : isPatient === true ? "later" : "no";
}

interface ShortAnswerProps extends AnswerProps {
  readonly yes: string;
  readonly no: string;
  /** What is said where nobody knows. */
  readonly unknown?: string;
}

/** An answer in one word, such as "✓ serves". */
export function Answer(props: ShortAnswerProps) {
  const { fact, yes, no, unknown = `${yes}: not known` } = props;
  const tone = toneOf(props);
  const text = { unknown, yes, no }[fact.answer];
  return (
    <span class={`answer answer-${tone}`}>
      <span class="mark" aria-hidden="true">
        {answerMarks[tone]}
      </span>
      {text}
    </span>
  );
}

/** A question with its answer in large letters. */
export function Fact(props: AnswerProps & { readonly question: string }) {
  const { fact, question } = props;
  const tone = toneOf(props);
  return (
    <div class={`fact answer-${tone}`}>
      <dt>{question}</dt>
      <dd>
        <strong>
          <span class="mark" aria-hidden="true">
            {answerMarks[tone]}
          </span>
          {answerWords[tone]}
        </strong>
        {fact.since === undefined ? null : (
          <span class="fact-age">
            {" for "}
            <Age since={fact.since} />
          </span>
        )}
        <span class="fact-text">
          <Told text={fact.text} />
        </span>
      </dd>
    </div>
  );
}

export function Copied({ title, command }: CopiedCommand) {
  const said = useSignal("");
  const copy = (): void => {
    effects()
      .copy(command)
      .then(
        () => (said.value = "copied"),
        () => (said.value = "select it and copy by hand"),
      );
  };
  return (
    <div class="command">
      <span class="command-title">{title}</span>
      <code tabIndex={0}>
        {command.split(/(?<= )/).map((word, at) => (
          <span class="whole" key={at}>
            {word}
          </span>
        ))}
      </code>
      <button type="button" onClick={copy} aria-label={`Copy the command: ${title}`}>
        Copy
      </button>
      <span role="status">{said}</span>
    </div>
  );
}

export function Commands({ commands }: { readonly commands: readonly CopiedCommand[] }) {
  if (commands.length === 0) return null;
  return (
    <section class="block">
      <h2>Commands to copy</h2>
      <p class="dim">This page changes nothing itself.</p>
      {commands.map((one) => (
        <Copied key={one.command} {...one} />
      ))}
    </section>
  );
}

const concerns: Readonly<Record<ExplainedWait["concern"], Urgency>> = {
  person: 3,
  look: 2,
  passing: 1,
};
const concernWords: Readonly<Record<ExplainedWait["concern"], string>> = {
  person: "Somebody has to act",
  look: "Needs a look",
  passing: "Goes by itself",
};

interface WaitProps {
  readonly wait: ExplainedWait;
  readonly meaning?: string | undefined;
  /** Of what waits: where that needs somebody, so does a wait that needs a look. */
  readonly urgency?: Urgency;
}

/** With a button for the command that it ends with. */
function Remedy({ text }: { readonly text: string }) {
  const { said, copied } = commandIn(text);
  return (
    <div class="remedy">
      <p>
        <strong>What to do:</strong> <Told text={said} />
      </p>
      {copied === undefined ? null : <Copied {...copied} />}
    </div>
  );
}

export function Wait({ wait, meaning, urgency: needed = 0 }: WaitProps) {
  const isUrgent = needed === 3 && wait.concern === "look";
  const urgency = isUrgent ? 3 : concerns[wait.concern];
  return (
    <li class={`wait edge urgency-${urgency}`}>
      <p class="wait-head">
        <strong>{wait.reason}</strong>
        <span class="dim">
          {isUrgent ? "Needs a look now" : concernWords[wait.concern]} · step {wait.step}
          {wait.object === undefined ? null : ` · ${wait.object}`}
          {wait.since === undefined ? null : (
            <>
              {" · for "}
              <Age since={wait.since} />
            </>
          )}
          {wait.retryAt === undefined ? null : (
            <>
              {" · looks again "}
              <Until at={wait.retryAt} />
            </>
          )}
        </span>
      </p>
      <p>
        <Told text={wait.message} />
      </p>
      {wait.remedy === undefined || wait.remedy === "" ? null : <Remedy text={wait.remedy} />}
      {meaning === undefined ? null : (
        <details>
          <summary>What {wait.reason} means</summary>
          <p>{meaning}</p>
        </details>
      )}
    </li>
  );
}
