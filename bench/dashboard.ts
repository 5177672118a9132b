// What the dashboard costs the server: bytes pushed and processor time for one change, for a hundred clusters and for one
// with 2,000 process groups. The views are pure, so that no world is needed. Rules: spec/web.md [WEB3], [WEB11].
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import type { Pod } from "../src/kube/generated/types.ts";
import type { Stored } from "../src/kube/resource.ts";
import type { DatabaseAnswer } from "../src/plugin/database/ask-database.ts";
import { differences } from "../src/web/difference.ts";
import type { PageModel } from "../src/web/view-model.ts";
import { clusterCard } from "../src/web/views/card.ts";
import { clusterModel } from "../src/web/views/cluster.ts";
import { noFigures, withLook } from "../src/web/views/figure-history.ts";
import { TimeLine } from "../src/web/views/time-line.ts";
import {
  group,
  nowMs,
  sceneClaim,
  sceneCluster,
  sceneNode,
  scenePod,
  sceneStatus,
} from "../test/web/cluster-scene.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

export interface DashboardRun {
  what: string;
  /** Of the whole model, which is sent once. */
  wholeBytes: number;
  /** Of one change. */
  changeBytes: number;
  /** Of one change: view, difference and text. */
  cpuMs: number;
}

const aims = { changeBytes: 3_000, cpuMs: 50 };
const repetitions = 15;

export function runDashboard(): DashboardRun[] {
  return [...[100, 2_000].flatMap(clusterRuns), cardsRun(100)];
}

interface Scene {
  cluster: Stored<FoundationDBCluster>;
  pods: Stored<Pod>[];
  answer: DatabaseAnswer;
  hz: number;
}

function clusterRuns(count: number): DashboardRun[] {
  const ids = Array.from({ length: count }, (_, index) => `storage-${index + 1}`);
  const nodes = Array.from({ length: count / 20 }, (_, index) =>
    sceneNode(`n${index}`, `z${index % 3}`),
  );
  const pvcs = ids.map(sceneClaim);
  const processes = Object.fromEntries(ids.map((id) => [id, { roles: ["storage"] }]));
  const answerAt = (hz: number): DatabaseAnswer => ({
    ...{ kind: "answered", pod: "" },
    status: sceneStatus(processes, { workload: { transactions: { committed: { hz } } } }),
  });
  const timeLine = new TimeLine(nowMs);
  let figures = noFigures;
  for (let look = 0; look < 360; look += 1)
    figures = withLook(figures, answerAt(look), nowMs + look);
  const modelOf = ({ cluster, pods, answer, hz }: Scene): PageModel => {
    timeLine.noteCluster(cluster, nowMs);
    const around = { cluster, pods, pvcs, nodes, events: [], unread: [] };
    return {
      session: {
        ...{ source: "live", where: "", namespace: "", speed: 1, version: "", missing: [] },
      },
      clusters: { "default/sample": clusterCard(cluster, [], nowMs) },
      cluster: clusterModel(
        {
          ...{ explained: around, answer, timeLine: timeLine.model },
          figures: hz === 0 ? figures : withLook(figures, answer, nowMs + 1_000),
          backups: { backups: [], restores: [], events: [], podsOf: () => [] },
        },
        nowMs,
      ),
    };
  };
  const rest: Scene = {
    cluster: sceneCluster(ids.map((id) => group(id))),
    pods: ids.map((id, index) => scenePod(id, `n${index % nodes.length}`)),
    ...{ answer: answerAt(0), hz: 0 },
  };
  const ill = sceneCluster(
    ids.map((id, index) => group(id, index === 7 ? ["MissingProcesses"] : [])),
  );
  const changes: [string, Scene][] = [
    ["a process group fails", { ...rest, cluster: ill }],
    ["the database is asked", { ...rest, answer: answerAt(77), hz: 77 }],
  ];
  return changes.map(([what, after]) =>
    measured(
      `${count} process groups: ${what}`,
      () => modelOf(rest),
      () => modelOf(after),
    ),
  );
}

/** Cards of clusters that have not changed are kept. */
function cardsRun(count: number): DashboardRun {
  const named = (index: number, conditions: readonly string[]): Stored<FoundationDBCluster> => {
    const cluster = sceneCluster([group("log-1", conditions)]);
    return { ...cluster, metadata: { ...cluster.metadata, name: `c${index}` } };
  };
  const cards = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `default/c${index}`,
      clusterCard(named(index, []), [], nowMs),
    ]),
  );
  const page = (clusters: PageModel["clusters"]): Pick<PageModel, "clusters"> => ({ clusters });
  return measured(
    `${count} clusters: one changes`,
    () => page(cards),
    () => page({ ...cards, "default/c7": clusterCard(named(7, ["MissingPod"]), [], nowMs) }),
  );
}

function measured(what: string, before: () => unknown, after: () => unknown): DashboardRun {
  const whole = before();
  let changeBytes = 0;
  let cpuMs = Infinity;
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const started = process.cpuUsage();
    changeBytes = JSON.stringify(differences(whole, after())).length;
    const { user, system } = process.cpuUsage(started);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
  }
  const wholeBytes = JSON.stringify(whole).length;
  return { what, wholeBytes, changeBytes, cpuMs: Math.round(cpuMs * 10) / 10 };
}

export function dashboardAims(runs: readonly DashboardRun[]): Aim[] {
  return runs.flatMap((run) =>
    (["changeBytes", "cpuMs"] as const).map((name) => ({
      what: `dashboard, ${run.what}, ${name}`,
      ...{ value: run[name], limit: aims[name], isMet: run[name] <= aims[name] },
    })),
  );
}

export function dashboardTable(runs: readonly DashboardRun[]): string {
  return renderTable(
    "The dashboard: what one change costs the server",
    [
      { title: "what", cell: ({ what }) => what, align: "left" },
      { title: "whole, KB", cell: ({ wholeBytes }) => String(Math.ceil(wholeBytes / 1000)) },
      { title: "change, bytes", cell: ({ changeBytes }) => String(changeBytes) },
      { title: "aim", cell: () => String(aims.changeBytes) },
      { title: "", cell: ({ changeBytes }) => mark(changeBytes <= aims.changeBytes) },
      { title: "CPU ms", cell: ({ cpuMs }) => String(cpuMs) },
      { title: "aim", cell: () => String(aims.cpuMs) },
      { title: "", cell: ({ cpuMs }) => mark(cpuMs <= aims.cpuMs) },
    ],
    runs,
  );
}
