// Every proof, in the order in which they run: the simulated half first, then what takes a real database or a real control
// plane. Rules: spec/proof.md [PROVE6], [PROVE7].
import {
  isProtocolCompatible,
  isVersionChangeAllowed,
  parseVersion,
} from "../../src/model/version.ts";
import type { Version } from "../../src/model/version.ts";
import type { Machine } from "./machine.ts";
import type { Proof } from "./proof.ts";

const clusterProgram = "test/prove/cluster-program.ts";
/** What the programs of this folder print for the page. */
const ownFigure = /^figure: /;
const tally = /^(?=\d+ passed, \d+ failed)/;

const regionsWhat =
  "a database in two regions of three datacenters moves its primary, and outlives the death of a datacenter";

/** Cases of test/contract-fdb by the ids of their rules, and what they show. */
const clusterProofs: readonly (Pick<Proof, "name" | "what"> & {
  cases: string;
  minutes: number;
})[] = [
  {
    name: "changes",
    what: "a knob, a storage process more, a replacement and one less do what their previews stated",
    ...{ cases: "[DB70],[DB80]", minutes: 20 },
  },
  {
    name: "adoption",
    what: "a database of which nothing but its disks is left is adopted with all its data",
    ...{ cases: "[DB82]", minutes: 10 },
  },
  {
    name: "operator-killed",
    what: "an operator that is killed at random brings every change to its end",
    ...{ cases: "[DB81]", minutes: 20 },
  },
  {
    name: "engine",
    what: "every storage server gets another engine, and the one before again",
    ...{ cases: "[DB83]", minutes: 30 },
  },
  {
    name: "tls",
    what: "all traffic turns to TLS, and back",
    ...{ cases: "[DB84]", minutes: 20 },
  },
  {
    name: "regions",
    what: regionsWhat,
    ...{ cases: "[DB86]", minutes: 25 },
  },
  {
    name: "troubles",
    what: "processes join, leave and die, redundancy changes, pods are deleted, the database is away",
    ...{ cases: "[DB71],[DB72],[DB73],[DB74],[DB75],[DB76],[DB77]", minutes: 40 },
  },
];

const simulated: readonly Proof[] = [
  {
    ...{ name: "lives", half: "simulated", needs: [], limitMinutes: 8, figure: tally },
    what: "random lives of clusters with faults, in virtual time, lose no data",
    command: ["src/cli/main.ts", "simulate", "--seeds", "4", "--seed", "1", "--no-shrink"],
  },
  {
    ...{ name: "clusters", half: "simulated", needs: [], limitMinutes: 15, figure: ownFigure },
    what: "all that is proven on a real cluster, on the simulated database and under the same load",
    command: [
      clusterProgram,
      "--on",
      "simulated",
      "--cases",
      "[DB70],[DB80],[DB81],[DB82],[DB83],[DB84]",
    ],
  },
  {
    ...{ name: "regions", half: "simulated", needs: [], limitMinutes: 8, figure: ownFigure },
    what: regionsWhat,
    command: [clusterProgram, "--on", "simulated", "--cases", "[DB86]"],
  },
  ...[
    ["7.1.57", "7.3.63"],
    ["7.3.63", "7.3.79"],
  ].map(([from = "", to = ""]) => upgradeProof("simulated", from, to)),
  {
    ...{ name: "previews", half: "simulated", needs: [], limitMinutes: 8 },
    what: "changes in simulated clusters do what their previews stated",
    command: [
      ...["scripts/previews.ts", "--random", "0", "a knob for all", "a log process group more"],
      ...["one copy, a patch version", "node-1 is drained"],
    ],
    figure: /^(?=\d+ of \d+ comparisons)/,
  },
  {
    ...{ name: "contract", half: "simulated", needs: [], limitMinutes: 8, figure: tally },
    what: "the emulated Kubernetes answers as the contract says",
    command: ["scripts/contract.ts", "--only", "emulator"],
  },
  {
    ...{ name: "contract-fdb", half: "simulated", needs: [], limitMinutes: 8, figure: tally },
    what: "the simulated database answers as the contract says",
    command: ["scripts/contract-fdb.ts", "--only", "simulated"],
  },
];

export function allProofs({ versions }: Pick<Machine, "versions">): readonly Proof[] {
  return [...simulated, ...real(versions)];
}

function real(versions: readonly string[]): readonly Proof[] {
  return [
    {
      ...{ name: "real-clients", half: "real", needs: ["foundationdb"], limitMinutes: 10 },
      what: "many databases share client processes with the real library, and one in trouble delays no other",
      ...{ command: ["test/prove/clients-program.ts"], figure: ownFigure },
    },
    ...clusterProofs.slice(0, 2).map(realCluster),
    {
      ...{ name: "real-contract-fdb", half: "real", needs: ["foundationdb"], limitMinutes: 30 },
      what: "a real database answers as the contract says",
      command: ["scripts/contract-fdb.ts", "--only", "real", "--part", "database"],
      figure: tally,
    },
    ...clusterProofs.slice(2).map(realCluster),
    {
      ...{ name: "real-backups", half: "real", limitMinutes: 30, figure: ownFigure },
      needs: ["foundationdb", "backup-tools", "object-store"],
      what: "backups of a real database come back key by key, keep their window, and drills find damage",
      // Their own load compares every key that is restored; another one would be in its way.
      command: [clusterProgram, "--on", "real", "--without-load", "--cases", "[DB78],[DB79]"],
    },
    ...realUpgrades(versions),
    {
      ...{ name: "real-kubernetes", half: "real", needs: ["control-plane"], limitMinutes: 40 },
      what: "a real control plane answers as the emulated one does",
      ...{ command: ["scripts/contract.ts", "--only", "real"], figure: tally },
    },
  ];
}

function realCluster({ name, what, cases, minutes }: (typeof clusterProofs)[number]): Proof {
  return {
    ...{ name: `real-${name}`, half: "real", needs: ["foundationdb"], limitMinutes: minutes, what },
    ...{ command: [clusterProgram, "--on", "real", "--cases", cases], figure: ownFigure },
  };
}

function realUpgrades(versions: readonly string[]): readonly Proof[] {
  const pairs = versions.flatMap((from, index) =>
    versions
      .slice(index + 1)
      .filter((to) => areBoth(from, to, isVersionChangeAllowed))
      .map((to) => upgradeProof("real", from, to)),
  );
  if (pairs.length > 0) return pairs;
  return [{ ...upgradeProof("real", "one", "another"), name: "real-upgrades" }];
}

function upgradeProof(half: Proof["half"], from: string, to: string): Proof {
  const way = areBoth(from, to, isProtocolCompatible) ? ", and back" : "";
  return {
    name: `${half === "real" ? "real-" : ""}upgrade-${from}-${to}`,
    ...{
      half,
      needs: half === "real" ? ["two-versions"] : [],
      limitMinutes: 15,
      figure: ownFigure,
    },
    what: `a cluster is upgraded from ${from} to ${to}${way}`,
    command: [clusterProgram, "--on", half, "--upgrade", `${from}:${to}`],
  };
}

function areBoth(from: string, to: string, are: (a: Version, b: Version) => boolean): boolean {
  const [older, newer] = [parseVersion(from), parseVersion(to)];
  return older !== undefined && newer !== undefined && are(older, newer);
}
