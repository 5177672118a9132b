// Alarms of databases and of the clusters that they run in.
import { cluster, each, ofCluster, same } from "./alarm.ts";
import type { Alarm } from "./alarm.ts";

const status = `fdb_operator_cluster_status{${cluster},status_type="available"}`;
const configured = `fdb_operator_cluster_configured{${cluster}}`;
const of = (name: string, more = ""): string => `${name}{${cluster}${more}}`;
const database = (name: string, more = ""): string => of(`fdb_database_${name}`, more);

/** What ratekeeper aims at: storage servers at 1 GB of queue, logs at 2.4 GB. */
const storageQueueBytes = 1_000_000_000;
const logQueueBytes = 2_400_000_000;

export const databaseAlarms: readonly Alarm[] = [
  {
    name: "FoundationDBUnavailable",
    severity: "critical",
    forMinutes: 2,
    expression: () =>
      `max ${each} (fdb_operator_cluster_status{status_type="available"}) == 0 and ${same} max ${each} (fdb_operator_cluster_configured) == 1 unless ${same} max ${each} (fdb_operator_cluster_hibernated) == 1`,
    summary: "The database {{ $labels.namespace }}/{{ $labels.name }} does not serve.",
    labels: ofCluster,
    fires: [
      {
        title: "it was created and does not serve",
        series: { [status]: "0x10", [configured]: "1x10" },
        says: "The database shop/orders does not serve.",
        atMinutes: 4,
      },
    ],
    quiet: [
      { title: "it serves", series: { [status]: "1x10", [configured]: "1x10" }, atMinutes: 4 },
      {
        title: "it is only to be created",
        series: { [status]: "0x10", [configured]: "0x10" },
        atMinutes: 8,
      },
      {
        title: "it sleeps",
        series: {
          [status]: "0x10",
          [configured]: "1x10",
          [of("fdb_operator_cluster_hibernated")]: "1x10",
        },
        atMinutes: 8,
      },
      {
        title: "a recovery of a minute",
        series: { [status]: "1 1 0 1 1 1 1", [configured]: "1x10" },
        atMinutes: 5,
      },
    ],
  },
  {
    name: "FoundationDBStatusMissing",
    severity: "warning",
    forMinutes: 5,
    expression: () => `min ${each} (fdb_database_status_age_seconds) > 300`,
    summary:
      "The operator has had no status of the database {{ $labels.namespace }}/{{ $labels.name }} for {{ $value | humanizeDuration }}.",
    labels: ofCluster,
    fires: [
      {
        title: "nobody answers",
        series: { [database("status_age_seconds")]: "0+60x30" },
        says: "The operator has had no status of the database shop/orders for 15m 0s.",
        atMinutes: 15,
      },
    ],
    quiet: [
      {
        title: "it answers now and then",
        series: { [database("status_age_seconds")]: "30 60 90 30 60 90 30 60 90 30 60 90" },
        atMinutes: 11,
      },
      {
        title: "another instance hears it",
        series: {
          [`fdb_database_status_age_seconds{${cluster},pod="a"}`]: "0+60x30",
          [`fdb_database_status_age_seconds{${cluster},pod="b"}`]: "20x30",
        },
        atMinutes: 20,
      },
    ],
  },
  {
    name: "FoundationDBFaultToleranceLow",
    severity: "warning",
    forMinutes: 30,
    expression: () =>
      `min ${each} (fdb_database_tolerated_zone_failures) < ${same} max ${each} (fdb_database_desired_tolerated_zone_failures)`,
    summary:
      "The database {{ $labels.namespace }}/{{ $labels.name }} survives the loss of fewer zones than its redundancy mode promises, for half an hour.",
    labels: ofCluster,
    fires: [
      {
        title: "availability falls short",
        series: {
          [database("tolerated_zone_failures", ',without_losing="data"')]: "1x60",
          [database("tolerated_zone_failures", ',without_losing="availability"')]: "0x60",
          [database("desired_tolerated_zone_failures")]: "1x60",
        },
        says: "The database shop/orders survives the loss of fewer zones than its redundancy mode promises, for half an hour.",
        atMinutes: 35,
      },
      {
        title: "copies of data fall short",
        series: {
          [database("tolerated_zone_failures", ',without_losing="data"')]: "0x60",
          [database("tolerated_zone_failures", ',without_losing="availability"')]: "1x60",
          [database("desired_tolerated_zone_failures")]: "1x60",
        },
        says: "The database shop/orders survives the loss of fewer zones than its redundancy mode promises, for half an hour.",
        atMinutes: 35,
      },
    ],
    quiet: [
      {
        title: "all is well",
        series: {
          [database("tolerated_zone_failures", ',without_losing="data"')]: "1x60",
          [database("tolerated_zone_failures", ',without_losing="availability"')]: "1x60",
          [database("desired_tolerated_zone_failures")]: "1x60",
        },
        atMinutes: 50,
      },
      {
        title: "it heals in time",
        series: {
          [database("tolerated_zone_failures", ',without_losing="data"')]: "0x20 1x60",
          [database("desired_tolerated_zone_failures")]: "1x80",
        },
        atMinutes: 50,
      },
      {
        title: "a mode without redundancy",
        series: {
          [database("tolerated_zone_failures", ',without_losing="data"')]: "0x60",
          [database("desired_tolerated_zone_failures")]: "0x60",
        },
        atMinutes: 50,
      },
    ],
  },
  {
    name: "FoundationDBDataAtRisk",
    severity: "critical",
    forMinutes: 5,
    expression: () =>
      `min ${each} (fdb_database_replicas_left) <= 1 and ${same} max ${each} (fdb_database_desired_tolerated_zone_failures) >= 1`,
    summary:
      "The database {{ $labels.namespace }}/{{ $labels.name }} has data of which so many copies are left: {{ $value }}. Losing one more zone may lose it.",
    labels: ofCluster,
    fires: [
      {
        title: "one copy is left",
        series: {
          [database("replicas_left")]: "1x20",
          [database("desired_tolerated_zone_failures")]: "1x20",
        },
        says: "The database shop/orders has data of which so many copies are left: 1. Losing one more zone may lose it.",
        atMinutes: 8,
      },
    ],
    quiet: [
      {
        title: "two copies",
        series: {
          [database("replicas_left")]: "2x20",
          [database("desired_tolerated_zone_failures")]: "1x20",
        },
        atMinutes: 15,
      },
      {
        title: "a mode with one copy",
        series: {
          [database("replicas_left")]: "1x20",
          [database("desired_tolerated_zone_failures")]: "0x20",
        },
        atMinutes: 15,
      },
      {
        title: "a pod that comes back",
        series: {
          [database("replicas_left")]: "2 1 1 1 2x20",
          [database("desired_tolerated_zone_failures")]: "1x20",
        },
        atMinutes: 15,
      },
    ],
  },
  {
    name: "FoundationDBRecoveryStorm",
    severity: "warning",
    forMinutes: 0,
    expression: (time) =>
      `max ${each} (increase(fdb_operator_recoveries_total[${time.span(15)}])) > 6`,
    summary:
      "The database {{ $labels.namespace }}/{{ $labels.name }} has recovered {{ $value | humanize }} times within 15 minutes; each is a pause of seconds.",
    labels: ofCluster,
    fires: [
      {
        title: "a recovery every minute",
        series: { [of("fdb_operator_recoveries_total")]: "0+1x30" },
        says: "The database shop/orders has recovered 15 times within 15 minutes; each is a pause of seconds.",
        atMinutes: 20,
      },
    ],
    quiet: [
      {
        title: "an upgrade",
        series: { [of("fdb_operator_recoveries_total")]: "0 0 0 1 2 3 3 4 4x30" },
        atMinutes: 12,
      },
      {
        title: "an operator that begins anew",
        series: { [of("fdb_operator_recoveries_total")]: "40x10 0x10" },
        atMinutes: 15,
      },
    ],
  },
  {
    name: "FoundationDBStorageLag",
    severity: "warning",
    forMinutes: 10,
    expression: () => `max ${each} (fdb_database_storage_lag_seconds) > 60`,
    summary:
      "A storage server of {{ $labels.namespace }}/{{ $labels.name }} is {{ $value | humanizeDuration }} behind; reads from it are slow or fail.",
    labels: ofCluster,
    fires: [
      {
        title: "a minute and a half behind",
        series: { [database("storage_lag_seconds")]: "90x30" },
        says: "A storage server of shop/orders is 1m 30s behind; reads from it are slow or fail.",
        atMinutes: 12,
      },
    ],
    quiet: [
      {
        title: "a few seconds",
        series: { [database("storage_lag_seconds")]: "5x30" },
        atMinutes: 20,
      },
      {
        title: "a server that catches up",
        series: { [database("storage_lag_seconds")]: "300 200 100 50 5x30" },
        atMinutes: 15,
      },
    ],
  },
  {
    name: "FoundationDBQueueNearLimit",
    severity: "warning",
    forMinutes: 5,
    expression: () =>
      `max by (namespace, name, role) (fdb_database_queue_bytes{role="storage"}) > ${0.8 * storageQueueBytes} or max by (namespace, name, role) (fdb_database_queue_bytes{role="log"}) > ${0.8 * logQueueBytes}`,
    summary:
      "A {{ $labels.role }} server of {{ $labels.namespace }}/{{ $labels.name }} has {{ $value | humanize1024 }}B in its queue; the database slows transactions down.",
    labels: { ...ofCluster, role: "storage" },
    fires: [
      {
        title: "the queue of a storage server",
        series: { [database("queue_bytes", ',role="storage"')]: "900000000x20" },
        says: "A storage server of shop/orders has 858.3MiB in its queue; the database slows transactions down.",
        atMinutes: 8,
      },
      {
        title: "the queue of a log",
        series: { [database("queue_bytes", ',role="log"')]: "2000000000x20" },
        says: "A log server of shop/orders has 1.863GiB in its queue; the database slows transactions down.",
        labels: { ...ofCluster, role: "log" },
        atMinutes: 8,
      },
    ],
    quiet: [
      {
        title: "the same queue of a log",
        series: { [database("queue_bytes", ',role="log"')]: "900000000x20" },
        atMinutes: 15,
      },
      {
        title: "small queues",
        series: { [database("queue_bytes", ',role="storage"')]: "20000x20" },
        atMinutes: 15,
      },
    ],
  },
  {
    name: "FoundationDBDiskFilling",
    severity: "warning",
    forMinutes: 60,
    expression: (time) =>
      `predict_linear(fdb_database_least_free_bytes[${time.span(360)}], ${time.seconds(1440)}) < 0`,
    summary:
      "At this rate the fullest {{ $labels.role }} server of {{ $labels.namespace }}/{{ $labels.name }} has no room left within a day.",
    labels: { ...ofCluster, role: "storage" },
    fires: [
      {
        title: "a gigabyte every 10 minutes",
        series: { [database("least_free_bytes", ',role="storage"')]: "100000000000-100000000x600" },
        says: "At this rate the fullest storage server of shop/orders has no room left within a day.",
        atMinutes: 480,
      },
    ],
    quiet: [
      {
        title: "it stays",
        series: { [database("least_free_bytes", ',role="storage"')]: "60000000000x600" },
        atMinutes: 480,
      },
      {
        title: "room for a year",
        series: { [database("least_free_bytes", ',role="storage"')]: "1000000000000-1000000x600" },
        atMinutes: 480,
      },
    ],
  },
  {
    name: "FoundationDBCertificateExpiring",
    severity: "warning",
    forMinutes: 30,
    expression: () =>
      `min ${each} (fdb_operator_certificate_expiry_timestamp_seconds) - time() < 14 * 86400`,
    summary:
      "A certificate of {{ $labels.namespace }}/{{ $labels.name }} expires in {{ $value | humanizeDuration }}.",
    labels: ofCluster,
    fires: [
      {
        title: "ten days are left",
        series: { [of("fdb_operator_certificate_expiry_timestamp_seconds")]: "867600x60" },
        says: "A certificate of shop/orders expires in 10d 0h 0m 0s.",
        atMinutes: 60,
      },
    ],
    quiet: [
      {
        title: "a month is left",
        series: { [of("fdb_operator_certificate_expiry_timestamp_seconds")]: "2592000x60" },
        atMinutes: 60,
      },
      {
        title: "it is renewed in time",
        series: {
          [of("fdb_operator_certificate_expiry_timestamp_seconds")]: "1209600x20 7776000x60",
        },
        atMinutes: 50,
      },
    ],
  },
  {
    name: "FoundationDBCertificateOutdated",
    severity: "warning",
    forMinutes: 1440,
    expression: () => `max ${each} (fdb_operator_certificate_outdated) > 0`,
    summary:
      "A process of {{ $labels.namespace }}/{{ $labels.name }} still shows an old certificate, a day after others have the new one.",
    labels: ofCluster,
    fires: [
      {
        title: "it never reads the new one",
        series: { [of("fdb_operator_certificate_outdated")]: "1x1500" },
        says: "A process of shop/orders still shows an old certificate, a day after others have the new one.",
        atMinutes: 1450,
      },
    ],
    quiet: [
      {
        title: "it reads it after twelve hours",
        series: { [of("fdb_operator_certificate_outdated")]: "1x720 0x800" },
        atMinutes: 1450,
      },
      {
        title: "all have read it",
        series: { [of("fdb_operator_certificate_outdated")]: "0x1500" },
        atMinutes: 1450,
      },
    ],
  },
  {
    name: "FoundationDBProcessCrashLoop",
    severity: "warning",
    forMinutes: 0,
    expression: () => `max ${each} (fdb_database_restarts_of_one_process) >= 5`,
    summary:
      "A process of {{ $labels.namespace }}/{{ $labels.name }} has started anew {{ $value }} times within half an hour.",
    labels: ofCluster,
    fires: [
      {
        title: "five starts",
        series: { [database("restarts_of_one_process")]: "0 1 2 3 4 5x10" },
        says: "A process of shop/orders has started anew 5 times within half an hour.",
        atMinutes: 6,
      },
    ],
    quiet: [
      {
        title: "an upgrade and a new knob",
        series: { [database("restarts_of_one_process")]: "0 1 2 2x30" },
        atMinutes: 20,
      },
      {
        title: "one start short of it",
        series: { [database("restarts_of_one_process")]: "0 1 2 3 4x30" },
        atMinutes: 20,
      },
    ],
  },
  {
    name: "FoundationDBCoordinatorLost",
    severity: "warning",
    forMinutes: 15,
    expression: () =>
      `max ${each} (fdb_database_coordinators) - ${same} max ${each} (fdb_database_coordinators_reachable) > 0`,
    summary:
      "Coordinators of {{ $labels.namespace }}/{{ $labels.name }} that have been away for a quarter of an hour: {{ $value }}. Without a majority of them there is no database.",
    labels: ofCluster,
    fires: [
      {
        title: "two of three answer",
        series: {
          [database("coordinators")]: "3x30",
          [database("coordinators_reachable")]: "2x30",
        },
        says: "Coordinators of shop/orders that have been away for a quarter of an hour: 1. Without a majority of them there is no database.",
        atMinutes: 18,
      },
    ],
    quiet: [
      {
        title: "all answer",
        series: {
          [database("coordinators")]: "3x30",
          [database("coordinators_reachable")]: "3x30",
        },
        atMinutes: 25,
      },
      {
        title: "another one takes its place",
        series: {
          [database("coordinators")]: "3x30",
          [database("coordinators_reachable")]: "3 2 2 2 3x30",
        },
        atMinutes: 25,
      },
    ],
  },
  {
    name: "FoundationDBNeedsPerson",
    severity: "warning",
    forMinutes: 0,
    expression: () => `max ${each} (fdb_operator_needs_person_seconds) > 900`,
    summary:
      "The cluster {{ $labels.namespace }}/{{ $labels.name }} has waited for {{ $value | humanizeDuration }} for something that only a person can do: kubectl fdb explain {{ $labels.name }} -n {{ $labels.namespace }}.",
    labels: ofCluster,
    fires: [
      {
        title: "it waits",
        series: { [of("fdb_operator_needs_person_seconds")]: "0+60x30" },
        says: "The cluster shop/orders has waited for 20m 0s for something that only a person can do: kubectl fdb explain orders -n shop.",
        atMinutes: 20,
      },
    ],
    quiet: [
      {
        title: "it does not",
        series: { [of("fdb_operator_needs_person_seconds")]: "0x30" },
        atMinutes: 20,
      },
      {
        title: "somebody helped",
        series: { [of("fdb_operator_needs_person_seconds")]: "0+60x10 0x20" },
        atMinutes: 20,
      },
    ],
  },
  {
    name: "FoundationDBUpgradeStuck",
    severity: "warning",
    forMinutes: 60,
    expression: () => `max ${each} (fdb_operator_cluster_upgrading) == 1`,
    summary:
      "The database {{ $labels.namespace }}/{{ $labels.name }} has run another version than its spec names for an hour.",
    labels: ofCluster,
    fires: [
      {
        title: "an upgrade that does not end",
        series: { [of("fdb_operator_cluster_upgrading")]: "1x90" },
        says: "The database shop/orders has run another version than its spec names for an hour.",
        atMinutes: 65,
      },
    ],
    quiet: [
      {
        title: "an upgrade of 20 minutes",
        series: { [of("fdb_operator_cluster_upgrading")]: "0 1x20 0x60" },
        atMinutes: 70,
      },
      {
        title: "two upgrades within an hour and a half",
        series: { [of("fdb_operator_cluster_upgrading")]: "1x40 0x5 1x60" },
        atMinutes: 90,
      },
    ],
  },
];
