// The page as text: the most important sentence first, then what to do. Fits the width of the terminal; colour only
// where it is asked for. Rules: spec/explain.md [E10]-[E12].
import { styleText } from "node:util";
import { ageMs } from "./page.ts";
import type { ExplainedFact, ExplainedWait, ExplainPage, Verdict } from "./page.ts";
import { formatAge, wrap } from "./words.ts";

export interface TextOptions {
  width: number;
  hasColor: boolean;
}

type Style = Parameters<typeof styleText>[0];

const idsMax = 6;
const objectsMax = 12;

/** What the pages about clusters and about backups have in common. */
export interface TextPage extends Pick<
  ExplainPage,
  "asOf" | "headline" | "stale" | "waits" | "objects" | "recent" | "unread" | "verdict"
> {
  readonly title: string;
  readonly subtitle: string;
  /** Questions with their answers, and rows with what else is to be known; none of a resource that nobody has seen. */
  readonly facts: readonly (readonly [label: string, fact: ExplainedFact])[];
  readonly rows: readonly (readonly [label: string, text: string])[];
  readonly outrun?: ExplainPage["outrun"];
  readonly processGroups?: ExplainPage["processGroups"] | undefined;
  readonly advice?: ExplainPage["advice"];
  /** Lists that only some pages have. */
  readonly sections?: readonly { readonly title: string; readonly items: readonly string[] }[];
}

export function renderExplanation(page: ExplainPage, options: TextOptions): string {
  return renderPage(clusterText(page), options);
}

export function subtitleOf({
  version,
  redundancyMode,
}: Pick<ExplainPage, "redundancyMode" | "version">): string {
  const running = version.running ?? version.wanted;
  const upgrade = running === version.wanted ? running : `${running} (wanted: ${version.wanted})`;
  return `FoundationDB ${upgrade}, ${redundancyMode}`;
}

/** What there is to say of a cluster, in the order in which it is said. */
export function clusterText(page: ExplainPage): TextPage {
  const { namespace, cluster, serving, sound, reconciled, warning, doing, migration, verdict } =
    page;
  const isSeen = verdict !== "unseen";
  return {
    ...page,
    title: `${namespace}/${cluster}`,
    subtitle: subtitleOf(page),
    facts: isSeen
      ? [
          ["Serves", serving],
          ["Sound", sound],
          ["As specified", reconciled],
        ]
      : [],
    sections: quarantineSection(page),
    rows: isSeen
      ? [
          ...(warning === undefined ? [] : [["Warning", warning] as const]),
          ...(doing.length > 0 ? [["Still to do", doing.join("; ")] as const] : []),
          ...(migration === undefined ? [] : [["Engine", migration] as const]),
        ]
      : [],
  };
}

/** Volumes that wait: how many, until when, and those that never go by themselves. */
function quarantineSection({
  quarantine,
}: Pick<ExplainPage, "quarantine">): NonNullable<TextPage["sections"]> {
  if (quarantine.length === 0) return [];
  return [{ title: "Volumes in quarantine", items: quarantine.map(quarantineText) }];
}

/** "sample-storage-1-data of storage-1: deleted at 2026-11-18T08:00:00Z at the earliest". */
function quarantineText({
  volumeClaim,
  processGroupID = "",
  until,
  kept,
}: ExplainPage["quarantine"][0]): string {
  const of = processGroupID === "" ? "" : ` of ${processGroupID}`;
  if (until === undefined)
    return `${volumeClaim}${of}: not deleted by itself${kept ? `, ${kept}` : ""}`;
  return `${volumeClaim}${of}: deleted at ${until} at the earliest`;
}

export function renderPage(page: TextPage, options: TextOptions): string {
  const writer = new Writer(page, options);
  writer.head();
  writer.facts();
  writer.stale();
  writer.sections();
  writer.waits();
  writer.groups();
  writer.objects();
  writer.advice();
  writer.recent();
  writer.unread();
  return `${writer.lines.join("\n")}\n`;
}

export const verdictStyles: Readonly<Record<Verdict, Style>> = {
  deleting: "yellow",
  unseen: "yellow",
  paused: "yellow",
  asleep: "cyan",
  unknown: "red",
  invalid: "red",
  down: "red",
  starting: "cyan",
  stuck: "red",
  degraded: "yellow",
  working: "cyan",
  healthy: "green",
};

class Writer {
  readonly lines: string[] = [];
  readonly #page: TextPage;
  readonly #options: TextOptions;

  constructor(page: TextPage, options: TextOptions) {
    this.#page = page;
    this.#options = { ...options, width: Math.max(40, options.width) };
  }

