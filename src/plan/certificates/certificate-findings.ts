// What certificates of the processes say about the cluster: when the first expires, and who still shows an old one. Until all
// were looked at, the last finding stands. Rules: spec/certificates.md [CERT4]-[CERT8].
import type { ClusterStatus, Condition } from "../../api/cluster.ts";
import { conditionIn } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { SeenCertificate } from "../../model/certificate.ts";
import type { Snapshot } from "../snapshot.ts";
import { nameList } from "../wait.ts";
import type { CertificateTarget } from "./certificate-targets.ts";

type Judgement = Pick<Condition, "status" | "reason" | "message">;

export interface CertificateFindings {
  certificates?: ClusterStatus["certificates"];
  /** Conditions that hold. */
  judgements: Readonly<Record<string, Judgement>>;
}

interface Shown extends SeenCertificate {
  readonly processGroupId: string;
}

const dayMs = 86_400_000;
const warningMs = 14 * dayMs;
/** Whoever shows a certificate chooses how long the name of its issuer is. */
const issuerLengthMax = 1024;
const toldLengthMax = 200;

type Input = Pick<Snapshot, "certificates" | "cluster" | "nowMs">;

export function certificateFindings(
  { certificates: seen, cluster, nowMs }: Input,
  targets: readonly CertificateTarget[],
): CertificateFindings {
  if (targets.length === 0) {
    const isTls = cluster.status?.requiredAddresses?.tls === true;
    return isTls ? lastFindings(cluster.status) : { judgements: {} };
  }
  if (targets.some(({ key }) => seen?.has(key) !== true)) return lastFindings(cluster.status);
  const shown = targets.flatMap(({ key, processGroupId }): Shown[] => {
    const found = seen?.get(key);
    return found?.kind === "shown" ? [{ ...found.certificate, processGroupId }] : [];
  });
  const [first, ...others] = shown;
  if (first === undefined) return lastFindings(cluster.status);
  const earliest = others.reduce(
    (least, each) => (each.notAfterMs < least.notAfterMs ? each : least),
    first,
  );
  const issuer = earliest.issuer.slice(0, issuerLengthMax);
  return {
    certificates: { expires: formatTime(earliest.notAfterMs), issuer },
    judgements: { ...expiring(shown, earliest, nowMs), ...outdated(shown) },
  };
}

/** Nobody has been asked yet, or nobody answers. */
function lastFindings(status: ClusterStatus | undefined): CertificateFindings {
  const judgements: Record<string, Judgement> = {};
  for (const type of ["CertificateExpiring", "CertificateOutdated"]) {
    const found = conditionIn(status, type);
    if (found === undefined) continue;
    judgements[type] = { status: found.status, reason: found.reason, message: found.message };
  }
  const { certificates } = status ?? {};
  return { ...(certificates === undefined ? {} : { certificates }), judgements };
}

const reloads =
  "FoundationDB reads changed files by itself, within 12 hours unless a knob says otherwise (docs/certificates.md)";

/** Those that end with the first one are named; when they end is said by the time, not by days that pass. */
function expiring(
  shown: readonly Shown[],
  earliest: Shown,
  nowMs: number,
): Record<string, Judgement> {
  if (earliest.notAfterMs - nowMs > warningMs) return {};
  const alike = shown.filter(({ notAfterMs }) => notAfterMs === earliest.notAfterMs);
  const ids = idsOf(alike);
  const isOver = earliest.notAfterMs <= nowMs;
  const what = `The ${ids.length === 1 ? "certificate" : "certificates"} of ${nameList(ids)}, issued by ${toldIssuer(earliest)}, ${isOver ? "expired" : ids.length === 1 ? "expires" : "expire"} at ${formatTime(earliest.notAfterMs)}`;
  const effect = isOver
    ? "No new connection to them succeeds"
    : "From then on no new connection succeeds";
  const message = `${what}. ${effect}. Renew the Secret that the pods mount: ${reloads}`;
  const reason = isOver ? "CertificateExpired" : "CertificateExpiring";
  return { CertificateExpiring: { status: "True", reason, message } };
}

function toldIssuer({ issuer }: Shown): string {
  return issuer.length > toldLengthMax ? `${issuer.slice(0, toldLengthMax)}…` : issuer;
}

function outdated(shown: readonly Shown[]): Record<string, Judgement> {
  const sameNames = Map.groupBy(shown, ({ subject, names }) => `${subject}\n${names}`);
  const old = [...sameNames.values()].flatMap((alike) => {
    const newestMs = alike.reduce((most, { notBeforeMs }) => Math.max(most, notBeforeMs), 0);
    return alike.filter(({ notBeforeMs }) => notBeforeMs < newestMs);
  });
  if (old.length === 0) return {};
  const ids = idsOf(old);
  const message = `${nameList(ids)} still ${ids.length === 1 ? "shows" : "show"} an older certificate than other processes. ${reloads}`;
  return { CertificateOutdated: { status: "True", reason: "CertificateOutdated", message } };
}

function idsOf(shown: readonly Shown[]): string[] {
  return [...new Set(shown.map(({ processGroupId }) => processGroupId))];
}
