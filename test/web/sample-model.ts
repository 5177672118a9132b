// Page models that look like those of real clusters, for the page and its tests: three clusters, one of them in the given
// size, with everything that a page can be asked to draw. Made with a seed, so that pictures stay the same.
import { seededRandom } from "../../src/env/random.ts";
import { figurePlots } from "../../src/web/figure-names.ts";
import type {
  BackupCard,
  ClusterCard,
  ClusterModel,
  FiguresModel,
  MapColumn,
  NowModel,
  PageModel,
  RestoreCard,
  Story,
  Tile,
  TileState,
  TimeLineEntry,
} from "../../src/web/view-model.ts";

export interface SampleOptions {
  readonly nowMs: number;
  /** Process groups of the cluster that is looked at. */
  readonly groups: number;
  /** Clusters besides the three that are always there. */
  readonly moreClusters?: number;
  readonly seed?: number;
}

const minuteMs = 60_000;
const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

export function samplePage(options: SampleOptions): PageModel {
  return {
    session: {
      ...{ source: "live", where: "https://127.0.0.1:7443", namespace: "", speed: 1 },
      ...{ version: "0.1.0", missing: [] },
    },
    clusters: sampleCards(options),
  };
}

export function samplePageWithCluster(options: SampleOptions): PageModel {
  return { ...samplePage(options), cluster: sampleCluster(options) };
}

function card(
  nowMs: number,
  name: string,
  more: Pick<ClusterCard, "headline" | "urgency" | "verdict"> & Partial<ClusterCard>,
): ClusterCard {
  const since = time(nowMs - 90 * minuteMs);
  return {
    ...{ cluster: name, namespace: "default", redundancyMode: "double", doing: [], stale: [] },
    version: { wanted: "7.3.63", running: "7.3.63" },
    serving: { answer: "yes", text: "the database serves reads and writes", since },
    sound: { answer: "yes", text: "all data has all its copies", since },
    reconciled: {
      ...{ answer: "yes", text: "generation 3 of the resource is in force", since },
      ...{ generation: 3, reconciledGeneration: 3 },
    },
    processGroups: { total: 16, wanted: 16, well: 16 },
    createdAt: time(nowMs - 3 * 24 * 60 * minuteMs),
    waits: { person: 0, look: 0, passing: 0 },
    ...more,
  };
}

function sampleCards({
  nowMs,
  groups,
  moreClusters = 0,
}: SampleOptions): Record<string, ClusterCard> {
  const since = time(nowMs - 12 * minuteMs);
  const cards = [
    card(nowMs, "sample", {
      ...{ verdict: "working", urgency: 1 },
      headline: "The database serves reads and writes, and the operator is at work.",
      version: { wanted: "7.4.5", running: "7.3.63" },
      doing: ["recreate pods that were made from an older specification"],
      reconciled: {
        ...{ answer: "no", text: "generation 4 of the resource is not in force yet", since },
        ...{ generation: 4, reconciledGeneration: 3 },
      },
      processGroups: { total: groups, wanted: groups, well: groups - Math.min(groups, 4) },
      waits: { person: 0, look: 0, passing: 1 },
      backups: { total: 2, inTrouble: 1 },
    }),
    card(nowMs, "orders", {
      ...{ verdict: "healthy", urgency: 0, redundancyMode: "triple" },
      headline:
        "Healthy for 1h: the database serves reads and writes, and everything is as specified.",
      backups: { total: 1, inTrouble: 0 },
    }),
    card(nowMs, "ledger", {
      ...{ namespace: "payments", verdict: "stuck", urgency: 3 },
      headline:
        "The database serves reads and writes, but the operator is stuck: one thing needs a person.",
      sound: { answer: "no", text: "storage-3: its pod does not start", since },
      processGroups: { total: 9, wanted: 9, well: 8 },
      waits: {
        ...{ person: 1, look: 0, passing: 0 },
        first: {
          ...{ step: "replaceFailedProcessGroups", reason: "PodUnschedulable", concern: "person" },
          message:
            "pod ledger-storage-3 finds no node: 0/5 nodes are available: insufficient memory",
          ...{ object: "pod/ledger-storage-3", since },
          remedy: "Add nodes, or lower the memory that the pods of class storage ask for.",
        },
      },
    }),
    ...Array.from({ length: moreClusters }, (_, index) =>
      card(nowMs, `tenant-${index + 1}`, {
        ...{ namespace: `team-${index % 7}`, verdict: "healthy", urgency: 0 },
        headline:
          "Healthy for 3d: the database serves reads and writes, and everything is as specified.",
      }),
    ),
  ];
  return Object.fromEntries(cards.map((one) => [`${one.namespace}/${one.cluster}`, one]));
}

