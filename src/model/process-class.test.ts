// Process classes and the ids and names made from them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  generalClass,
  isLogProcess,
  isProcessClass,
  isStateful,
  isTest,
  isTransactionSystem,
  processClasses,
} from "./process-class.ts";
import {
  instanceLocality,
  makeProcessGroupId,
  makeProcessId,
  maximumIdNumber,
  parseProcessGroupId,
  podNameOf,
  volumeClaimNameOf,
} from "./process-group-id.ts";

test("[M7] there are twenty classes, storage before log before backup", () => {
  assert.equal(processClasses.length, 20);
  assert.ok(processClasses.indexOf("storage") < processClasses.indexOf("log"));
  assert.equal(processClasses.at(-1), "backup");
  assert.ok(isProcessClass("grv_proxy"));
  assert.ok(!isProcessClass(generalClass));
});

test("[M8] four classes keep data and two of them run logs", () => {
  assert.deepEqual(processClasses.filter(isStateful), [
    "storage",
    "transaction",
    "log",
    "coordinator",
  ]);
  assert.deepEqual(processClasses.filter(isLogProcess), ["transaction", "log"]);
  assert.deepEqual(processClasses.filter(isTest), ["test"]);
});

test("[M9] all classes but storage are part of the transaction system", () => {
  assert.deepEqual(
    [...processClasses, generalClass].filter((name) => !isTransactionSystem(name)),
    ["storage", generalClass],
  );
});

test("[M10] an id that was made is read back into its parts", () => {
  const prefixes = fc.oneof(fc.constant(""), fc.stringMatching(/^[a-z0-9A-Z][-_a-z0-9A-Z]*$/));
  fc.assert(
    fc.property(
      prefixes,
      fc.constantFrom(...processClasses),
      fc.integer({ min: 1, max: maximumIdNumber }),
      (prefix, processClass, number) => {
        const id = makeProcessGroupId(prefix, processClass, number);
        assert.deepEqual(parseProcessGroupId(id), { prefix, processClass, number });
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});

test("[M11] a text without a class and a number is no id", () => {
  for (const text of ["", "storage", "storage-", "-1", "storage-1a", "17"]) {
    assert.equal(parseProcessGroupId(text), undefined, text);
  }
});

test("[M12] a pod name starts at the class, also where a prefix holds the class", () => {
  assert.equal(podNameOf("c", "storage", "dc1-storage-7"), "c-storage-7");
  assert.equal(podNameOf("c", "storage", "storage-dc1-storage-7"), "c-storage-dc1-storage-7");
  assert.equal(
    podNameOf("c", "cluster_controller", "a_b-cluster_controller-1"),
    "c-cluster-controller-1",
  );
  assert.equal(podNameOf("c", "log", "odd-1"), "c-odd-1");
});

test("[M13] names are derived from the id", () => {
  assert.equal(makeProcessId("log-3", 2), "log-3-2");
  assert.equal(instanceLocality("log-3"), "locality_instance_id:log-3");
  assert.equal(volumeClaimNameOf("c-log-3"), "c-log-3-data");
});
