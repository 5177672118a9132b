// What the tools do when a bucket does not let them in: a wrong secret, and a bucket that nobody made.
// Rules: spec/backup-simulation.md.
import assert from "node:assert/strict";
import { backup, statusOf, toolsOf, untilStatus } from "./backup-steps.ts";
import type { BucketPlace } from "./backup-tools.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

const stage = "running";
const needs = "object-store";
const refusal = /HTTP response code not received or indicated failure/;

function bucketOf(target: DatabaseTarget): BucketPlace {
  const place = toolsOf(target).bucket;
  assert.ok(place !== undefined, "there is no S3 server");
  return place;
}

async function neverStarted(target: DatabaseTarget, tag: string): Promise<void> {
  assert.equal((await statusOf(target, tag)).UID, undefined);
}

export const bucketCases: readonly DatabaseCase[] = [
  {
    title: "[BSIM2] [BSIM3] a command with a wrong secret is refused at once, and starts nothing",
    ...{ stage, needs },
    async run(target) {
      const bucket = bucketOf(target);
      const url = bucket.urlOf("wrong");
      const wrong = ["-d", url, "--blob-credentials", bucket.wrongCredentials];
      const started = await backup(target, "start", ...wrong, "-t", "wrong", "-z");
      assert.equal(started.code, 1);
      assert.match(started.stderr, refusal);
      await neverStarted(target, "wrong");
      const described = await backup(target, "describe", ...wrong);
      assert.equal(described.code, 1);
      assert.match(described.stderr, refusal);
    },
  },
  {
    title:
      "[BSIM2] a bucket that does not exist is refused, or kills the tool, and nothing is started",
    ...{ stage, needs },
    async run(target) {
      const bucket = bucketOf(target);
      const url = bucket.urlInMissingBucket("missing");
      const there = ["-d", url, ...bucket.credentials];
      const started = await backup(target, "start", ...there, "-t", "missing", "-z");
      assert.notEqual(started.code, 0, started.stdout);
      await neverStarted(target, "missing");
      const described = await backup(target, "describe", ...there);
      assert.equal(described.code, 1);
      assert.match(described.stderr, /^ERROR: Backup does not exist\n/);
    },
  },
  {
    title:
      "[BSIM2] [BSIM11] an agent with a wrong secret brings a backup nowhere and says why; one with the right secret takes over",
    ...{ stage, needs },
    async run(target) {
      const bucket = bucketOf(target);
      const tools = toolsOf(target);
      let kill = tools.startAgent(bucket.wrongCredentials);
      try {
        const args = ["-d", bucket.urlOf("agent"), "-t", "agent", "-z", ...bucket.credentials];
        const started = await backup(target, "start", ...args);
        assert.equal(started.code, 0, started.stderr);
        await target.pass(40);
        assert.equal((await statusOf(target, "agent")).Restorable, false);
        const { stdout } = await backup(target, "status", "-t", "agent");
        assert.match(stdout, /Recent Errors/);
        assert.match(stdout, refusal);
        kill();
        kill = tools.startAgent();
        await untilStatus(target, "agent", ({ Restorable }) => Restorable);
      } finally {
        await backup(target, "abort", "-t", "agent");
        kill();
      }
    },
  },
];