export function sampleCluster(options: SampleOptions): ClusterModel {
  const { nowMs, groups } = options;
  return {
    ...{ isMissing: false, namespace: "default", name: "sample" },
    now: sampleNow(nowMs, groups),
    ...{
      map: sampleMap(options),
      timeLine: sampleTimeLine(nowMs),
      figures: sampleFigures(options),
    },
    backups: sampleBackups(nowMs),
    commands: [
      { title: "The same in a terminal", command: "kubectl fdb explain sample -n default" },
      { title: "The processes, busiest first", command: "kubectl fdb top sample -n default" },
    ],
  };
}

function sampleNow(nowMs: number, groups: number): NowModel {
  const since = time(nowMs - 2 * minuteMs);
  const sample = sampleCards({ nowMs, groups })["default/sample"] as ClusterCard;
  const { verdict, urgency, headline, version, redundancyMode, serving, sound, reconciled } =
    sample;
  return {
    ...{ verdict, urgency, headline, version, redundancyMode, serving, sound, reconciled },
    waits: [
      {
        ...{ step: "updatePods", reason: "PodsUpdating", concern: "passing" },
        message: "zone zone-b is being updated: 2 pods are not ready yet",
        ...{ object: "pod/sample-storage-2", since, retryAt: time(nowMs + 15_000) },
      },
      {
        ...{ step: "bounceProcesses", reason: "ProcessesTooYoung", concern: "look" },
        message: "processes are restarted when they have run for ten minutes",
        ...{ since, retryAt: time(nowMs + 4 * minuteMs) },
        remedy: "Wait, or lower spec.minimumUptimeSecondsForBounce.",
      },
    ],
    processGroups: {
      ...{ total: groups, inTrouble: Math.min(groups, 4) },
      troubles: [
        {
          ...{ condition: "IncorrectPodSpec", processClass: "storage", total: groups, since },
          ...{
            meaning: "its pod was made from an older specification",
            ids: ["storage-1", "storage-2"],
          },
        },
      ],
    },
    objects: [{ object: "pod/sample-storage-2", text: "not ready", since }],
    recent: [
      {
        ...{ type: "Normal", reason: "PodsDeleted", count: 1, at: time(nowMs - 3 * minuteMs) },
        message: "deleted 2 pods of zone-a to update them",
      },
    ],
    ...{ stale: [], unread: [] },
    ahead: [
      {
        ...{ flag: "needsPodDeletion", processGroups: ["storage-1", "storage-2"] },
        text: "recreate pods that were made from an older specification",
      },
      {
        ...{ flag: "needsConfigurationChange", processGroups: [] },
        ...{ text: "configure the database", detail: "logs 3 -> 4" },
      },
    ],
    classes: [
      { processClass: "log", wanted: 4, total: 4, well: 4, leaving: 0 },
      {
        processClass: "storage",
        wanted: groups - 4,
        total: groups - 4,
        well: groups - 8,
        leaving: 0,
      },
    ],
    meanings: {
      PodsUpdating:
        "Pods of one fault domain are made again; the next one follows when they are ready.",
    },
  };
}

