// `npm exec -- node test/web/serve-samples.ts [GROUPS] [CLUSTERS] [PORT]`: the page on a
// simulated world whose time goes on by five seconds every two, for who works on it.
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { pageAssets } from "../../src/web/server/page-assets.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import { sampleSource } from "./sample-source.ts";

const [groups = 16, moreClusters = 0, port = 8085] = process.argv.slice(2).map(Number);
const clock = machineClock();
const source = await sampleSource(groups, moreClusters);
const served = await serveDashboard({ source, page: pageAssets, port, clock, log: silentLog });
process.stdout.write(`${served.url}\n`);
while (true) {
  await sleep(clock, 2_000);
  await source.advance(5_000);
}
