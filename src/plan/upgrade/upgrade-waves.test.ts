// In which order sidecars restart.
import { PlanMemory } from "../view/plan-memory.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sidecarContainerName, mainContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { SidecarObservation, Snapshot } from "../snapshot.ts";
import { nextWave } from "./upgrade-waves.ts";
import type { ImageChange } from "./upgrade-waves.ts";

const newImage = "foundationdb/fdb-kubernetes-monitor:7.3.63";
const oldImage = "foundationdb/fdb-kubernetes-monitor:7.1.57";

interface State {
  /** Of the sidecar, as the pod's spec says. */
  image?: string;
  /** Of the sidecar, as the node says. */
  running?: string;
  ids?: [main: string, sidecar: string];
  isReady?: boolean;
  imageType?: "unified" | "split";
}

function change(name: string, state: State = {}): ImageChange {
  const { image = oldImage, running = image, isReady = true, imageType = "unified" } = state;
  const [mainId, sidecarId] = state.ids ?? ["", ""];
  const containers = [{ name: mainContainerName }, { name: sidecarContainerName, image }];
  const status = (container: string, imageID: string, one: string) => ({
    ...{ name: container, ready: container === mainContainerName || isReady },
    ...{ restartCount: 0, image: one, imageID },
  });
  const pod: Stored<Pod> = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations: { "foundationdb.org/image-type": imageType } },
    spec: { containers },
    status: {
      phase: "Running",
      containerStatuses: [
        status(mainContainerName, mainId, oldImage),
        status(sidecarContainerName, sidecarId, running),
      ],
    },
  };
  return { pod, image: newImage };
}

function wave(
  changes: readonly ImageChange[],
  coordinators: readonly string[],
  sidecars: ReadonlyMap<string, SidecarObservation> = new Map(),
): string[] {
  const text = `x:y@${coordinators.map((name) => `${name}:4501`).join(",")}`;
  const pods = new Map(changes.map(({ pod }) => [pod.metadata.name ?? "", pod]));
  const snapshot = { sidecars, pods, memory: new PlanMemory() } as unknown as Snapshot;
  return nextWave(snapshot, text, changes).map(({ pod }) => pod.metadata.name ?? "");
}

const dns = (name: string): string => `${name}.sample.default.svc.cluster.local`;
const names = ["a", "b", "c", "d", "e", "f"];

test("[U34] coordinators with DNS names restart in waves, everybody else at once", () => {
  const all = names.map((name) => change(name));
  assert.deepEqual(wave(all, ["a", "b", "c"].map(dns)), ["a", "d", "e", "f"]);
  assert.deepEqual(wave(all, ["a", "b", "c", "d", "e"].map(dns)), ["a", "b", "f"]);
  assert.deepEqual(wave(all, [dns("a")]), names, "a single one cannot be spared");
  assert.deepEqual(wave(all, ["10.0.0.1", "10.0.0.2", "10.0.0.3"]), names);
  assert.deepEqual(wave([], ["a", "b", "c"].map(dns)), []);
});

const sharings: readonly (readonly number[])[] = [
  [3, 3, 3],
  [5, 4],
  [7, 2],
  [3, 2, 2, 2],
  [3, 2],
  [4, 3],
];

for (const counts of sharings) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  test(`[U34] resources with ${counts.join(", ")} coordinators take less than half of ${total} together`, () => {
    const resources = counts.map((count, resource) =>
      Array.from({ length: count }, (_, index) => `r${resource}-${index}`),
    );
    const coordinators = resources.flat().map(dns);
    const waves = resources.map((own) =>
      wave(
        [...own, "other"].map((name) => change(name)),
        coordinators,
      ),
    );
    assert.ok(waves.every((taken) => taken.includes("other")));
    const together = waves.flat().filter((name) => name !== "other").length;
    assert.ok(together < total / 2, `${together} of ${total}`);
    assert.ok(
      waves.every((taken) => taken.length > 1),
      "each goes on",
    );
  });
}

test("[U34] a resource with too few coordinators for a share takes one at a time all the same", () => {
  const coordinators = ["a", "b", "far"].map(dns);
  assert.deepEqual(wave([change("a"), change("b")], coordinators), ["a"]);
  const started = change("a", { image: newImage, running: oldImage });
  assert.deepEqual(wave([started, change("b")], coordinators), []);
  assert.deepEqual(wave([change("a", { image: newImage }), change("b")], coordinators), ["b"]);
});

test("[U35] a coordinator that is not back, or not ready anyway, counts as away", () => {
  const three = ["a", "b", "c"].map(dns);
  const started = change("a", { image: newImage, running: oldImage });
  assert.deepEqual(wave([started, change("b"), change("c")], three), []);
  const pulling = change("a", { image: newImage, isReady: false });
  assert.deepEqual(wave([pulling, change("b"), change("c")], three), []);
  const back = change("a", { image: newImage });
  assert.deepEqual(wave([back, change("b"), change("c")], three), ["b"]);
  const ill = change("a", { isReady: false });
  assert.deepEqual(wave([ill, change("b"), change("c")], three), ["a"], "it is away already");
});

test("[U36] a node may know the image under another name", () => {
  const three = ["a", "b", "c"].map(dns);
  const other = { image: newImage, running: "sha256:1234" };
  const same = change("a", { ...other, ids: ["one", "one"] });
  assert.deepEqual(wave([same, change("b"), change("c")], three), []);
  const differing = change("a", { ...other, ids: ["one", "two"] });
  assert.deepEqual(wave([differing, change("b"), change("c")], three), ["b"]);
  const split = change("a", { ...other, ids: ["one", "two"], imageType: "split" });
  const said = (BINARY_DIR: string): ReadonlyMap<string, SidecarObservation> =>
    new Map([["a", { kind: "answered", substitutions: { BINARY_DIR }, fileHashes: {} }]]);
  const rest = [split, change("b"), change("c")];
  assert.deepEqual(wave(rest, three, said("/usr/bin")), []);
  assert.deepEqual(wave(rest, three, said("/var/dynamic-conf/bin/7.3.63")), ["b"]);
});
