// CEL expressions, compiled once and kept: the same few rules are asked of every object.
import { Environment } from "@marcbachmann/cel-js";

export type Answer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly message: string };

export interface CompiledRule {
  readonly usesOldSelf: boolean;
  /** Members of self that the rule reads, or all of them. */
  readonly selfFields: ReadonlySet<string> | "all";
  evaluate(self: unknown, oldSelf: unknown): Answer;
}

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

const compiledRules = new Map<string, CompiledRule>();

export function compiledRule(expression: string, isOldSelfOptional: boolean): CompiledRule {
  const key = `${isOldSelfOptional ? "optional" : "plain"} ${expression}`;
  let compiled = compiledRules.get(key);
  if (compiled === undefined) {
    compiled = compile(expression, isOldSelfOptional);
    compiledRules.set(key, compiled);
  }
  return compiled;
}

/** What is wrong with an expression, or undefined; asked when a CRD is installed. */
export function compileError(expression: string): string | undefined {
  try {
    environment.parse(expression);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const optionals = {
  none: environment.parse("optional.none()"),
  of: environment.parse("optional.of(self)"),
};

function compile(expression: string, isOldSelfOptional: boolean): CompiledRule {
  const usesOldSelf = /\boldSelf\b/.test(expression);
  const parsed = parse(expression);
  const evaluate = (self: unknown, oldSelf: unknown): Answer => {
    if (typeof parsed === "string") return { kind: "error", message: parsed };
    const old = isOldSelfOptional
      ? oldSelf === undefined
        ? optionals.none({})
        : optionals.of({ self: oldSelf })
      : oldSelf;
    try {
      return { kind: "value", value: parsed({ self, oldSelf: old ?? null }) };
    } catch (error) {
      // A rule that fails on an object refuses it; the message says why.
      return { kind: "error", message: messageOf(error) };
    }
  };
  return { usesOldSelf, selfFields: usesOldSelf ? "all" : fieldsOfSelf(expression), evaluate };
}

function parse(expression: string): ((context: Record<string, unknown>) => unknown) | string {
  try {
    return environment.parse(expression);
  } catch (error) {
    return `compilation failed: ${messageOf(error)}`;
  }
}

/** A bare `self`, or a method of it, may read everything. */
function fieldsOfSelf(expression: string): ReadonlySet<string> | "all" {
  const fields = new Set<string>();
  for (const match of expression.matchAll(/\bself\b(?:\.([A-Za-z_]\w*)(\s*\()?)?/g)) {
    const [, field, call] = match;
    if (field === undefined || call !== undefined) return "all";
    fields.add(field);
  }
  return fields;
}

/** The first line says it; the library draws the expression below. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [line = ""] = text.split("\n");
  const index = /index out of bounds, index (\d+)/.exec(line)?.[1];
  if (index !== undefined) return `index out of bounds: ${index}`;
  return line.replace(/^No such key: /, "no such key: ");
}
