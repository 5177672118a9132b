// Changes of user and group, as a table. Rules: spec/removal.md [R8].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PodSpec } from "../../kube/generated/types.ts";
import { securityContextChange } from "./misconfiguration.ts";

type Contexts = { pod?: object; main?: object; other?: object };

function spec({ pod, main, other }: Contexts): PodSpec {
  return {
    ...(pod === undefined ? {} : { securityContext: pod }),
    containers: [
      { name: "foundationdb", ...(main === undefined ? {} : { securityContext: main }) },
      { name: "helper", ...(other === undefined ? {} : { securityContext: other }) },
    ],
  };
}

const table: [string, Contexts, Contexts, boolean][] = [
  ["nothing anywhere", {}, {}, false],
  ["the same everywhere", { pod: { fsGroup: 1 } }, { pod: { fsGroup: 1 } }, false],
  ["a group of files appears", {}, { pod: { fsGroup: 1 } }, true],
  ["a group of files goes", { pod: { fsGroup: 1 } }, {}, true],
  ["the group of files changes", { pod: { fsGroup: 1 } }, { pod: { fsGroup: 2 } }, true],
  ["the policy changes", {}, { pod: { fsGroupChangePolicy: "Always" } }, true],
  ["the pod's user changes", { pod: { runAsUser: 1 } }, { pod: { runAsUser: 2 } }, true],
  ["the pod's group changes", { pod: { runAsGroup: 1 } }, { pod: { runAsGroup: 2 } }, true],
  [
    "the user moves to all containers",
    { pod: { runAsUser: 1 } },
    { main: { runAsUser: 1 }, other: { runAsUser: 1 } },
    false,
  ],
  [
    "a container hides the pod's change",
    { pod: { runAsUser: 1 }, main: { runAsUser: 5 }, other: { runAsUser: 5 } },
    { pod: { runAsUser: 2 }, main: { runAsUser: 5 }, other: { runAsUser: 5 } },
    false,
  ],
  ["one container's user changes", { main: { runAsUser: 1 } }, { main: { runAsUser: 2 } }, true],
  [
    "one container's group changes",
    { other: { runAsGroup: 1 } },
    { other: { runAsGroup: 2 } },
    true,
  ],
  [
    "other settings do not count",
    { main: { privileged: false } },
    { main: { readOnlyRootFilesystem: true } },
    false,
  ],
];
for (const [title, live, wanted, isChange] of table) {
  test(`[R8] security context: ${title}`, () => {
    assert.equal(securityContextChange(spec(live), spec(wanted)) !== undefined, isChange);
  });
}

test("[R8] a container that only one of both has does not count", () => {
  const wanted = spec({});
  wanted.containers.push({ name: "new", securityContext: { runAsUser: 7 } });
  assert.equal(securityContextChange(spec({}), wanted), undefined);
});
