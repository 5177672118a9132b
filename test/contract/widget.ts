// A small custom resource that a case defines for itself, in an API group of its own.
import type { Json, Target } from "./target.ts";
import { asList, at } from "./target.ts";

export interface WidgetKind {
  readonly group: string;
  /** Of the definition. */
  readonly name: string;
  readonly path: string;
  at(name: string, subresource?: string): string;
  widget(name: string, body?: Json, metadata?: Json): Json;
}

export function widgetKind(target: Target): WidgetKind {
  const group = `${target.namespace}.example.com`;
  const plural = `${group}/v1/widgets`;
  return {
    group,
    name: `widgets.${group}`,
    path: target.path(plural),
    at: (name, subresource) => target.path(plural, name, subresource),
    widget: (name, body = {}, metadata = {}) => ({
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name, ...metadata },
      ...body,
    }),
  };
}

/** `properties` are those of the object's root; `version` adds to the version, as columns do. */
export function widgetDefinition(target: Target, properties: Json, version: Json = {}): Json {
  const kind = widgetKind(target);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: kind.name },
    spec: {
      group: kind.group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties } },
          ...version,
        },
      ],
    },
  };
}

export async function installWidgets(
  target: Target,
  properties: Json = { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  version: Json = {},
): Promise<WidgetKind> {
  await target.create(
    target.path("customresourcedefinitions"),
    widgetDefinition(target, properties, version),
  );
  const kind = widgetKind(target);
  await established(target, kind.name);
  await target.eventually(`${kind.path} is served`, async () => {
    const response = await target.send("GET", kind.path);
    return response.status === 200 ? true : undefined;
  });
  return kind;
}

export function established(target: Target, name: string): Promise<Json> {
  const path = target.path("customresourcedefinitions", name);
  return target.eventually(`${name} is established`, async () => {
    const definition = await target.get(path);
    const isReady = asList(at(definition, "status.conditions")).some(
      (condition) => at(condition, "type") === "Established" && at(condition, "status") === "True",
    );
    return isReady ? definition : undefined;
  });
}
