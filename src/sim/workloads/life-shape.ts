// The database with which the walk of a life begins, drawn from a seed: size, mode, image type, ways to find each other,
// and whether one resource describes it or one for each hall or datacenter. Rules: spec/world.md [W96].
import type { ClusterSpec } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { withCertificates } from "../sample-certificates.ts";

/** A resource that looks after a part of the database. */
export interface LifeMember {
  name: string;
  spec: ClusterSpec;
  /** What changes in its spec when all members are there. */
  grown?: object;
}

export interface LifeShape {
  /** "spread halls": one resource whose operator spreads over the halls; "three halls": a resource for each. */
  kind: "one resource" | "spread halls" | "three halls" | "two regions";
  nodes: number;
  zones: number;
  /** The first one chooses the coordinators, the others join it. */
  members: readonly [LifeMember, ...LifeMember[]];
  /** Pods and nodes are left in peace, so that coordinators may be known by pod addresses. */
  isCalm: boolean;
  /** How late watches are. */
  lagMs: number;
}

const requests = { cpu: "50m", memory: "64Mi" };

/** Pods that ask for little and have certificates, with a variable whose change makes new pods necessary. */
export function podTemplateWith(value: string, zone?: string): object {
  const env = [{ name: "ANSWER", value }];
  const spec = {
    ...(zone === undefined ? {} : { nodeSelector: { "topology.kubernetes.io/zone": zone } }),
    containers: [
      { name: "foundationdb", resources: { requests }, env },
      { name: "foundationdb-kubernetes-sidecar", resources: { requests } },
    ],
  };
  return { spec: withCertificates(spec) };
}

export function lifeShapeOf(random: Random): LifeShape {
  const isCalm = random.next() < 0.3;
  const lagMs = randomPick(random, [0, 0, 500, 3_000]);
  const chance = random.next();
  const placeOf =
    chance < 0.06 ? hallsOf : chance < 0.12 ? spreadOf : chance < 0.18 ? regionsOf : oneOf;
  return { ...placeOf(random), isCalm, lagMs };
}

/** Some databases are disturbed only now and then. */
export function withWindows(shape: LifeShape, random: Random): LifeShape {
  const [{ name, spec }, ...others] = shape.members;
  if (others.length > 0 || random.next() >= 0.2) return shape;
  const cron = randomPick(random, ["*/20 * * * *", "5,25,45 * * * *"]);
  const timeZone = randomPick(random, ["UTC", "Asia/Kathmandu", "America/St_Johns"]);
  const maintenanceWindows = [{ cron, duration: "10m", timeZone }];
  const automationOptions = { ...spec.automationOptions, maintenanceWindows };
  return { ...shape, members: [{ name, spec: { ...spec, automationOptions } }] };
}

/** Of a life with backups: one resource, of a version whose backups are known key by key. */
export function backupShapeOf(random: Random): LifeShape {
  const isCalm = random.next() < 0.3;
  const lagMs = randomPick(random, [0, 0, 500, 3_000]);
  const place = oneOf(random);
  const [{ name, spec }] = place.members;
  return { ...place, members: [{ name, spec: { ...spec, version: "7.3.63" } }], isCalm, lagMs };
}

type Place = Omit<LifeShape, "isCalm" | "lagMs">;

function oneOf(random: Random): Place {
  // Many pods at once and less redundancy at any moment: what was true a second ago may be wrong.
  const isHasty = random.next() < 0.12;
  const mode = isHasty
    ? "triple"
    : randomPick(random, ["single", "double", "double", "triple"] as const);
  const copies = { single: 1, double: 2, triple: 3 }[mode];
  const isServed = random.next() < 0.25;
  const base = baseSpec(random, mode === "single");
  const spec: ClusterSpec = {
    ...base,
    ...(isHasty ? { automationOptions: hasty(base) } : {}),
    databaseConfiguration: { redundancy_mode: mode },
    processCounts: {
      storage: copies + randomInteger(random, 2, 4),
      log: copies + randomInteger(random, 2, 3),
      stateless: randomInteger(random, 3, 5),
    },
    // Pod addresses change with every new pod, and nobody finds such coordinators again.
    ...(isServed ? { routing: { publicIPSource: "service", useDNSInClusterFile: false } } : {}),
    ...(random.next() < 0.3 ? { lockOptions: { disableLocks: false } } : {}),
    ...(random.next() < 0.2 ? { distributionConfig: packing(random) } : {}),
    processes: { general: { podTemplate: podTemplateWith("first") } },
  };
  return {
    kind: "one resource",
    zones: randomInteger(random, 3, 4),
    nodes: randomInteger(random, 10, 14),
    members: [{ name: "life", spec }],
  };
}

