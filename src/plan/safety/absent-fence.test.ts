// Process groups that do not serve and are to be fenced: they may only be restarting.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { fenceAnnotations } from "../../build/fence.ts";
import {
  killSample,
  sampleDatabase,
  sampleGroup,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import { absentFenceRefusal } from "./absent-fence.ts";

type Sample = ReturnType<typeof sampleDatabase>;

function refusalOf(sample: Sample, id: string): string | undefined {
  return absentFenceRefusal(viewOf(sample), sample.status, [sampleGroup(sample, id)])?.message;
}

test("[FENCE3] what does not serve is fenced when nothing else is down, though the database can lose nothing more at this moment", () => {
  const sample = sampleDatabase();
  killSample(sample, "log-2");
  const figures = sample.status.cluster?.fault_tolerance;
  assert.ok(figures);
  figures.max_zone_failures_without_losing_data = 0;
  assert.equal(refusalOf(sample, "log-2"), undefined);
});

test("[FENCE3] [FENCE4] it is not kept from coming back while another fault domain is fenced", () => {
  const sample = sampleDatabase();
  killSample(sample, "log-2");
  const pod = sample.pods.get("sample-log-1");
  assert.ok(pod);
  pod.metadata.annotations = { ...pod.metadata.annotations, ...fenceAnnotations };
  assert.match(refusalOf(sample, "log-2") ?? "", /log-1 was told to stop/);
});

test("[FENCE3] the only copy of some data is not kept from coming back", () => {
  const sample = sampleDatabase();
  killSample(sample, "log-2");
  const configuration = sample.status.cluster?.configuration;
  assert.ok(configuration);
  configuration.redundancy_mode = "single";
  assert.match(refusalOf(sample, "log-2") ?? "", /log-2 does not report/);
  // The database does not count on it any more.
  sampleGroup(sample, "log-2").exclusionTimestamp = "2026-01-01T00:00:00Z";
  assert.equal(refusalOf(sample, "log-2"), undefined);
});
