// GET with watch=true: where the stream starts, and what it carries. [KAS20] [KAS21] [KAS22]
import type { WatchEvent } from "../kube/transport.ts";
import { kindApiVersion, type Kind } from "./kind.ts";
import { isSelected, listOptionsInvalid, readRevision, readSelection, type Query } from "./list.ts";
import { present, type ServerContext } from "./server-context.ts";
import { expired } from "./status.ts";
import { Watch } from "./watch.ts";

const defaultTimeoutSeconds = 1800;

export interface OpenWatch {
  watch: Watch;
  /** Ends the subscription to the store; the watch calls it through onEnd. */
  close(): void;
}

export interface WatchTarget {
  kind: Kind;
  namespace: string;
  name: string;
}

export function openWatch(
  server: ServerContext,
  { kind, namespace, name }: WatchTarget,
  query: Query,
  onEvent: (event: WatchEvent) => void,
  onEnd: () => void,
): OpenWatch {
  const { store, clock, random } = server;
  const selection = readSelection(kind, query, name);
  const revisionText = query["resourceVersion"] ?? "";
  const revision = readRevision(revisionText);
  const wantsInitial = checkInitialEvents(query);
  let unsubscribe: () => void = () => {};
  const timeoutSeconds = Number(query["timeoutSeconds"] ?? 0);
  const lastsSeconds =
    timeoutSeconds > 0 ? timeoutSeconds : defaultTimeoutSeconds * (1 + random.next());
  const watch = new Watch(
    {
      clock,
      isSelected: (object) => isSelected(kind, selection, object),
      convert: (object) => present(kind, object),
      wantsBookmarks: query["allowWatchBookmarks"] === "true",
      timeoutMs: lastsSeconds * 1000,
      namespace,
      apiVersion: kindApiVersion(kind),
      kind: kind.kind,
      currentRevision: () => store.revision,
      onEvent,
      onEnd: () => {
        unsubscribe();
        onEnd();
      },
    },
    revision === 0 ? store.revision : revision,
  );
  const startsFromNow = revision === 0 && wantsInitial !== false;
  if (startsFromNow || wantsInitial === true) {
    for (const [, object] of store.entries(kind.storageKey, namespace)) {
      if (isSelected(kind, selection, object)) watch.sendInitial(object);
    }
    if (wantsInitial === true) watch.sendInitialEnd(store.revision);
  } else if (revision !== 0) {
    const changes = store.changesSince(kind.storageKey, revision);
    if (changes === undefined) {
      const oldest = store.oldestRevision;
      watch.sendError(expired(`too old resource version: ${revision} (${oldest})`).body());
      return { watch, close: () => watch.abort() };
    }
    for (const change of changes) watch.receive(change);
  }
  unsubscribe = store.subscribe(kind.storageKey, (event) => watch.receive(event));
  return { watch, close: () => watch.abort() };
}

/** sendInitialEvents: undefined when it was not given. */
function checkInitialEvents(query: Query): boolean | undefined {
  const text = query["sendInitialEvents"];
  const match = query["resourceVersionMatch"];
  if (text === undefined) {
    if (match !== undefined && match !== "") {
      throw listOptionsInvalid(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless " +
          "sendInitialEvents is provided",
      );
    }
    return undefined;
  }
  if (match !== "NotOlderThan") {
    throw listOptionsInvalid(
      "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    );
  }
  return text === "true" || text === "1";
}
