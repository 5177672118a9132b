// The examples of the manual that `npm start -- --example NAME` runs: the files of examples/ in their order, and the
// Kubernetes that each of them needs. Rules: spec/halls.md [HALL29], spec/multi.md [MU10], [MU12].

export interface ExampleStep {
  /** Name of the Kubernetes cluster; empty when there is only one. */
  site: string;
  /** Below examples/. One that ends with .patch.yaml changes the FoundationDBCluster of that Kubernetes cluster. */
  file: string;
}

/** What is asked for at one time; the next stage comes when everything is reconciled. */
export interface ExampleStage {
  title: string;
  /** Tells at its end how often the database was restarted and recovered. */
  isCounted?: boolean;
  steps: readonly ExampleStep[];
  /** What happens beside the files of the stage (example-story.ts). */
  story?: "loss" | "restore" | "drill";
}

export interface Example {
  /** In each Kubernetes cluster. */
  nodes: number;
  /** Over which the nodes of each are spread. */
  zones: number;
  sites: readonly string[];
  stages: readonly ExampleStage[];
}

const alone = (name: string, nodes: number): Example => ({
  nodes,
  zones: 3,
  sites: [""],
  stages: [{ title: "", steps: [{ site: "", file: `${name}.yaml` }] }],
});

const zones = ["az1", "az2", "az3"];
const zoneFile = (site: string, file: string): ExampleStep => ({
  site,
  file: `three-kubernetes-clusters/${file}`,
});
const regions = ["main", "remote", "satellite"];
const regionFile = (site: string, file: string): ExampleStep => ({ site, file: `ha/${file}` });

const examples = {
  backup: {
    nodes: 6,
    zones: 3,
    sites: [""],
    stages: [
      { title: "A cluster.", steps: [{ site: "", file: "cluster.yaml" }] },
      {
        title: "A continuous backup of it to an object store.",
        steps: [{ site: "", file: "backup.yaml" }],
      },
      { title: "An application writes, and somebody makes a mistake.", steps: [], story: "loss" },
      {
        title: "A restore to the time before the mistake, into a second cluster.",
        steps: [{ site: "", file: "restore.yaml" }],
        story: "restore",
      },
      {
        title:
          "A drill: the backup is restored into a cluster that is made for it, compared, and removed.",
        steps: [{ site: "", file: "backup-drill.yaml" }],
        story: "drill",
      },
    ],
  },
  "three-data-hall": alone("three-data-hall", 9),
  "three-datacenter": alone("three-datacenter", 9),
  "three-kubernetes-clusters": {
    nodes: 5,
    zones: 1,
    sites: zones,
    stages: [
      {
        title: "Phase 1: az1 creates the database.",
        steps: [zoneFile("az1", "az1.yaml")],
      },
      {
        title: "Phase 2: az2 and az3 join it through its connection string.",
        steps: [zoneFile("az2", "az2.yaml"), zoneFile("az3", "az3.yaml")],
      },
      {
        title: "Phase 3: three_data_hall in all of them.",
        steps: zones.map((site) => zoneFile(site, "three-data-hall.patch.yaml")),
      },
    ],
  },
  ha: {
    nodes: 5,
    zones: 1,
    sites: regions,
    stages: [
      { title: "main creates the database.", steps: [regionFile("main", "main.yaml")] },
      {
        title: "remote and satellite join it through its connection string.",
        steps: [regionFile("remote", "remote.yaml"), regionFile("satellite", "satellite.yaml")],
      },
      {
        title: "The database spans two regions.",
        steps: regions.map((site) => regionFile(site, "two-regions.patch.yaml")),
      },
      {
        title: "A knob for all three clusters.",
        isCounted: true,
        steps: regions.map((site) => regionFile(site, "knob.patch.yaml")),
      },
    ],
  },
} satisfies Record<string, Example>;

export type ExampleName = keyof typeof examples;

export const exampleNames = Object.keys(examples) as readonly ExampleName[];

/** Without a name, what `npm start` runs. */
export function exampleOf(name: ExampleName | undefined): Example {
  return name === undefined ? alone("cluster", 6) : examples[name];
}
