// `npm exec -- node test/web/serve-samples.ts [GROUPS] [CLUSTERS] [PORT]`: the page with made-up clusters, for who works on it.
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { pageAssets } from "../../src/web/server/page-assets.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import { samplePreview } from "./sample-preview.ts";
import { sampleSource } from "./sample-source.ts";

const [groups = 16, moreClusters = 0, port = 8085] = process.argv.slice(2).map(Number);
const clock = machineClock();
const source = sampleSource({ groups, moreClusters }, () => clock.nowMs(), samplePreview);
const served = await serveDashboard({ source, page: pageAssets, port, clock, log: silentLog });
process.stdout.write(`${served.url}\n`);
const step = (): void => {
  source.step();
  clock.setTimer(2_000, step);
};
step();
