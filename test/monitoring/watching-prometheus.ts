// A real Prometheus that collects one target and judges the rules, all durations shorter by a factor.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ruleGroups, yamlText } from "../../scripts/monitoring/rules.ts";

export interface FiredAlarm {
  readonly alarm: string;
  /** Namespace and name, or empty for one of the operator. */
  readonly whose: string;
}

export interface WatchingPrometheus {
  /** Whatever has fired since the start. */
  everFired(): Promise<FiredAlarm[]>;
  /** What Prometheus says against an expression; undefined when it answers. */
  problemOf(expression: string): Promise<string | undefined>;
  close(): Promise<void>;
}

const intervalMs = 500;
const startWithinMs = 60_000;

export async function watchBy(
  binary: string,
  target: number,
  factor: number,
): Promise<WatchingPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), "prometheus-"));
  const rulesFile = join(folder, "rules.yaml");
  writeFileSync(rulesFile, "groups: []\n");
  const interval = `${intervalMs}ms`;
  const scrape = {
    ...{ job_name: "operator", honor_labels: true },
    static_configs: [{ targets: [`127.0.0.1:${target}`], labels: { namespace: "fdb" } }],
  };
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ["rules.yaml"],
    scrape_configs: [scrape],
  };
  writeFileSync(join(folder, "prometheus.yml"), yamlText(configuration));
  const port = await freePort();
  const child = spawn(
    binary,
    [
      "--config.file=prometheus.yml",
      "--storage.tsdb.path=data",
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk) => (said = (said + String(chunk)).slice(-4000)));
  const ask = async (expression: string): Promise<Answer> => {
    const query = new URLSearchParams({ query: expression });
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?${query.toString()}`, {
      signal: AbortSignal.timeout(20_000),
    });
    return (await answer.json()) as Answer;
  };
  const close = async (): Promise<void> => {
    if (child.exitCode === null) child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const died = (): string | undefined => (child.exitCode === null ? undefined : said);
    await until(async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok, died);
    // An alarm about what is absent must not judge the time before the first look at the target.
    await until(async () => isUp(await ask("up == 1")), died);
    writeFileSync(rulesFile, yamlText(ruleGroups(factor)));
    child.kill("SIGHUP");
    await until(async () => isUp(await ask(`{__name__=~".+:fdb_.+"}`)), died);
  } catch (error) {
    await close();
    throw error;
  }
  const alarmsOf = async (expression: string): Promise<FiredAlarm[]> => {
    const { data } = await ask(expression);
    return (data?.result ?? []).map(({ metric }) => ({
      alarm: metric["alertname"] ?? "",
      whose: metric["name"] === undefined ? "" : `${metric["namespace"]}/${metric["name"]}`,
    }));
  };
  return {
    everFired: () => alarmsOf('count_over_time(ALERTS{alertstate="firing"}[1h])'),
    problemOf: async (expression) => (await ask(expression)).error,
    close,
  };
}

interface Answer {
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly metric: Record<string, string> }[] };
}

function isUp({ data }: Answer): boolean {
  return (data?.result.length ?? 0) > 0;
}

async function until(
  condition: () => Promise<boolean>,
  died: () => string | undefined,
): Promise<void> {
  const deadline = performance.now() + startWithinMs;
  while (performance.now() < deadline) {
    const said = died();
    if (said !== undefined) throw new Error(`Prometheus has ended: ${said}`);
    if (await condition().catch(() => false)) return;
    await sleep(200);
  }
  throw new Error(`Prometheus was not ready within ${startWithinMs} ms`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