function hasty({ automationOptions }: ClusterSpec): ClusterSpec["automationOptions"] {
  return { ...automationOptions, podUpdateStrategy: "Delete", deletionMode: "All" };
}

/** What a database is like whatever its form. */
function baseSpec(random: Random, hasOneCopy: boolean): ClusterSpec {
  return {
    version: randomPick(random, ["7.1.57", "7.3.63"]),
    imageType: randomPick(random, ["unified", "split"]),
    storageServersPerPod: randomInteger(random, 1, 2),
    minimumUptimeSecondsForBounce: 60,
    automationOptions: {
      waitBetweenRemovalsSeconds: randomPick(random, [0, 10, 60]),
      // Where there is one copy, no pod may be deleted in place.
      podUpdateStrategy: hasOneCopy
        ? randomPick(random, ["ReplaceTransactionSystem", "Replace"])
        : randomPick(random, ["ReplaceTransactionSystem", "Delete", "Replace"]),
      deletionMode: randomPick(random, ["Zone", "Zone", "All", "ProcessGroup"]),
      replacements: {
        enabled: random.next() < 0.7,
        failureDetectionTimeSeconds: randomPick(random, [60, 300]),
        replacementBucket: buckets(random),
      },
    },
    ...(random.next() < 0.3 ? { mainContainer: { enableTls: true } } : {}),
  };
}

/** As many domains as every mode can live with. */
export function packing(random: Random): ClusterSpec["distributionConfig"] {
  return { enabled: true, desiredFaultDomains: randomInteger(random, 3, 4) };
}

/** None is closed, so that in the end everything can be replaced. */
function buckets(random: Random) {
  const limit = (): number => randomInteger(random, 1, 2);
  return { enabled: random.next() < 0.5, storage: limit(), log: limit(), stateless: limit() };
}

/** A member for each zone of the nodes, which shares no node with another. */
function memberOf(name: string, number: number, spec: ClusterSpec): LifeMember {
  const podTemplate = podTemplateWith("first", `zone-${number}`);
  return {
    name,
    spec: { ...spec, processGroupIDPrefix: name, processes: { general: { podTemplate } } },
  };
}

function hallsOf(random: Random): Place {
  const base = baseSpec(random, false);
  const hall = (number: number): LifeMember =>
    memberOf(`az${number}`, number, {
      ...base,
      dataHall: `az${number}`,
      databaseConfiguration: { redundancy_mode: "three_data_hall" },
      processCounts: { storage: 3, log: 3, stateless: 2 },
    });
  const nodes = 3 * randomInteger(random, 4, 5);
  return { kind: "three halls", zones: 3, nodes, members: [hall(1), hall(2), hall(3)] };
}

/** The label of a node can be read by the unified image alone. */
function spreadOf(random: Random): Place {
  const spec: ClusterSpec = {
    ...baseSpec(random, false),
    imageType: "unified",
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [{ key: "data_hall", topologyKey: "topology.kubernetes.io/zone" }],
    processCounts: { storage: randomInteger(random, 6, 9), log: 6, stateless: 3 },
    processes: { general: { podTemplate: podTemplateWith("first") } },
  };
  const nodes = 3 * randomInteger(random, 4, 5);
  return { kind: "spread halls", zones: 3, nodes, members: [{ name: "life", spec }] };
}

const satellite = { id: "dc3", satellite: 1, priority: 1 };
const oneRegion = { usable_regions: 1, regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }] };
const twoRegions = {
  usable_regions: 2,
  regions: ["dc1", "dc2"].map((id, index) => ({
    datacenters: [{ id, priority: 1 - index }, satellite],
    satellite_logs: 3,
    satellite_redundancy_mode: "one_satellite_double" as const,
  })),
};

function regionsOf(random: Random): Place {
  const base = baseSpec(random, false);
  const center = (number: number): LifeMember =>
    memberOf(`dc${number}`, number, {
      ...base,
      dataCenter: `dc${number}`,
      databaseConfiguration: {
        redundancy_mode: "double",
        ...(number === 1 ? oneRegion : twoRegions),
      },
      processCounts:
        number === 3
          ? { storage: -1, log: 4, stateless: -1 }
          : { storage: 3, log: 4, stateless: 3 },
    });
  const first = { ...center(1), grown: { databaseConfiguration: twoRegions } };
  const nodes = 3 * randomInteger(random, 4, 5);
  return { kind: "two regions", zones: 3, nodes, members: [first, center(2), center(3)] };
}
