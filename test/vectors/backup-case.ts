// The vectors about backups: the URL of the destination and the Deployment of the agents with its hash.
import type { FoundationDBBackup } from "../../src/api/backup.ts";
import { validateBackup } from "../../src/api/validate-backup.ts";
import { agentDeployment } from "../../src/build/backup-deployment.ts";
import { backupUrl } from "../../src/build/backup-url.ts";
import { goJsonOf } from "../../src/build/go-json.ts";
import type { Case } from "./check.ts";
import { compare } from "./comparison.ts";
import type { Outcome } from "./comparison.ts";

export function checkBackupCase(vector: Case): Outcome[] {
  const backup = vector["backup"] as FoundationDBBackup;
  const expected = vector["deployment"] as Record<string, unknown> | null | undefined;
  const made = agentDeployment(backup);
  const isRefused = !made.ok || validateBackup(backup).length > 0;
  const outcomes: Outcome[] = [];
  if (vector["isDeploymentRefused"] === true || vector["isUrlRefused"] === true) {
    outcomes.push(compare("whether it fails", true, isRefused));
  } else if (vector["url"] !== undefined) {
    outcomes.push(compare("url", vector["url"], backupUrl(backup)));
  }
  if (expected === undefined || !made.ok) return outcomes;
  if (made.value === undefined || expected === null) {
    return [...outcomes, compare("deployment", expected, made.value ?? null)];
  }
  const { metadata, spec } = made.value;
  const written: unknown = JSON.parse(goJsonOf("DeploymentSpec", spec));
  return [
    ...outcomes,
    compare("metadata", expected["metadata"], metadata),
    compare("spec", expected["spec"], written),
  ];
}
