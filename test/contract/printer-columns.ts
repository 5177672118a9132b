// Lists as tables, with the columns of their kind.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import type { Json } from "./target.ts";
import { asList, at, pick } from "./target.ts";
import { installWidgets } from "./widget.ts";

function spec(properties: Json): Json {
  return { spec: { type: "object", properties } };
}

export const printerColumnCases = capability("printer columns", [
  [
    "[KC28] a definition's columns stand in the table after the name, without an age",
    async (target) => {
      const kind = await installWidgets(
        target,
        spec({ x: { type: "integer" }, ready: { type: "boolean" } }),
        {
          additionalPrinterColumns: [
            { name: "X", type: "integer", jsonPath: ".spec.x", description: "The x." },
            { name: "Ready", type: "boolean", jsonPath: ".spec.ready", priority: 1 },
          ],
        },
      );
      await target.create(kind.path, kind.widget("a", { spec: { x: 5, ready: true } }));
      await target.create(kind.path, kind.widget("b"));
      const table = await target.table(kind.path);
      const columns = asList(table["columnDefinitions"]).map((column) =>
        pick(column, "name", "type", "format", "priority"),
      );
      assert.deepEqual(columns, [
        { name: "Name", type: "string", format: "name", priority: 0 },
        { name: "X", type: "integer", format: "", priority: 0 },
        { name: "Ready", type: "boolean", format: "", priority: 1 },
      ]);
      assert.deepEqual(
        asList(table["rows"]).map((row) => at(row, "cells")),
        [
          ["a", 5, true],
          ["b", null, null],
        ],
      );
    },
  ],
  [
    "[KC28] without columns there are name and age",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      const table = await target.table(kind.path);
      assert.deepEqual(
        asList(table["columnDefinitions"]).map((column) => at(column, "name")),
        ["Name", "Age"],
      );
      assert.deepEqual(pick(table, "kind", "apiVersion"), {
        kind: "Table",
        apiVersion: "meta.k8s.io/v1",
      });
    },
  ],
  [
    "[KC28] a row carries the metadata of its object",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      const table = await target.table(kind.at("a"));
      assert.deepEqual(
        pick(at(table, "rows.0.object"), "kind", "apiVersion", "metadata.name", "spec"),
        {
          kind: "PartialObjectMetadata",
          apiVersion: "meta.k8s.io/v1",
          "metadata.name": "a",
          spec: undefined,
        },
      );
    },
  ],
  [
    "[KC28] a filter picks one item of a list",
    async (target) => {
      const item = {
        type: "object",
        properties: { type: { type: "string" }, status: { type: "string" } },
      };
      const kind = await installWidgets(
        target,
        spec({ conditions: { type: "array", items: item } }),
        {
          additionalPrinterColumns: [
            {
              name: "Available",
              type: "string",
              jsonPath: '.spec.conditions[?(@.type=="Available")].status',
            },
          ],
        },
      );
      const conditions = [
        { type: "Other", status: "False" },
        { type: "Available", status: "True" },
      ];
      await target.create(kind.path, kind.widget("a", { spec: { conditions } }));
      const table = await target.table(kind.path);
      assert.deepEqual(at(table, "rows.0.cells"), ["a", "True"]);
    },
  ],
  [
    "[KC28] dates become ages",
    async (target) => {
      const kind = await installWidgets(target, spec({}), {
        additionalPrinterColumns: [
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
      });
      await target.create(kind.path, kind.widget("a"));
      const table = await target.table(kind.path);
      assert.match(String(at(table, "rows.0.cells.1")), /^\d+s$/);
    },
  ],
  [
    "[KC28] pods have their own columns",
    async (target) => {
      await target.create(target.path("pods"), {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "a" },
        spec: { containers: [{ name: "main", image: "i:1" }] },
      });
      const table = await target.table(target.path("pods"));
      const columns = asList(table["columnDefinitions"]).map((column) => at(column, "name"));
      assert.deepEqual(columns.slice(0, 5), ["Name", "Ready", "Status", "Restarts", "Age"]);
      assert.deepEqual(asList(at(table, "rows.0.cells")).slice(0, 3), ["a", "0/1", "Pending"]);
    },
  ],
]);
