// Rule PIC37: what a bundle holds besides its picture, from the archive and from the folder that it unpacks to.
import { strict as assert } from "node:assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { KubeObject } from "../kube/object.ts";
import { savePicture } from "../preview/save-picture.ts";
import { tarOf } from "../preview/tar.ts";
import { bundleFiles } from "./bundle-files.ts";
import type { Gathered } from "./gather.ts";
import { loadBundle } from "./load-bundle.ts";
import type { BundleContents } from "./load-bundle.ts";

const place = mkdtempSync(join(tmpdir(), "bundles-"));
after(() => rmSync(place, { recursive: true }));

const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  ...{ apiVersion: "v1", kind, metadata: { name, namespace: "default" } },
  ...more,
});
const objects = [
  object("FoundationDBBackup", "nightly", { spec: { clusterName: "sample" } }),
  object("FoundationDBRestore", "back", { spec: { destinationClusterName: "sample" } }),
  object("Deployment", "operator"),
  object("Pod", "nightly-backup-agents-1"),
];
const events = [
  object("Event", "e1", {
    ...{ type: "Normal", reason: "Told", message: "told", count: 2 },
    involvedObject: { kind: "FoundationDBCluster", name: "sample" },
    ...{ firstTimestamp: "2026-11-15T08:00:00Z", lastTimestamp: "2026-11-15T08:30:00Z" },
  }),
];
const gathered = {
  picture: {
    ...{ format: 1, takenAt: "2026-11-15T09:00:00Z", objects: [], otherRequests: [] },
    cluster: object("FoundationDBCluster", "sample", { spec: { version: "7.3.63" } }),
    ...{ databaseStatus: undefined, left: [], versions: { plugin: "1.0.0" } },
  },
  ...{ objects, events, logs: [], explanation: undefined },
  left: [{ what: "Secrets", why: "they are never read" }],
} as unknown as Gathered;

type Changes = Readonly<Record<string, string | undefined>>;

/** The files of a bundle, some of them changed or taken out. */
function filesWith(changes: Changes, of: Gathered): { path: string; text: string }[] {
  return bundleFiles(of, "bundle").files.flatMap(({ path, text }) => {
    const name = path.slice("bundle/".length);
    if (!(name in changes)) return [{ path, text }];
    const changed = changes[name];
    return changed === undefined ? [] : [{ path, text: changed }];
  });
}

let count = 0;

function archiveWith(changes: Changes, of = gathered): string {
  count += 1;
  const file = join(place, `bundle-${count}.tar.gz`);
  const files = filesWith(changes, of).map(({ path, text }) => ({
    ...{ path, content: Buffer.from(text) },
  }));
  writeFileSync(file, gzipSync(tarOf(files, 0)));
  return file;
}

function folderWith(changes: Changes): string {
  count += 1;
  const folder = join(place, `folder-${count}`);
  for (const { path, text } of filesWith(changes, gathered)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function namesIn({ events: told, backups, restores, agents }: BundleContents) {
  return [told, backups, restores, agents].map((list: readonly KubeObject[] | undefined) =>
    list?.map(({ metadata }) => metadata.name),
  );
}

const whole = [["e1"], ["nightly"], ["back"], ["nightly-backup-agents-1"]];

test("[PIC37] an archive, its folder and the folder around that are read alike", () => {
  const folder = folderWith({});
  for (const from of [archiveWith({}), folder, join(folder, "bundle")]) {
    const { picture, contents } = loadBundle(from);
    assert.equal(picture.cluster.metadata.name, "sample");
    assert.ok(contents !== undefined);
    assert.deepEqual(namesIn(contents), whole);
    assert.deepEqual(contents.events, events);
    assert.deepEqual(contents.left, gathered.left);
  }
});

test("[PIC37] a picture alone holds nothing besides", () => {
  const folder = join(place, "saved");
  savePicture(join(folder, "picture"), gathered.picture);
  for (const from of [folder, join(folder, "picture")]) {
    assert.equal(loadBundle(from).contents, undefined);
  }
  assert.equal(loadBundle(join(folderWith({}), "bundle", "picture")).contents, undefined);
});

test("[PIC37] what was left out is unknown, and what was not there is none", () => {
  const none = loadBundle(archiveWith({}, { ...gathered, objects: [], events: [] })).contents;
  assert.ok(none !== undefined);
  assert.deepEqual(namesIn(none), [[], [], [], []]);
  const left = ["events", "backups", "restores", "backup agents"].map((what) => ({
    ...{ what, why: "not allowed" },
  }));
  const bundle = archiveWith({}, { ...gathered, objects: [], events: [], left });
  const { contents } = loadBundle(bundle);
  assert.ok(contents !== undefined);
  assert.deepEqual(namesIn(contents), [undefined, undefined, undefined, undefined]);
});

test("[PIC37] events that are a text alone are left out", () => {
  const { contents } = loadBundle(archiveWith({ "resources/events.yaml": undefined }));
  assert.equal(contents?.events, undefined);
  assert.match(contents?.left[0]?.why ?? "", /events\.txt/);
});

const metadata = "apiVersion: v1\nmetadata: { name: x }\n";

const cases: [string, Changes, RegExp][] = [
  [
    "broken YAML",
    { "resources/events.yaml": "a: [1" },
    /\/resources\/events\.yaml:\d+: Flow sequence/,
  ],
  [
    "an event about nothing",
    { "resources/events.yaml": `${metadata}kind: Event` },
    /events\.yaml cannot be used: object 1 has no involvedObject: take it out/,
  ],
  [
    "a backup without a name",
    { "resources/foundationdbbackups.yaml": "apiVersion: v1\nkind: FoundationDBBackup" },
    /backups\.yaml cannot be used: object 1\.metadata\.name is missing: store the object/,
  ],
  [
    "a backup without a spec",
    { "resources/foundationdbbackups.yaml": `${metadata}kind: FoundationDBBackup\nspec: 7` },
    /object 1 has no spec/,
  ],
  [
    "another kind",
    { "resources/pods.yaml": `${metadata}kind: Node` },
    /pods\.yaml cannot be used: object 1 is no Pod/,
  ],
  ["a list of gaps that is none", { "left-out.yaml": "a: 1" }, /left-out\.yaml .*it is no list/],
  ["a gap without a reason", { "left-out.yaml": "- what: x" }, /entry 1 is .*: say what was left/],
];

for (const [title, changes, expected] of cases) {
  test(`[PIC37] a bundle with ${title} is one line that says what to do`, () => {
    assert.throws(() => loadBundle(archiveWith(changes)), expected);
    assert.throws(() => loadBundle(folderWith(changes)), expected);
  });
}
