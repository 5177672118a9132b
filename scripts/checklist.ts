// Counts the cases of the acceptance checklist that tests carry, and names those that none does. A case left out needs a
// reason in the documents; one without ends the script with an error.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const checklist = JSON.parse(read("test/data/checklist.json")) as Record<string, string[]>;
const reasonFiles = ["docs/differences.md", "docs/checklist-left-out.md"];
const casePattern = /\b([A-F]\d\d)\.(\d+)\b/g;

const cases = Object.entries(checklist).flatMap(([name, wordings]) =>
  wordings.map((wording, index) => ({
    id: `${name}.${index + 1}`,
    section: name[0] ?? "",
    wording,
  })),
);
const covered = coveredIds();
const reasons = leftOut();
const sections = [...new Set(cases.map(({ section }) => section))];
for (const section of sections) {
  const listed = cases.filter((one) => one.section === section);
  const count = listed.filter(({ id }) => covered.has(id)).length;
  console.log(`${section}: ${count} of ${listed.length}`);
}
const open = cases.filter(({ id }) => !covered.has(id));
for (const { id, wording } of open) {
  console.log(`  ${id} ${wording}: ${reasons.get(id) ?? "NO REASON GIVEN"}`);
}
const unknown = [...covered].filter((id) => !cases.some((one) => one.id === id));
for (const id of unknown) console.log(`  ${id} is tested and not listed`);
console.log(`${cases.length - open.length} of ${cases.length} cases covered`);
const isUnexplained = open.some(({ id }) => !reasons.has(id));
process.exitCode = isUnexplained || unknown.length > 0 ? 1 : 0;

/** Ids stand in titles as "[A05.2] ...", or as texts of their own where titles come from the checklist. */
function coveredIds(): Set<string> {
  const found = new Set<string>();
  for (const file of globSync("test/**/*.test.ts", { cwd: root })) {
    for (const match of read(file).matchAll(/["[]([A-F]\d\d\.\d+)["\]]/g))
      found.add(match[1] ?? "");
  }
  return found;
}

/** Lines such as "- B17.1-B17.4, C03.1: the reason". */
function leftOut(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of reasonFiles.filter((name) => existsSync(join(root, name)))) {
    for (const match of read(file).matchAll(/^- ((?:[A-F]\d\d\.\d+[-, ]*)+): (.*)$/gm)) {
      for (const id of idsOf(match[1] ?? "")) found.set(id, match[2] ?? "");
    }
  }
  return found;
}

function idsOf(text: string): string[] {
  return text.split(/,\s*/).flatMap((range) => {
    const ends = [...range.matchAll(casePattern)];
    const [first, last = first] = ends;
    const [from, to] = [Number(first?.[2]), Number(last?.[2])];
    return Array.from({ length: to - from + 1 }, (_, index) => `${first?.[1]}.${from + index}`);
  });
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
