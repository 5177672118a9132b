// The tasks of backups and restores in the database, as agents share them: available ones, and taken ones that time out
// after sixty million versions unless the agent that took them says that it is still at it. A task of a tag that was
// aborted, ended or started anew is thrown away. Carries rules BSIM11 and BSIM12.
import { leastOf } from "../../env/long-lists.ts";
import { binaryText, bytesOfBinary, bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { decodeTuple, encodeTuple } from "../../fdb/tuple.ts";
import type { TupleElement } from "../../fdb/tuple.ts";
import type { KeyValueStore } from "../key-value/store.ts";
import { singleKeyRange } from "../key-value/write-buffer.ts";
import {
  LayerConfig,
  backupRoot,
  bytesOf,
  findTag,
  merged,
  textOf,
  tuple,
} from "./layer-config.ts";
import { uidBytes, uidText } from "./layer-config.ts";
import type { KeyChanges, Layer } from "./layer-config.ts";

export interface Task {
  readonly id: string;
  readonly type: string;
  readonly layer: Layer;
  readonly uid: string;
  /** Not before this version. */
  readonly scheduledVersion: number;
  readonly parameters: Readonly<Record<string, TupleElement>>;
}

export interface Claim {
  readonly task: Task;
  /** Undefined once another agent may take it. */
  timeoutVersion: number;
}

export const leaseVersions = 60_000_000;

const tasks = backupRoot + tuple(bytesOfText("tasks"));
const available = tasks + tuple(bytesOfText("av"));
const taken = tasks + tuple(bytesOfText("to"));
export const pauseKey = tasks + tuple(bytesOfText("pause"));
export const workersPausedKey = "\xff\x02/backupPaused";

export function isPaused(store: KeyValueStore): boolean {
  return store.readNow(singleKeyRange(pauseKey)).items.length > 0;
}

export function addTask(task: Task): KeyChanges {
  return taskKeys(available + tuple(task.scheduledVersion), task);
}

/** Whether no agent has taken a task that was due from the beginning. */
export function isWaiting(store: KeyValueStore, id: string): boolean {
  const prefix = available + tuple(0, bytesOfText(id));
  return store.readNow({ begin: prefix, end: `${prefix}\xff` }, 1).items.length > 0;
}

/** Takes the first task that is due: one that was left behind, or an available one. */
export function claimTask(store: KeyValueStore): Claim | undefined {
  const { version } = store.readNow(singleKeyRange(pauseKey));
  for (;;) {
    const due = firstDue(store, taken, version) ?? firstDue(store, available, version);
    if (due === undefined) return undefined;
    const { task, keys } = due;
    const gone: KeyChanges = new Map(keys.map((key) => [key, undefined]));
    if (!isValid(store, task)) {
      store.write([], gone);
      continue;
    }
    const timeoutVersion = version + leaseVersions;
    store.write([], merged(gone, taskKeys(taken + tuple(timeoutVersion), task)));
    return { task, timeoutVersion };
  }
}

/** The version at which the next task can be taken, as far as is known now. */
export function nextDueVersion(store: KeyValueStore): number {
  const versions = [taken, available].map((prefix) => {
    const first = store.readNow({ begin: prefix, end: `${prefix}\xff` }, 1).items[0];
    if (first === undefined) return Infinity;
    return Number(decodeTuple(bytesOfBinary(first.key.slice(prefix.length)))[0]);
  });
  return leastOf(versions);
}

/** Agents of a database that wait for work. */
const waiting = new WeakMap<KeyValueStore, Set<() => void>>();

/** Calls back when somebody submits work; gives what ends the waiting. */
export function onWork(store: KeyValueStore, wake: () => void): () => void {
  const all = waiting.get(store) ?? new Set();
  waiting.set(store, all);
  all.add(wake);
  return () => all.delete(wake);
}

/** Agents look at once instead of at their next look. */
export function announceWork(store: KeyValueStore): void {
  for (const wake of [...(waiting.get(store) ?? [])]) wake();
}

/** Whether the task is still this agent's to finish. */
export function isHeld(store: KeyValueStore, claim: Claim): boolean {
  const prefix = taken + tuple(claim.timeoutVersion, bytesOfText(claim.task.id));
  const isThere = store.readNow({ begin: prefix, end: `${prefix}\xff` }, 1).items.length > 0;
  return isThere && isValid(store, claim.task);
}

export function extendClaim(store: KeyValueStore, claim: Claim): void {
  const { version } = store.readNow(singleKeyRange(pauseKey));
  const next = version + leaseVersions;
  const before = taskKeys(taken + tuple(claim.timeoutVersion), claim.task);
  const after = taskKeys(taken + tuple(next), claim.task);
  store.write([], merged(cleared(before), after));
  claim.timeoutVersion = next;
}

/** The task is done: it goes, and what follows from it happens at the same version. */
export function finishTask(store: KeyValueStore, claim: Claim, changes: KeyChanges): void {
  const own = taskKeys(taken + tuple(claim.timeoutVersion), claim.task);
  store.write([], merged(cleared(own), changes));
}

function isValid(store: KeyValueStore, task: Task): boolean {
  const config = new LayerConfig(store, task.layer, task.uid);
  const entry = findTag(store, task.layer, config.text("tag"));
  const state = config.number("stateEnum") ?? 0;
  // A backup and a restore are under way in states one to three alike.
  return entry?.uid === task.uid && !entry.isAborted && state >= 1 && state <= 3;
}

function cleared(changes: KeyChanges): KeyChanges {
  return new Map([...changes.keys()].map((key) => [key, undefined]));
}

function taskKeys(prefix: string, task: Task): KeyChanges {
  const own = prefix + tuple(bytesOfText(task.id));
  const raw = (name: string, text: string): [string, Uint8Array] => [
    own + tuple(bytesOfText(name)),
    bytesOfText(text),
  ];
  const value = (name: string, ...elements: readonly TupleElement[]): [string, Uint8Array] => [
    own + tuple(bytesOfText(name)),
    encodeTuple(elements),
  ];
  return new Map([
    raw("type", task.type),
    raw("layer", task.layer),
    value("uid", uidBytes(task.uid)),
    value("scheduledVersion", task.scheduledVersion),
    ...Object.entries(task.parameters).map(([name, element]) => value(name, element)),
  ]);
}

interface Entry {
  readonly task: Task;
  readonly keys: readonly string[];
}

/**
 * Tasks lie below the version from which on they may be taken, so the first key leads to the one that has been due for longest.
 * Agents look often and there may be many tasks: no other is read.
 */
function firstDue(store: KeyValueStore, prefix: string, version: number): Entry | undefined {
  const due = { begin: prefix, end: prefix + tuple(version + 1) };
  const [first] = store.readNow(due, 1).items;
  if (first === undefined) return undefined;
  const [since = null, id = null] = decodeTuple(bytesOfBinary(first.key.slice(prefix.length)));
  const own = prefix + tuple(since, id);
  const { items } = store.readNow({ begin: own, end: `${own}\xff` });
  const values = new Map(
    items.map(({ key, value }) => {
      const [name] = decodeTuple(bytesOfBinary(key.slice(own.length)));
      return [textOf(name), value];
    }),
  );
  return { keys: items.map(({ key }) => key), task: taskOf(textOf(id), values) };
}

const ownNames = new Set(["type", "layer", "uid", "scheduledVersion"]);

function taskOf(id: string, values: ReadonlyMap<string, Uint8Array>): Task {
  const element = (name: string): TupleElement | undefined => {
    const value = values.get(name);
    return value && decodeTuple(value)[0];
  };
  const raw = (name: string): string => textOfBytes(values.get(name) ?? new Uint8Array());
  const parameters = [...values.keys()]
    .filter((name) => !ownNames.has(name))
    .map((name): [string, TupleElement] => [name, element(name) ?? null]);
  return {
    id,
    type: raw("type"),
    layer: raw("layer") === "restore" ? "restore" : "backup",
    uid: uidText(bytesOf(element("uid"))),
    scheduledVersion: Number(element("scheduledVersion") ?? 0),
    parameters: Object.fromEntries(parameters),
  };
}

/** A key of the database inside of a task's parameters. */
export function keyParameter(task: Task, name: string): string {
  return binaryText(bytesOf(task.parameters[name]));
}
