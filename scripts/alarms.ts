// `npm run alarms`: builds promtool and Prometheus once, lets promtool judge every alarm, and lets Prometheus watch a world in
// which things break.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { runAlarms } from "../test/monitoring/alarm-run.ts";
import { buildPrometheus, buildPromtool } from "../test/prometheus.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
await buildPromtool(process.env, say);
const binary = await buildPrometheus(process.env, say);
const judged = spawnSync(process.execPath, ["scripts/test.ts", "test/monitoring"], {
  cwd: dirname(import.meta.dirname),
  stdio: "inherit",
});
if (judged.status !== 0) process.exit(judged.status ?? 1);
await runAlarms(binary, say);
say("all alarms are as they should be");
process.exit(0);
