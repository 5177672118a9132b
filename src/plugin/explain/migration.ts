// How far storage servers have come on their way to another engine. Rules: spec/migration.md [MIG10].
import type { StorageEngineMigration } from "../../api/storage-engine-migration.ts";
import { parseTime } from "../../kube/time.ts";
import { byteText } from "../../model/byte-text.ts";
import { formatAge } from "./words.ts";

/** With less done than this share nobody can say how long the rest takes. */
const knownShare = 0.05;

export function migrationText(migration: StorageEngineMigration, nowMs: number): string {
  const { from, to, servers, serversLeft, bytes, bytesLeft, since, progressed, paused } = migration;
  // What leaves one server lies on others for a while, old ones too, so that bytes alone tell less of what is done.
  const share = Math.min(1, Math.max(0, 1 - serversLeft / Math.max(1, servers)));
  const text =
    `${from} to ${to} since ${since}: ${servers - serversLeft} of ${servers} servers, ` +
    `${byteText(bytesLeft)} of ${byteText(bytes)} left (${Math.floor(share * 100)}% done)`;
  if (paused !== undefined) return `${text}; paused, since ${paused}`;
  const [beganMs, forwardMs] = [parseTime(since) ?? nowMs, parseTime(progressed) ?? nowMs];
  const spentMs = forwardMs - beganMs;
  if (share < knownShare || share >= 1 || spentMs <= 0) return text;
  const restMs = (spentMs / share) * (1 - share);
  return `${text}; at the speed so far, pauses included, it takes about ${formatAge(restMs)} more`;
}
