// `npm run soak -- --minutes N`: the client runtime against a real API server through a proxy that misbehaves. A writer
// changes objects without pause; every few seconds the local copy must equal what was written. Prints missed events, which
// must be 0, restarts of lists and watches, memory and open handles. Rules: spec/kube.md [KUBE90].
import { parseArgs } from "node:util";
import { machineClock } from "../src/env/clock.ts";
import { runSoak } from "../test/real/soak-run.ts";
import type { SoakReport } from "../test/real/soak-run.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string", default: "1" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 1440)) {
  process.stderr.write("usage: npm run soak -- [--minutes N] [--seed N]\n");
  process.exit(2);
}
const clock = machineClock();
const startedMs = clock.nowMs();
const say = (line: string): void => {
  const seconds = Math.round((clock.nowMs() - startedMs) / 1000);
  process.stdout.write(`${String(seconds).padStart(5)} s  ${line}\n`);
};
const report = await runSoak({ minutes, seed: Number(values.seed), say });
process.stdout.write(`\n${text(report)}\n`);
const isGood = report.missed === 0 && report.isCalm && report.isLean;
process.stdout.write(isGood ? "The soak passed.\n" : "The soak FAILED.\n");
process.exit(isGood ? 0 : 1);

function text(soak: SoakReport): string {
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  const faults = Object.entries(soak.faults).map(([kind, count]) => `${kind} ${count}`);
  return [
    `missed events      ${soak.missed} of ${soak.writes} writes, compared ${soak.comparisons} times`,
    `lists and watches  ${soak.lists} lists, ${soak.watches} watches, at most ${soak.startsPerMinuteMax} in a minute (limit ${soak.startsPerMinuteLimit})`,
    `faults             ${faults.join(", ")}`,
    `memory             ${soak.memory.map(({ minute, rss }) => `${mebibytes(rss)} at ${minute} min`).join(", ")}`,
    `handles            ${soak.handles.join(", ")} at each minute`,
  ].join("\n");
}