const states: readonly TileState[] = [
  "well",
  "outdated",
  "starting",
  "failing",
  "leaving",
  "foreign",
];
const troubleOf: Readonly<Record<TileState, string>> = {
  well: "",
  outdated: "IncorrectPodSpec",
  starting: "PodPending",
  failing: "MissingProcesses",
  leaving: "leaves, excluded",
  foreign: "not of this resource",
};

function sampleMap({ groups, seed = 1 }: SampleOptions): ClusterModel["map"] {
  const random = seededRandom(seed);
  const tiles: Record<string, Tile> = {};
  const zones = ["zone-a", "zone-b", "zone-c"];
  const perRow = groups > 100 ? 8 : 2;
  const rowsPerZone = Math.max(1, Math.ceil(groups / zones.length / perRow));
  const columns = zones.map((name, zone) => ({
    ...{ id: `zone=${name}`, places: [{ kind: "zone", name, notes: [] }] },
    rows: Array.from({ length: rowsPerZone }, (_, row) => ({
      node: `node-${zone * rowsPerZone + row + 1}`,
      notes: row === 0 && zone === 2 ? ["cordoned"] : [],
      groups: [] as string[],
    })),
  })) satisfies MapColumn[];
  for (let index = 0; index < groups; index += 1) {
    const processClass = index < 4 ? "log" : index < 6 ? "stateless" : "storage";
    const group = `${processClass}-${index + 1}`;
    const state: TileState =
      index > 5 && random.next() < 0.12
        ? (states[1 + Math.floor(random.next() * 5)] ?? "well")
        : "well";
    tiles[group] = {
      ...{ group, processClass, state, isCoordinator: index % 3 === 0 && index < 15, processes: 1 },
      roles:
        processClass === "log"
          ? ["log"]
          : processClass === "storage"
            ? ["storage"]
            : ["commit_proxy", "resolver"],
      troubles: state === "well" ? [] : [troubleOf[state]],
    };
    const { rows } = columns[index % zones.length] as { rows: { groups: string[] }[] };
    rows[Math.floor(index / zones.length) % rows.length]?.groups.push(group);
  }
  const inTrouble = Object.values(tiles).filter(({ state }) => state !== "well").length;
  return { total: groups, inTrouble, columns, tiles };
}

function sampleTimeLine(nowMs: number): ClusterModel["timeLine"] {
  const at = (minutes: number): number => nowMs - minutes * minuteMs;
  const entries: TimeLineEntry[] = [
    {
      kind: "change",
      fromMs: at(28),
      toMs: at(28),
      reason: "Generation4",
      text: "the resource was changed: generation 4",
    },
    {
      kind: "act",
      fromMs: at(27),
      toMs: at(27),
      reason: "ConfigMapUpdated",
      text: "wrote the configuration of the processes",
    },
    {
      kind: "wait",
      fromMs: at(27),
      toMs: at(21),
      reason: "ProcessesTooYoung",
      text: "processes are restarted when they have run for ten minutes",
    },
    {
      kind: "act",
      fromMs: at(21),
      toMs: at(21),
      reason: "ProcessesKilled",
      text: "restarted 16 processes with the new version",
    },
    {
      kind: "recovery",
      fromMs: at(21),
      toMs: at(21) + 2_500,
      reason: "Recovery",
      text: "the database recovered (generation 12)",
    },
    {
      kind: "failure",
      fromMs: at(11),
      toMs: at(11),
      reason: "FailedScheduling",
      text: "0/5 nodes are available",
      object: "pod/sample-storage-9",
      count: 3,
    },
    {
      kind: "wait",
      fromMs: at(2),
      reason: "PodsUpdating",
      text: "zone zone-b is being updated: 2 pods are not ready yet",
      remedy: "Nothing is to be done: it goes by.",
    },
  ];
  return {
    sinceMs: at(30),
    entries: Object.fromEntries(entries.map((entry, index) => [`sample-${index}`, entry])),
  };
}

