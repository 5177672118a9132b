// Reads what a support bundle holds besides its picture: events, backups, restores and the pods of their agents, and what was
// left out. A picture that was saved alone has none of it. Rule PIC37.
import type { FoundationDBBackup } from "../api/backup.ts";
import type { FoundationDBRestore } from "../api/restore.ts";
import { CommandError } from "../env/command-error.ts";
import type { Event, Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { openPlace } from "../preview/open-place.ts";
import type { ReadText } from "../preview/open-place.ts";
import { leftProblems, objectProblems, problemText } from "../preview/picture.ts";
import type { LeftOut, Picture } from "../preview/picture.ts";
import { documentsOf, pictureOfFiles } from "../preview/picture-files.ts";
import { noEventsText, resourcePath } from "./bundle-files.ts";

/** Each list is undefined where it could not be read; `left` says why. */
export interface BundleContents {
  readonly events: readonly Stored<Event>[] | undefined;
  readonly backups: readonly Stored<FoundationDBBackup>[] | undefined;
  readonly restores: readonly Stored<FoundationDBRestore>[] | undefined;
  readonly agents: readonly Stored<Pod>[] | undefined;
  /** Of the picture, too. */
  readonly left: readonly LeftOut[];
}

export interface LoadedBundle {
  readonly picture: Picture;
  /** Undefined: a picture alone. */
  readonly contents: BundleContents | undefined;
}

export function loadBundle(place: string, limit?: number): LoadedBundle {
  const { inPicture, inBundle } = openPlace(place, limit);
  const picture = pictureOfFiles(inPicture, place);
  const text = inBundle(leftName);
  return {
    picture,
    contents: text === undefined ? undefined : contentsOf(inBundle, leftOf(text, place), place),
  };
}

const leftName = "left-out.yaml";

function contentsOf(read: ReadText, left: readonly LeftOut[], place: string): BundleContents {
  const list = (what: string, kind: string, part?: string): KubeObject[] | undefined =>
    left.some((one) => one.what === what) ? undefined : objectsOf(read, kind, place, part);
  const events = list("events", "Event", "involvedObject");
  // Bundles of an older program have events as a text for people alone.
  const isTextOnly = events?.length === 0 && (read("events.txt") ?? noEventsText) !== noEventsText;
  const asText = { what: "events", why: "they are in events.txt alone: take the bundle again" };
  const contents: Readonly<Record<keyof BundleContents, unknown>> = {
    events: isTextOnly ? undefined : events,
    backups: list("backups", "FoundationDBBackup", "spec"),
    restores: list("restores", "FoundationDBRestore", "spec"),
    agents: list("backup agents", "Pod"),
    left: isTextOnly ? [asText, ...left] : left,
  };
  return contents as BundleContents;
}

/** Of one kind; none where nothing of it was there. `part` is what else they need. */
function objectsOf(read: ReadText, kind: string, place: string, part?: string): KubeObject[] {
  const path = resourcePath(kind);
  const text = read(path);
  if (text === undefined) return [];
  const objects = documentsOf(text, `${place}/${path}`);
  for (const [index, object] of objects.entries()) {
    const [problem] = objectProblems(object, `object ${index + 1}`);
    if (problem !== undefined) throw wrong(place, path, problemText(problem));
    const fields = object as Readonly<Record<string, unknown>>;
    if (fields["kind"] !== kind) {
      throw wrong(place, path, `object ${index + 1} is no ${kind}: take it out of the file`);
    }
    if (part !== undefined && !isFields(fields[part])) {
      throw wrong(place, path, `object ${index + 1} has no ${part}: take it out of the file`);
    }
  }
  return objects as KubeObject[];
}

function leftOf(text: string, place: string): LeftOut[] {
  const [list] = documentsOf(text, `${place}/${leftName}`);
  if (!Array.isArray(list)) throw wrong(place, leftName, "it is no list: take the bundle again");
  const [problem] = list.flatMap((one, index) => leftProblems(one, `entry ${index + 1}`));
  if (problem !== undefined) throw wrong(place, leftName, problemText(problem));
  return list as LeftOut[];
}

function wrong(place: string, path: string, why: string): CommandError {
  return new CommandError(`${place}/${path} cannot be used: ${why}`);
}

function isFields(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
