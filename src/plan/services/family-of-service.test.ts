// Which IP family a pod has that is made again behind a service.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import { keptFamily } from "./family-of-service.ts";

interface Case {
  readonly what: string;
  readonly clusterIP?: string;
  readonly podIPFamily?: 4 | 6;
  readonly givenFamily?: 4 | 6;
  readonly publicIPSource?: "pod";
  /** The process group has never had an address. */
  readonly isNew?: true;
  readonly kept?: 4 | 6;
}

const cases: readonly Case[] = [
  { what: "a service of the family that is wanted", clusterIP: "fd00::9", podIPFamily: 6 },
  { what: "a service of another family", clusterIP: "10.0.9.9", podIPFamily: 6, kept: 4 },
  { what: "the other way round", clusterIP: "fd00::9", podIPFamily: 4, kept: 6 },
  { what: "a service as Kubernetes gives it", clusterIP: "10.0.9.9", givenFamily: 4 },
  { what: "one that Kubernetes would not give", clusterIP: "fd00::9", givenFamily: 4, kept: 6 },
  {
    what: "the same for a new process group",
    ...{ clusterIP: "fd00::9", givenFamily: 4, isNew: true },
  },
  {
    what: "a new one where a family is wanted",
    ...{ clusterIP: "10.0.9.9", podIPFamily: 6, isNew: true, kept: 4 },
  },
  { what: "where no node tells", clusterIP: "fd00::9" },
  {
    what: "what is wanted before what nodes give",
    ...{ clusterIP: "fd00::9" },
    podIPFamily: 6,
    givenFamily: 4,
  },
  { what: "addresses of pods", clusterIP: "10.0.9.9", podIPFamily: 6, publicIPSource: "pod" },
  { what: "no service yet", podIPFamily: 6 },
  { what: "a service without an address yet", clusterIP: "", podIPFamily: 6 },
  { what: "a headless one", clusterIP: "None", podIPFamily: 6 },
];

for (const {
  what,
  clusterIP,
  podIPFamily,
  givenFamily,
  publicIPSource = "service",
  isNew,
  kept,
} of cases) {
  test(`[P119] the family that a lost pod comes back in: ${what}`, () => {
    const world = new PlanWorld({
      routing: { publicIPSource, ...(podIPFamily && { podIPFamily }) },
    });
    const service = { apiVersion: "v1", kind: "Service", metadata: {}, spec: { clusterIP } };
    const snapshot = world.snapshot({ givenFamily });
    const addresses = isNew ? [] : ["10.1.1.1"];
    const group = { processGroupID: "log-1", processClass: "log", addresses };
    const found = keptFamily(snapshot, group, clusterIP === undefined ? undefined : service);
    assert.equal(found, kept);
  });
}
