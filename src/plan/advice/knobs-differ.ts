// Knobs that have other values in other processes of the same class, those of other resources of the database included. Only
// processes that have run for long count: a roll-out is a difference that passes. Rules: spec/advice.md [ADV5].
import { counted } from "../../model/counted.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { adviceOf, groupIdOf, isSettled } from "./subject.ts";
import type { AdviceSubject, Judgement } from "./subject.ts";

const shownMax = 2;
const valuesMax = 3;

export function knobsDiffer({ own, others }: AdviceSubject): Judgement {
  const byClass = new Map<string, StatusProcess[]>();
  for (const process of [...own, ...others].filter(isSettled)) {
    const { class_type: processClass = "" } = process;
    if (process.command_line === undefined) continue;
    byClass.set(processClass, [...(byClass.get(processClass) ?? []), process]);
  }
  const found = [...byClass]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([processClass, processes]) => differences(processClass, processes));
  if (found.length === 0) return "nothing";
  const rest = found.length - shownMax;
  const texts = found.slice(0, shownMax).map(({ text }) => text);
  const ownIds = new Set(own.map(groupIdOf));
  return adviceOf(
    "KnobsDiffer",
    {
      message: `Knobs differ between processes of the same class: ${texts.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`,
      remedy:
        "Give the class the same customParameters in all resources of the database; processes take them over when they are restarted.",
      figure: found.length,
    },
    found.flatMap(({ rare }) => rare).filter((id) => ownIds.has(id)),
  );
}

interface Difference {
  readonly text: string;
  /** Process groups with another value than most. */
  readonly rare: readonly string[];
}

function differences(processClass: string, processes: readonly StatusProcess[]): Difference[] {
  const settings = processes.map((process) => ({
    id: groupIdOf(process),
    knobs: knobsIn(process.command_line ?? ""),
  }));
  const names = new Set(settings.flatMap(({ knobs }) => [...knobs.keys()]));
  return [...names].sort().flatMap((name) => {
    const byValue = new Map<string, string[]>();
    for (const { id, knobs } of settings) {
      const value = knobs.get(name) ?? "";
      byValue.set(value, [...(byValue.get(value) ?? []), id]);
    }
    if (byValue.size < 2) return [];
    const values = [...byValue].sort(
      ([oneValue, one], [otherValue, other]) =>
        other.length - one.length || (oneValue < otherValue ? -1 : 1),
    );
    const told = values.slice(0, valuesMax).map(([value, ids]) => {
      const what = value === "" ? "not set" : value;
      return `${what} in ${counted(ids.length, "process", "processes")}`;
    });
    const more = values.length > valuesMax ? ", and others" : "";
    const text = `${name} of class ${processClass} is ${told.join(", ")}${more}`;
    return [{ text, rare: values.slice(1).flatMap(([, ids]) => ids) }];
  });
}

/** As FoundationDB takes them: with `=` or as two words, dashes as underscores. The last one counts. */
function knobsIn(commandLine: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", value = ""] of commandLine.matchAll(
    /--(knob[_-][A-Za-z0-9_-]+)(?:=|\s+)(\S+)/g,
  )) {
    found.set(name.toLowerCase().replaceAll("-", "_"), value);
  }
  return found;
}
