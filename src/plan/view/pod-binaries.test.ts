// Which versions a pod can start, by its images and by what its monitor says. Proves [U86] of spec/upgrade.md.
import { Memory } from "../../env/memory.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotationKeys } from "../../build/labels.ts";
import { mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { canStart } from "./pod-binaries.ts";

function podOf(main: string, sidecar: string, taken?: string): Stored<Pod> {
  const annotations: Record<string, string> = { "foundationdb.org/image-type": "unified" };
  if (taken !== undefined) annotations[annotationKeys.launcherConfiguration] = taken;
  const containers = [
    { name: mainContainerName, image: main },
    { name: sidecarContainerName, image: sidecar },
  ];
  const metadata = { name: "one", annotations };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } };
}

const rows: readonly [string, Stored<Pod>, string, boolean | undefined][] = [
  ["its own version", podOf("monitor:7.3.63", "monitor:7.3.63"), "7.3.63", true],
  ["another one of its protocol", podOf("monitor:7.3.63", "monitor:7.3.63"), "7.3.69", true],
  ["an older one of its protocol", podOf("monitor:7.3.63", "monitor:7.3.63"), "7.3.27", true],
  ["another protocol", podOf("monitor:7.1.57", "monitor:7.1.57"), "7.3.63", false],
  ["the one that its sidecar brought", podOf("monitor:7.1.57", "monitor:7.3.63"), "7.3.63", true],
  ["a neighbour of that one", podOf("monitor:7.1.57", "monitor:7.3.63"), "7.3.69", false],
  [
    "the one that it runs, whatever its sidecar is by now",
    podOf("monitor:7.1.57", "monitor:7.4.1", '{"version":"7.3.63"}'),
    "7.3.63",
    true,
  ],
  ["a tag with a suffix", podOf("host:5000/monitor:7.3.63-2", "monitor:7.3.63-2"), "7.3.69", true],
  ["a tag that tells no version", podOf("monitor:stable", "monitor:stable"), "7.3.69", undefined],
  ["an image by its digest", podOf("monitor@sha256:1234", "monitor"), "7.3.69", undefined],
];

for (const [title, pod, version, expected] of rows) {
  test(`[U86] ${title}`, () =>
    assert.equal(canStart({ memory: new Memory() }, pod, version), expected));
}