  head(): void {
    const { title, subtitle, verdict, headline, asOf } = this.#page;
    this.lines.push(`${this.#paint("bold", title)}  ${subtitle}  ${asOf}`, "");
    for (const line of wrap(headline, this.#options.width)) {
      this.lines.push(this.#paint(["bold", verdictStyles[verdict]].flat() as Style, line));
    }
  }

  facts(): void {
    const { facts, rows } = this.#page;
    if (facts.length === 0) return;
    this.lines.push("");
    for (const [label, fact] of facts) this.#fact(label, fact);
    for (const [label, text] of rows) this.#row(label, text);
  }

  stale(): void {
    if (this.#page.stale.length === 0) return;
    this.#section("Old news");
    for (const text of this.#page.stale) this.#item("!", text, "yellow");
  }

  sections(): void {
    for (const { title, items } of this.#page.sections ?? []) {
      this.#section(title);
      for (const text of items) this.#item("-", text);
    }
  }

  advice(): void {
    const { advice = [] } = this.#page;
    if (advice.length === 0) return;
    this.#section("Could be better");
    for (const { message, remedy } of advice) this.#item("-", `${message}. ${remedy}`);
  }

  waits(): void {
    const { waits, outrun } = this.#page;
    if (waits.length === 0) return;
    this.#section("Waits for");
    if (outrun !== undefined) {
      const { writtenAt, at, reason, message } = outrun;
      const times = `Written ${this.#age(writtenAt)} ago; ${this.#age(at)} ago`;
      this.#item("!", `${times}: ${reason}, ${message}`);
    }
    waits.forEach((wait, index) => this.#wait(wait, index + 1));
  }

  groups(): void {
    const { troubles = [], inTrouble = 0, total = 0 } = this.#page.processGroups ?? {};
    if (troubles.length === 0) return;
    this.#section(`Process groups with conditions: ${inTrouble} of ${total}`);
    let condition = "";
    for (const trouble of troubles) {
      if (trouble.condition !== condition) {
        condition = trouble.condition;
        this.#item("-", trouble.meaning === "" ? condition : `${condition}: ${trouble.meaning}`);
      }
      const age = this.#age(trouble.since);
      const shown = trouble.ids.slice(0, idsMax).join(", ");
      const more = trouble.ids.length > idsMax ? ` and ${trouble.ids.length - idsMax} more` : "";
      const count = `${trouble.ids.length} of ${trouble.total} ${trouble.processClass}`;
      this.#item("   ", `${count}${age === "" ? "" : ` for ${age}`}: ${shown}${more}`);
    }
  }

  objects(): void {
    const { objects } = this.#page;
    if (objects.length === 0) return;
    this.#section("Kubernetes says");
    const byText = Map.groupBy(objects, ({ object, text }) => `${object.split("/")[0]} ${text}`);
    for (const alike of [...byText.values()].slice(0, objectsMax)) {
      const [first] = alike;
      if (first === undefined) continue;
      const age = this.#age(alike.map(({ since = "" }) => since).toSorted()[0]);
      const names = alike.map(({ object }) => object).slice(0, 3);
      const more = alike.length > 3 ? ` and ${alike.length - 3} more` : "";
      const list = `${names.join(", ")}${more}`;
      this.#item("-", `${list}: ${first.text}${age === "" ? "" : ` (${age})`}`);
    }
    const rest = byText.size - objectsMax;
    if (rest > 0) this.#item("-", `and ${rest} more (-o json lists them)`);
  }

  recent(): void {
    const { recent } = this.#page;
    if (recent.length === 0) return;
    this.#section("Told in the last hour");
    for (const event of recent) {
      const times = event.count > 1 ? `, ${event.count} times` : "";
      const text = `${this.#age(event.at)} ago${times}: ${event.reason}: ${event.message}`;
      this.#item(event.type === "Warning" ? "!" : "-", text);
    }
  }

  unread(): void {
    const { unread } = this.#page;
    if (unread.length === 0) return;
    this.#section("Could not be read");
    for (const text of unread) this.#item("-", text);
  }

  #wait(wait: ExplainedWait, number: number): void {
    const age = this.#age(wait.since);
    const since = age === "" ? "" : `, for ${age}`;
    const head = `${wait.reason} (${wait.step})${since}${this.#nextLook(wait)}`;
    const style = wait.concern === "passing" ? undefined : "yellow";
    this.#item(`${number}.`, head, style);
    for (const line of wrap(wait.message, this.#options.width - 5)) this.lines.push(`     ${line}`);
    if (wait.reason === "InvalidSpec" && wait.object !== undefined) {
      this.lines.push(`     Field: ${wait.object}`);
    }
    const remedy = wait.remedy ?? "";
    if (remedy === "") return;
    wrap(remedy, this.#options.width - 11).forEach((line, index) => {
      const label = index === 0 ? this.#paint("bold", "Do:") : "   ";
      this.lines.push(`     ${label}  ${line}`);
    });
  }

  /** The stored time of the next look is renewed only now and then, so it may have passed. */
  #nextLook({ retryAt }: ExplainedWait): string {
    const passedMs = ageMs(this.#page, retryAt);
    if (passedMs === undefined || this.#page.stale.length > 0) return "";
    if (passedMs >= 0) return "; looked at regularly";
    return `; next look within ${formatAge(-passedMs)}`;
  }

  #fact(label: string, { answer, text, since }: ExplainedFact): void {
    const age = this.#age(since);
    const word = answer === "unknown" ? "not known" : answer;
    const style = answer === "yes" ? "green" : answer === "no" ? "red" : "yellow";
    this.#row(label, `${word}${age === "" ? "" : ` (for ${age})`}: ${text}`, style);
  }

  #row(label: string, text: string, style?: Style): void {
    const indent = 16;
    wrap(text, this.#options.width - indent).forEach((line, index) => {
      const head = index === 0 ? `  ${label}`.padEnd(indent) : " ".repeat(indent);
      const [first = "", ...rest] = line.split(" ");
      const isMarked = index === 0 && style !== undefined;
      this.lines.push(head + (isMarked ? [this.#paint(style, first), ...rest].join(" ") : line));
    });
  }

  #section(title: string): void {
    this.lines.push("", this.#paint("bold", title));
  }

  #item(mark: string, text: string, style?: Style): void {
    const indent = mark.length + 3;
    wrap(text, this.#options.width - indent).forEach((line, index) => {
      const shown = style !== undefined && index === 0 ? this.#paint(style, line) : line;
      this.lines.push(index === 0 ? `  ${mark} ${shown}` : `${" ".repeat(indent)}${shown}`);
    });
  }

  #age(time: string | undefined): string {
    const age = ageMs(this.#page, time);
    return age === undefined ? "" : formatAge(age);
  }

  #paint(style: Style, text: string): string {
    return this.#options.hasColor ? styleText(style, text, { validateStream: false }) : text;
  }
}