const basis: Readonly<Record<string, number>> = {
  committedPerSecond: 1_200,
  conflictedPerSecond: 12,
  readsPerSecond: 8_000,
  writesPerSecond: 2_100,
  startSeconds: 0.002,
  readSeconds: 0.0009,
  commitSeconds: 0.009,
  storageLagSeconds: 0.4,
  storageQueueBytes: 4e7,
  logQueueBytes: 9e6,
  movingBytes: 3e8,
  freeStorageBytes: 8e10,
  freeLogBytes: 1.2e11,
  dataBytes: 4e10,
  diskBytes: 9.1e10,
  processes: 16,
  clients: 24,
};

function sampleFigures({ nowMs, groups, seed = 1 }: SampleOptions): FiguresModel {
  const random = seededRandom(seed + 1);
  const points = 180;
  const names = figurePlots.flatMap(({ series }) => series.map(({ name }) => name));
  return {
    last: {
      ...{ isAvailable: true, recovery: "fully_recovered", sinceRecoverySeconds: 1_260 },
      ...{
        redundancyMode: "double",
        storageEngine: "ssd-2",
        dataState: "healthy",
        dataBytes: 4e10,
      },
      ...{
        zonesWithoutLosingData: 1,
        zonesWithoutLosingAvailability: 1,
        committedPerSecond: 1_200,
      },
      ...{
        coordinators: 3,
        coordinatorsReachable: 3,
        processes: groups,
        isLocked: false,
        excluded: 0,
      },
      ...{ messages: [], versions: { "7.3.63": 16 }, backupTags: [] },
    },
    timesMs: Array.from({ length: points }, (_, index) => nowMs - (points - 1 - index) * 5_000),
    series: Object.fromEntries(
      names
        .filter((name) => basis[name] !== undefined)
        .map((name) => [
          name,
          Array.from({ length: points }, (_, index) =>
            // A recovery: for half a minute the database told nothing.
            index > 50 && index < 57 ? null : (basis[name] ?? 0) * (0.8 + random.next() * 0.4),
          ),
        ]),
    ),
  };
}

function sampleBackups(nowMs: number): ClusterModel["backups"] {
  const since = time(nowMs - 60 * minuteMs);
  const yes = (text: string): BackupCard["running"] => ({ answer: "yes", text, since });
  const nightly: BackupCard = {
    ...{ backup: "sample-continuous", verdict: "healthy", state: "Running", runs: [] },
    headline: "The backup is as it should be.",
    ...{ running: yes("the backup runs"), restorable: yes("it can be restored") },
    ...{ upToDate: yes("it is up to date"), reconciled: yes("it is as specified") },
    verified: yes("the last drill passed"),
    ...{
      waits: [],
      objects: [],
      destination: "blobstore://backup@objects.example:443/sample?bucket=fdb",
    },
    window: {
      from: { version: 1_200_000_000, atMs: nowMs - 14 * 24 * 60 * minuteMs },
      to: { version: 1_300_000_000_000, atMs: nowMs - 40_000 },
    },
    ...{ lagSeconds: 40, writtenBytes: 7.3e10, snapshotPercent: 63 },
    drills: {
      last: {
        atMs: nowMs - 26 * 60 * minuteMs,
        result: "Passed",
        message: "1,204,332 keys were restored",
      },
      ...{ lastPassedMs: nowMs - 25 * 60 * minuteMs, nextMs: nowMs + 22 * 60 * minuteMs },
    },
  };
  const behind: BackupCard = {
    ...{ backup: "sample-hourly", verdict: "degraded", state: "Running" },
    headline: "The backup needs a look: no agent has spoken to the database for five minutes.",
    ...{ running: yes("the backup runs"), restorable: yes("it can be restored") },
    ...{ upToDate: { answer: "no", text: "it is 12 minutes behind", since }, reconciled: yes("") },
    waits: [
      {
        ...{ step: "checkAgents", reason: "AgentsSilent", concern: "look", since },
        message: "no agent has spoken to the database for five minutes",
        remedy:
          "Look at the logs of the agents: kubectl logs deployment/sample-hourly-backup-agents.",
      },
    ],
    ...{ objects: [], lagSeconds: 720, writtenBytes: 2.2e9, nextRunMs: nowMs + 33 * minuteMs },
    window: {
      from: { version: 77, atMs: nowMs - 8 * 60 * minuteMs },
      to: { version: 99, atMs: nowMs - 12 * minuteMs },
    },
    runs: [
      { atMs: nowMs - 87 * minuteMs, result: "Succeeded" },
      { atMs: nowMs - 27 * minuteMs, result: "Failed", message: "the store did not answer" },
    ],
  };
  const restore: RestoreCard = {
    ...{
      restore: "to-yesterday",
      verdict: "working",
      headline: "The restore runs.",
      state: "running",
    },
    running: yes("the restore runs"),
    completed: { answer: "no", text: "it is not complete" },
    ...{ waits: [], objects: [], percent: 41, writtenBytes: 1.7e10, startMs: nowMs - 9 * minuteMs },
    ...{
      target: { version: 1_250_000_000_000, atMs: nowMs - 24 * 60 * minuteMs },
      etaMs: nowMs + 13 * minuteMs,
    },
    source: "blobstore://backup@objects.example:443/sample?bucket=fdb",
  };
  return {
    backups: { "sample-continuous": nightly, "sample-hourly": behind },
    restores: { "to-yesterday": restore },
  };
}

