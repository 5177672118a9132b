// The files of a support bundle, without secrets: everything that was gathered passes one redaction, so that the same value
// has the same placeholder in the picture, in resources, events and logs. Rules PIC11, PIC30, PIC31.
import type { Event } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import type { LeftOut, Picture } from "../preview/picture.ts";
import { filesOfPicture, yamlOf } from "../preview/picture-files.ts";
import { redactPicture } from "../preview/redact-picture.ts";
import { timeOf } from "./gather.ts";
import type { Gathered } from "./gather.ts";
import type { LogText } from "./gather-logs.ts";
import { indexPage } from "./index-page.ts";

export interface BundleFile {
  readonly path: string;
  readonly text: string;
}

export interface Bundle {
  readonly files: readonly BundleFile[];
  /** What was left out, as people may see it. */
  readonly left: readonly LeftOut[];
}

/** `folder` is the one that the archive unpacks to. */
export function bundleFiles(
  gathered: Gathered,
  folder: string,
  secrets: readonly string[] = [],
): Bundle {
  const { explanation = "", logs } = gathered;
  const { picture, redactor } = redactPicture(gathered.picture, {
    objects: [...gathered.objects, ...gathered.events],
    texts: [explanation, ...logs.map(({ text }) => text)],
    secrets,
  });
  const objects = gathered.objects.map((object) => redactor.object(object));
  const events = gathered.events.map((event) => redactor.object(event));
  const left: LeftOut[] = gathered.left.map(({ what, why }) => ({ what, why: redactor.text(why) }));
  const page = redactor.text(explanation);
  const files: BundleFile[] = [
    ...(explanation === "" ? [] : [{ path: "explain.txt", text: page }]),
    { path: "versions.yaml", text: yamlOf(picture.versions) },
    { path: "left-out.yaml", text: yamlOf(left) },
    { path: "events.txt", text: eventsText(events) },
    ...resourceFiles([...objects, ...events]),
    ...filesOfPicture(picture).map(({ name, text }) => ({ path: `picture/${name}`, text })),
    ...logs.map((log) => ({ path: pathOfLog(log), text: redactor.text(log.text) })),
  ];
  const named = unique(files);
  const index = indexPage({
    picture,
    explanation: page,
    left,
    files: named,
    count: redactor.count(),
  });
  const all = [{ path: "index.md", text: index }, ...named];
  return { files: all.map(({ path, text }) => ({ path: `${folder}/${path}`, text })), left };
}

export function resourcePath(kind: string): string {
  return `resources/${kind.toLowerCase()}s.yaml`;
}

function resourceFiles(objects: readonly KubeObject[]): BundleFile[] {
  const byKind = new Map<string, string[]>();
  for (const object of objects) {
    const path = resourcePath(object.kind);
    byKind.set(path, [...(byKind.get(path) ?? []), yamlOf(object)]);
  }
  return [...byKind].map(([path, texts]) => ({ path, text: texts.join("---\n") }));
}

function pathOfLog({ owner, pod, container, isPrevious }: LogText): string {
  return `logs/${owner}/${pod}/${container}${isPrevious ? ".previous" : ""}.log`;
}

export const noEventsText = "No events were found.\n";

function eventsText(events: readonly Stored<Event>[]): string {
  const lines = events.map((event) => {
    const { type = "", reason = "", count = 1, involvedObject, message = "" } = event;
    const about = `${involvedObject.kind ?? ""}/${involvedObject.name ?? ""}`;
    const times = count > 1 ? ` (${count} times)` : "";
    const said = message.replaceAll(/\s+/g, " ");
    return `${timeOf(event)} ${type} ${reason} ${about}: ${said}${times}\n`;
  });
  return lines.length === 0 ? noEventsText : lines.join("");
}

/** Two files of one name would become one when the archive is unpacked. */
function unique(files: readonly BundleFile[]): BundleFile[] {
  const taken = new Set<string>();
  return files.map(({ path, text }) => {
    let free = path;
    for (let number = 2; taken.has(free.toLowerCase()); number += 1) {
      free = path.replace(/(\.[a-z]+)$/, `-${number}$1`);
    }
    taken.add(free.toLowerCase());
    return { path: free, text };
  });
}

export function folderName({ cluster, takenAt }: Picture): string {
  const { namespace = "", name = "" } = cluster.metadata;
  const time = takenAt.replaceAll(/[-:]|\.\d+/g, "");
  // A file has at most 255 letters in its name.
  return `fdb-report-${`${namespace}-${name}`.slice(0, 180)}-${time}`;
}
