// Label and field selectors in the text form of the query, parsed once per request. The errors are worded
// as the API server words them.
import { isJsonObject, type JsonObject } from "./json.ts";
import { badRequest } from "./status.ts";

export interface Requirement {
  key: string;
  operator: "=" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";
  values: readonly string[];
}

export type LabelSelector = readonly Requirement[];

export function parseLabelSelector(text: string): LabelSelector {
  return new LabelParser(text).parse();
}

const symbols = ["==", "!=", "=", "!", ",", "(", ")", "<", ">"];

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  let position = 0;
  while (position < text.length) {
    const rest = text.slice(position);
    const space = /^\s+/.exec(rest);
    if (space !== null) {
      position += space[0].length;
      continue;
    }
    const symbol = symbols.find((candidate) => rest.startsWith(candidate));
    const token = symbol ?? /^[^\s=!,()<>]+/.exec(rest)?.[0] ?? rest;
    tokens.push(token);
    position += token.length;
  }
  return tokens;
}

class LabelParser {
  readonly tokens: string[];
  position = 0;

  constructor(text: string) {
    this.tokens = tokenize(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    if (this.tokens.length === 0) return requirements;
    for (;;) {
      requirements.push(this.requirement());
      const separator = this.take();
      if (separator === undefined) return requirements;
      if (separator !== ",") {
        throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
      }
      const following = this.tokens[this.position];
      if (following === undefined || following === ",") {
        throw badRequest(`found '${following ?? ""}', expected: identifier after ','`);
      }
    }
  }

  take(): string | undefined {
    const token = this.tokens[this.position];
    this.position += 1;
    return token;
  }

  requirement(): Requirement {
    let key = this.take();
    const isAbsence = key === "!";
    if (isAbsence) key = this.take();
    if (key === undefined || symbols.includes(key)) {
      throw badRequest(`found '${key ?? ""}', expected: !, identifier, or 'end of string'`);
    }
    checkLabelKey(key);
    if (isAbsence) return { key, operator: "!", values: [] };
    const operator = this.tokens[this.position];
    if (operator === undefined || operator === ",") return { key, operator: "exists", values: [] };
    this.position += 1;
    return this.comparison(key, operator);
  }

  comparison(key: string, operator: string): Requirement {
    switch (operator) {
      case "=":
      case "==":
      case "!=":
        return { key, operator: operator === "!=" ? "!=" : "=", values: [this.exactValue(key)] };
      case "in":
      case "notin":
        return { key, operator, values: this.valueList() };
      case "<":
      case ">": {
        const value = this.exactValue(key);
        if (!/^-?\d+$/.test(value)) {
          throw badRequest(
            `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ` +
              "for 'Gt', 'Lt' operators, the value must be an integer",
          );
        }
        return { key, operator: operator === "<" ? "lt" : "gt", values: [value] };
      }
      default:
        throw selectorError(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  exactValue(key: string): string {
    const next = this.tokens[this.position];
    if (next === undefined || next === ",") return "";
    if (symbols.includes(next)) throw selectorError(`found '${next}', expected: identifier`);
    this.position += 1;
    checkLabelValue(key, next);
    return next;
  }

  valueList(): string[] {
    const open = this.take();
    if (open !== "(") throw selectorError(`found '${open ?? ""}' expected: '('`);
    const values: string[] = [];
    let expectsValue = true;
    for (;;) {
      const token = this.take();
      if (token === undefined) throw selectorError(`found '', expected: ',', or ')'`);
      if (token === ")") {
        if (expectsValue) values.push("");
        return values.sort();
      }
      if (token === ",") {
        if (expectsValue) values.push("");
        expectsValue = true;
      } else {
        values.push(token);
        expectsValue = false;
      }
    }
  }
}

function selectorError(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

const labelNameForm = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

function checkLabelKey(key: string): void {
  const name = key.slice(key.lastIndexOf("/") + 1);
  if (labelNameForm.test(name) && name.length <= 63) return;
  throw selectorError(
    `<nil>: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, ` +
      "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or " +
      "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  );
}

function checkLabelValue(key: string, value: string): void {
  if (value === "" || (labelNameForm.test(value) && value.length <= 63)) return;
  throw selectorError(
    `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of ` +
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
      "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  );
}

export function matchesLabels(selector: LabelSelector, labels: unknown): boolean {
  const values = isJsonObject(labels) ? labels : {};
  return selector.every((requirement) => requirementHolds(requirement, values));
}

function requirementHolds({ key, operator, values }: Requirement, labels: JsonObject): boolean {
  const actual = labels[key];
  const isPresent = typeof actual === "string";
  switch (operator) {
    case "exists":
      return isPresent;
    case "!":
      return !isPresent;
    case "=":
    case "in":
      return isPresent && values.includes(actual);
    case "!=":
    case "notin":
      return !isPresent || !values.includes(actual);
    case "gt":
      return isPresent && /^-?\d+$/.test(actual) && Number(actual) > Number(values[0]);
    case "lt":
      return isPresent && /^-?\d+$/.test(actual) && Number(actual) < Number(values[0]);
  }
}

/** A metav1.LabelSelector of an object (matchLabels and matchExpressions). */
export function objectSelector(selector: unknown): LabelSelector {
  if (!isJsonObject(selector)) return [];
  const requirements: Requirement[] = [];
  const matchLabels = isJsonObject(selector["matchLabels"]) ? selector["matchLabels"] : {};
  for (const key in matchLabels) {
    requirements.push({ key, operator: "=", values: [String(matchLabels[key])] });
  }
  const expressions = selector["matchExpressions"];
  for (const expression of Array.isArray(expressions) ? expressions : []) {
    if (!isJsonObject(expression)) continue;
    const operators = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!" } as const;
    const operator = operators[String(expression["operator"]) as keyof typeof operators];
    const values = Array.isArray(expression["values"]) ? (expression["values"] as string[]) : [];
    requirements.push({ key: String(expression["key"]), operator, values });
  }
  return requirements;
}

export interface FieldTerm {
  field: string;
  isEqual: boolean;
  value: string;
}

export type FieldSelector = readonly FieldTerm[];

/** Parses and checks a field selector against the fields that the kind knows. */
export function parseFieldSelector(
  text: string,
  knownFields: readonly string[],
  isCustom: boolean,
): FieldSelector {
  const terms: FieldTerm[] = [];
  for (const part of splitFieldTerms(text)) {
    if (part === "") continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = "", operator = "", raw = ""] = match;
    if (!knownFields.includes(field)) throw unknownField(field, knownFields, isCustom);
    const value = raw.replace(/\\(.)/g, "$1");
    terms.push({ field, isEqual: operator !== "!=", value });
  }
  return terms;
}

function unknownField(field: string, knownFields: readonly string[], isCustom: boolean): Error {
  if (knownFields.length === 2 && !isCustom) {
    return badRequest(
      `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
  return badRequest(`field label not supported: ${field}`);
}

function splitFieldTerms(text: string): string[] {
  const parts: string[] = [];
  let current = "";
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    if (character === "\\") {
      current += character + (text[index + 1] ?? "");
      index += 1;
    } else if (character === ",") {
      parts.push(current);
      current = "";
    } else current += character;
  }
  parts.push(current);
  return parts;
}
