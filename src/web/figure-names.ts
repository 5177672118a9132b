// The figures that are kept over the last minutes, and how they are grouped into plots. Rules: spec/web.md [WEB6].
import type { DatabaseFigures } from "../model/database-figures.ts";

export type FigureUnit = "per second" | "seconds" | "bytes" | "count";

export interface FigurePlot {
  readonly id: string;
  readonly title: string;
  readonly unit: FigureUnit;
  readonly series: readonly { readonly name: FigureName; readonly title: string }[];
}

export type FigureName = Extract<
  keyof DatabaseFigures,
  | ("committedPerSecond" | "conflictedPerSecond" | "readsPerSecond" | "writesPerSecond")
  | ("startSeconds" | "readSeconds" | "commitSeconds")
  | ("storageLagSeconds" | "dataCenterLagSeconds" | "storageQueueBytes" | "logQueueBytes")
  | ("movingBytes" | "freeStorageBytes" | "freeLogBytes" | "dataBytes" | "diskBytes")
  | ("processes" | "clients")
>;

/** In the order in which they are drawn. */
export const figurePlots: readonly FigurePlot[] = [
  {
    ...{ id: "transactions", title: "Transactions", unit: "per second" },
    series: [
      { name: "committedPerSecond", title: "committed" },
      { name: "conflictedPerSecond", title: "conflicted" },
    ],
  },
  {
    ...{ id: "operations", title: "Operations", unit: "per second" },
    series: [
      { name: "readsPerSecond", title: "reads" },
      { name: "writesPerSecond", title: "writes" },
    ],
  },
  {
    ...{ id: "latency", title: "Latency", unit: "seconds" },
    series: [
      { name: "startSeconds", title: "start" },
      { name: "readSeconds", title: "read" },
      { name: "commitSeconds", title: "commit" },
    ],
  },
  {
    ...{ id: "lag", title: "Lag", unit: "seconds" },
    series: [
      { name: "storageLagSeconds", title: "storage servers" },
      { name: "dataCenterLagSeconds", title: "datacenters" },
    ],
  },
  {
    ...{ id: "queues", title: "Queues", unit: "bytes" },
    series: [
      { name: "storageQueueBytes", title: "storage servers" },
      { name: "logQueueBytes", title: "logs" },
    ],
  },
  {
    ...{ id: "moving", title: "Data in motion", unit: "bytes" },
    series: [{ name: "movingBytes", title: "moving" }],
  },
  {
    ...{ id: "free", title: "Free space", unit: "bytes" },
    series: [
      { name: "freeStorageBytes", title: "fullest storage server" },
      { name: "freeLogBytes", title: "fullest log" },
    ],
  },
  {
    ...{ id: "data", title: "Data", unit: "bytes" },
    series: [
      { name: "dataBytes", title: "keys and values" },
      { name: "diskBytes", title: "on disk" },
    ],
  },
  {
    ...{ id: "processes", title: "Processes and clients", unit: "count" },
    series: [
      { name: "processes", title: "processes" },
      { name: "clients", title: "clients" },
    ],
  },
];
