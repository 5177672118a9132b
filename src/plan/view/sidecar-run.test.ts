// Which image a sidecar runs, however its node names images. Rules: spec/upgrade.md [U36].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { SidecarObservation } from "../snapshot.ts";
import { PlanMemory } from "./plan-memory.ts";
import { runsSidecarImage } from "./sidecar-run.ts";

const wanted = "registry.example:5000/monitor:7.3.63";

interface Row {
  what: string;
  runs: boolean;
  /** Of the main container, in the pod's spec. */
  main?: string;
  /** Of the sidecar, as its node names it. */
  named: string;
  ids?: readonly [main: string, sidecar: string];
  /** The directory of a split image's sidecar. */
  said?: string;
}

const differing = ["one", "two"] as const;
const own = wanted;

const rows: readonly Row[] = [
  { what: "the same name", runs: true, named: wanted },
  { what: "another registry", runs: true, named: "mirror/monitor:7.3.63" },
  { what: "the old one", runs: false, named: "registry.example:5000/monitor:7.1.57" },
  { what: "no tag, as main", runs: false, named: "sha256:12" },
  { what: "no tag, not as main", runs: true, named: "sha256:12", ids: differing },
  { what: "another name for it", runs: true, named: "mirror/monitor:stable", ids: differing },
  { what: "of an upgrade that was overtaken", runs: false, named: "m:7.2.9", ids: differing },
  { what: "a numbering of somebody's own", runs: true, named: "m:1.2.3", ids: differing },
  { what: "made for it", runs: true, main: own, named: "sha256:12" },
  { what: "made for it, but told another", runs: false, main: own, named: "x", ids: differing },
  { what: "split, before", runs: false, named: "sha256:12", said: "/usr/bin" },
  { what: "split, after", runs: true, named: "sha256:12", said: "/var/dynamic-conf/bin/7.3.63" },
  { what: "split, made for it", runs: true, main: own, named: "sha256:12", said: "/usr/bin" },
  { what: "split, no word yet", runs: false, named: "sha256:12", said: "" },
];

for (const { what, runs, main = "m:7.1.57", named, ids = ["one", "one"], said } of rows) {
  test(`[U36] ${what}: the sidecar ${runs ? "runs" : "does not run"} the wanted image`, () => {
    const status = (name: string, image: string, imageID: string) => ({
      ...{ name, image, imageID, ready: true, restartCount: 0 },
    });
    const imageType = said === undefined ? "unified" : "split";
    const pod: Stored<Pod> = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", annotations: { "foundationdb.org/image-type": imageType } },
      spec: {
        containers: [
          { name: mainContainerName, image: main },
          { name: sidecarContainerName, image: wanted },
        ],
      },
      status: {
        containerStatuses: [
          status(mainContainerName, main, ids[0]),
          status(sidecarContainerName, named, ids[1]),
        ],
      },
    };
    const sidecars = new Map<string, SidecarObservation>();
    const answer = { kind: "answered", substitutions: { BINARY_DIR: said ?? "" }, fileHashes: {} };
    if (said) sidecars.set("a", answer as SidecarObservation);
    assert.equal(runsSidecarImage({ sidecars, memory: new PlanMemory() }, pod, wanted), runs);
  });
}
