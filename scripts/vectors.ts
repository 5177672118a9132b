// npm run vectors -- FILE: compares what this project computes with the results in a file of vectors, and prints one line
// for each difference and a count at the end.
import { readFileSync } from "node:fs";
import { checkVectors, NotVectors } from "../test/vectors/check.ts";

process.exitCode = main(process.argv.slice(2));

function main(files: readonly string[]): number {
  const [file] = files;
  if (file === undefined || files.length > 1) {
    console.error("name one file of vectors: npm run vectors -- test/data/vectors.json");
    return 2;
  }
  try {
    return report(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof NotVectors) && !(error instanceof Error && "code" in error)) throw error;
    console.error(`${file} cannot be checked: ${error.message}`);
    return 2;
  }
}

function report(text: string): number {
  const { outcomes, unknownSections } = checkVectors(text);
  for (const section of unknownSections) console.log(`ignored: unknown section ${section}`);
  const failed = outcomes.filter((outcome) => outcome.difference !== undefined);
  for (const { name, difference } of failed) console.log(`failed: ${name}: ${difference}`);
  console.log(`${outcomes.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}
