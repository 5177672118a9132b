// A picture without secrets, with which the operator would do the same. It is walked twice: first to learn which values
// are secret, then to replace them wherever they stand. Rules PIC10 to PIC15.
import type { KubeObject } from "../kube/object.ts";
import { variableRules } from "./kept-variables.ts";
import type { Picture } from "./picture.ts";
import { desiredOf, withHashes } from "./picture-hashes.ts";
import { Redaction } from "./redaction.ts";
import { redactObject } from "./redact-object.ts";
import type { RedactionContext } from "./redact-object.ts";
import { redactStatus, wordsOfStatus } from "./redact-status.ts";

export interface RedactedPicture {
  readonly picture: Picture;
  /** For other objects and texts of the same place: the same values get the same placeholders. */
  readonly redactor: Redactor;
}

export interface Redactor {
  object<T>(object: T): T;
  text(text: string): string;
  status(status: unknown): unknown;
  /** How many different values have been replaced so far. */
  readonly count: () => number;
}

/** `others` are objects that are not part of the picture and will be shown beside it. */
export function redactPicture(
  picture: Picture,
  others: {
    objects?: readonly KubeObject[];
    texts?: readonly string[];
    secrets?: readonly string[];
  } = {},
): RedactedPicture {
  const redaction = new Redaction();
  const names = new Set<string>();
  const rules = variableRules(picture.cluster);
  const collecting: RedactionContext = { ...rules, redaction, onName: (name) => names.add(name) };
  for (const secret of others.secrets ?? []) redaction.secret(secret);
  const hidden = redactObject(collecting, picture.cluster);
  for (const object of [...picture.objects, ...(others.objects ?? [])]) {
    redactObject(collecting, object);
  }
  redactStatus(redaction, picture.databaseStatus);
  for (const text of others.texts ?? []) redaction.text(text);
  addBuiltTexts(hidden, names);
  redaction.settle(publicTexts(names, wordsOfStatus(picture.databaseStatus)));
  const context: RedactionContext = { ...rules, redaction };
  const cluster = redactObject(context, picture.cluster);
  const objects = picture.objects.map((object) => redactObject(context, object));
  return {
    picture: {
      ...picture,
      cluster,
      objects: withHashes(picture, { cluster, objects }),
      databaseStatus: redactStatus(redaction, picture.databaseStatus),
      left: picture.left.map(({ what, why }) => ({ what, why: redaction.text(why) })),
    },
    redactor: {
      object: (object) => redactObject(context, object),
      text: (text) => redaction.text(text),
      status: (status) => redactStatus(redaction, status),
      count: () => redaction.count,
    },
  };
}

/** What the operator writes into pods and configuration whatever the secrets are: they cannot be part of it. */
function addBuiltTexts(hidden: Picture["cluster"], names: Set<string>): void {
  const classes = new Set<string>();
  for (const desired of desiredOf(hidden)) {
    addTexts(desired.configMap.data, names);
    for (const group of hidden.status?.processGroups ?? []) {
      if (classes.has(group.processClass)) continue;
      classes.add(group.processClass);
      addTexts(desired.pod(group)?.object, names);
    }
  }
}

function addTexts(value: unknown, found: Set<string>): void {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null) {
    for (const entry of Object.values(value)) addTexts(entry, found);
  }
}

/** Whether a value is part of a text that stays: replacing it elsewhere would tear apart what belongs together. */
function publicTexts(
  names: ReadonlySet<string>,
  words: ReadonlySet<string>,
): (value: string) => boolean {
  const all = [...names, ...words].join("\n");
  return (value) => all.includes(value);
}
