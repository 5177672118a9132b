// Localities: the same one may be given in several places, but then it must be the same.
import type { ClusterSpec } from "./cluster-spec.ts";
import { imageTypeOf } from "./effective.ts";
import {
  canonicalLocalityKey,
  localityOf,
  nodeLabelVariable,
  parameterValue,
  resolvedLocality,
  type Locality,
} from "./localities.ts";
import {
  faultDomainKeyHost,
  faultDomainKeyKubernetesCluster,
  faultDomainKeyNone,
} from "./placement-options.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { redundancyOf } from "../model/redundancy.ts";

export function localityProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  return [
    ...(spec.localities ?? []).flatMap((entry, index) => [
      ...topologyProblems(spec, entry, index),
      ...hallProblems(spec, entry, index),
    ]),
    ...["dcid", "data_hall", "zoneid"].flatMap((key) => conflictProblems(spec, key)),
  ];
}

type Entry = NonNullable<ClusterSpec["localities"]>[number];

function topologyProblems(
  spec: ClusterSpec,
  entry: Entry,
  index: number,
): readonly ValidationProblem[] {
  const field = `spec.localities[${index}]`;
  const locality = resolvedLocality(entry);
  const problems: ValidationProblem[] = [];
  const isFromNode =
    locality.source === "topologyKey" &&
    !(locality.key === "zoneid" && locality.topologyKey === faultDomainKeyHost);
  if (isFromNode && imageTypeOf(spec) === "split") {
    const message = "the split image cannot read labels of nodes";
    const remedy = "set imageType to unified, or use value or envValue";
    problems.push(problem(`${field}.topologyKey`, locality.topologyKey, message, remedy));
  }
  if (locality.values.length > 0 && locality.source !== "topologyKey") {
    const message =
      "values choose among the labels of nodes, but the value does not come from nodes";
    problems.push(problem(`${field}.values`, locality.values, message, "set only topologyKey"));
  }
  return problems;
}

/** The modes over three halls know exactly three. */
function hallProblems(
  spec: ClusterSpec,
  entry: Entry,
  index: number,
): readonly ValidationProblem[] {
  const redundancy = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const { key, values, source } = resolvedLocality(entry);
  if (redundancy.spreadLocality !== key || source !== "topologyKey") return [];
  if (values.length === 0 || values.length === 3) return [];
  const message = `${redundancy.mode} needs exactly three values of ${key}, not ${values.length}`;
  return [problem(`spec.localities[${index}].values`, values, message, "name three values")];
}

interface Given {
  readonly field: string;
  /**
   * Where the value comes from: `value:x`, `variable:X` or `field:x`. Equal means the same value.
   */
  readonly meaning: string;
}

function conflictProblems(spec: ClusterSpec, key: string): readonly ValidationProblem[] {
  const [first, ...others] = givenLocalities(spec, key);
  if (first === undefined) return [];
  return others
    .filter((other) => other.meaning !== first.meaning)
    .map((other) =>
      problem(
        other.field,
        other.meaning,
        `${key} is also given by ${first.field}, and differently`,
        `remove ${other.field} or ${first.field}, or make them equal`,
      ),
    );
}

/** Every place that gives a locality, `localities` first. */
function givenLocalities(spec: ClusterSpec, key: string): readonly Given[] {
  const given: Given[] = [];
  const add = (field: string, meaning: string | undefined) => {
    if (meaning !== undefined) given.push({ field, meaning });
  };
  const index = (spec.localities ?? []).findIndex(
    (entry) => canonicalLocalityKey(entry.key) === key,
  );
  const entry = localityOf(spec, key);
  if (entry !== undefined && entry.source !== "none") {
    add(`spec.localities[${index}]`, meaningOf(entry));
  }
  if (key === "dcid") add("spec.dataCenter", valueMeaning(spec.dataCenter));
  if (key === "data_hall") add("spec.dataHall", valueMeaning(spec.dataHall));
  if (key === "zoneid") {
    for (const place of faultDomainMeanings(spec, entry)) add(place.field, place.meaning);
  }
  for (const [processClass, settings] of Object.entries(spec.processes ?? {})) {
    for (const [place, parameter] of (settings.customParameters ?? []).entries()) {
      const field = `spec.processes.${processClass}.customParameters[${place}]`;
      add(field, textMeaning(parameterValue(parameter, `locality_${key}`)));
    }
  }
  return given;
}

function meaningOf(entry: Locality): string {
  if (entry.source === "value") return `value:${entry.value}`;
  if (entry.source === "envValue") return `variable:${entry.envValue}`;
  const isHost = entry.key === "zoneid" && entry.topologyKey === faultDomainKeyHost;
  return isHost ? "field:spec.nodeName" : `variable:${nodeLabelVariable(entry.topologyKey)}`;
}

function valueMeaning(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : `value:${value}`;
}

/** `$NAME` in an argument is a variable. */
function textMeaning(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  return text.startsWith("$") ? `variable:${text.slice(1)}` : `value:${text}`;
}

/** Key and valueFrom are two statements. Without a zone locality they cannot contradict one. */
function faultDomainMeanings(spec: ClusterSpec, zone: Locality | undefined): readonly Given[] {
  if (zone === undefined) return [];
  const { key = "", value = "", valueFrom = "" } = spec.faultDomain ?? {};
  const given: Given[] = [];
  const isOtherKey =
    zone.source === "value" || (zone.topologyKey !== "" && zone.topologyKey !== key);
  if (key === faultDomainKeyKubernetesCluster) {
    given.push({ field: "spec.faultDomain.key", meaning: `value:${value}` });
  } else if (key === faultDomainKeyNone) {
    given.push({ field: "spec.faultDomain.key", meaning: "field:metadata.name" });
  } else if (key !== "" && isOtherKey) {
    given.push({ field: "spec.faultDomain.key", meaning: `node:${key}` });
  }
  if (valueFrom !== "") {
    const meaning = valueFrom.startsWith("$") ? textMeaning(valueFrom) : `field:${valueFrom}`;
    given.push({ field: "spec.faultDomain.valueFrom", meaning: meaning ?? "" });
  }
  return given;
}