export function sampleStory(nowMs: number, tile: Tile, node: string): Story {
  const { group, processClass, state, troubles } = tile;
  const pod = `sample-${group}`;
  return {
    ...{ group, processClass, state, node, dataCenter: "", hall: "", zone: "zone-a" },
    conditions: troubles
      .filter((type) => /^[A-Z]/.test(type))
      .map((type) => ({
        type,
        meaning: "its pod was made from an older specification",
        sinceMs: nowMs - 4 * minuteMs,
      })),
    addresses: ["10.1.0.7"],
    pod: {
      ...{
        name: pod,
        phase: "Running",
        isReady: state === "well",
        createdMs: nowMs - 90 * minuteMs,
      },
      ...(state === "well"
        ? {}
        : { trouble: "container foundationdb waits (CrashLoopBackOff, exit code 1, 3 restarts)" }),
      containers: [
        {
          ...{
            name: "foundationdb",
            image: "foundationdb/fdb-kubernetes-monitor:7.3.63",
            state: "running",
          },
          ...{ restarts: 1, sinceMs: nowMs - 20 * minuteMs },
          lastEnd: { text: "exit code 137 (OOMKilled)", atMs: nowMs - 20 * minuteMs },
        },
      ],
    },
    volume: { claim: `${pod}-data`, phase: "Bound", capacity: "128Gi", storageClass: "fast" },
    processes: [
      {
        ...{
          group,
          process: `${group}-1`,
          address: "10.1.0.7:4501",
          processClass,
          roles: tile.roles,
        },
        ...{
          isCoordinator: tile.isCoordinator,
          dataCenter: "",
          hall: "",
          zone: "zone-a",
          machine: node,
        },
        ...{
          version: "7.3.63",
          uptimeSeconds: 1_200,
          cpuCores: 0.4,
          runLoopBusy: 0.21,
          memoryBytes: 2.1e9,
        },
        ...{
          memoryLimitBytes: 8e9,
          diskBusy: 0.12,
          diskFreeBytes: 9e10,
          diskTotalBytes: 1.28e11,
          notes: [],
        },
      },
    ],
    events: [
      {
        type: "Warning",
        reason: "BackOff",
        message: "Back-off restarting failed container",
        count: 3,
        at: time(nowMs - 21 * minuteMs),
      },
    ],
    commands: [
      { title: "Its log", command: `kubectl logs ${pod} -n default -c foundationdb` },
      {
        title: "Replace it",
        command: `kubectl fdb remove-process-group ${group} -c sample -n default`,
      },
    ],
  };
}
