// Rules PIC21 to PIC23: folders and archives that hold no picture, or not a whole one.
import { strict as assert } from "node:assert";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Picture } from "./picture.ts";
import { filesOfPicture } from "./picture-files.ts";
import { loadPicture, savePicture } from "./save-picture.ts";
import { filesOfTar, tarOf } from "./tar.ts";

const place = mkdtempSync(join(tmpdir(), "pictures-"));
after(() => rmSync(place, { recursive: true }));

const picture: Picture = {
  format: 1,
  takenAt: "2026-11-15T09:00:00Z",
  cluster: {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { namespace: "default", name: "sample" },
    spec: { version: "7.3.79" },
  },
  objects: [{ apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } }],
  otherRequests: [{ node: "node-1", cpu: "500m", memory: "1Gi", pods: 3 }],
  databaseStatus: { client: {} },
  left: [{ what: "storage classes", why: "not allowed" }],
  versions: { plugin: "1.0.0" },
};

let count = 0;

/** A folder with the files of the picture, some of them changed or taken out. */
function folderWith(changes: Readonly<Record<string, string | undefined>>): string {
  count += 1;
  const folder = join(place, `folder-${count}`);
  savePicture(folder, picture);
  for (const [name, text] of Object.entries(changes)) {
    if (text === undefined) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  return folder;
}

test("[PIC20] a picture without changes is read back", () => {
  assert.deepEqual(loadPicture(folderWith({})), picture);
  const { databaseStatus: _, ...rest } = picture;
  savePicture(join(place, "silent"), { ...rest, databaseStatus: undefined });
  assert.deepEqual(loadPicture(join(place, "silent")), { ...rest, databaseStatus: undefined });
});

const index = (text: string): string => `format: 1\ntakenAt: "2026-11-15T09:00:00Z"\n${text}\n`;

const cases: [string, Record<string, string | undefined>, RegExp][] = [
  ["no index", { "picture.yaml": undefined }, /holds no picture: there is no picture\.yaml/],
  ["a newer format", { "picture.yaml": "format: 2" }, /format is 2: use a newer kubectl-fdb/],
  ["no format", { "picture.yaml": "x: 1" }, /format is undefined: take it again/],
  ["an index that is a list", { "picture.yaml": "- 1" }, /is no index of a picture/],
  ["an empty index", { "picture.yaml": "" }, /is no index of a picture/],
  ["a missing file", { "nodes.yaml": undefined }, /nodes\.yaml is missing: the index names it/],
  ["no list of files", { "picture.yaml": index("files: 7") }, /has no list of files/],
  [
    "a way out",
    { "picture.yaml": index('files: ["../../x.yaml"]') },
    /names the file "\.\.\/\.\.\/x\.yaml"/,
  ],
  ["broken YAML", { "nodes.yaml": "a: [1" }, /nodes\.yaml:\d+: /],
  ["YAML without end", { "nodes.yaml": "[".repeat(2_000) }, /nodes\.yaml/],
  ["a broken status", { "status.json": '{"a"' }, /status\.json is no JSON/],
  ["aliases", { "nodes.yaml": "a: &a [1]\nb: *a" }, /nodes\.yaml: /],
  ["another object", { "nodes.yaml": "a: 1" }, /no usable picture: objects\[0\]\.apiVersion/],
  ["no cluster", { "cluster.yaml": "kind: Pod" }, /no usable picture: cluster\./],
];

for (const [title, changes, expected] of cases) {
  test(`[PIC21] a folder with ${title} is one line that says what to do`, () => {
    assert.throws(() => loadPicture(folderWith(changes)), expected);
  });
}

test("[PIC21] what is not there, and what is no picture", () => {
  assert.throws(() => loadPicture(join(place, "nowhere")), /is not there/);
  const file = join(place, "text");
  writeFileSync(file, "hello");
  assert.throws(() => loadPicture(file), /neither a folder nor a support bundle/);
  writeFileSync(file, gzipSync("hello"));
  assert.throws(() => loadPicture(file), /no whole archive/);
  writeFileSync(file, gzipSync(tarOf([], 0)));
  assert.throws(() => loadPicture(file), /holds no picture/);
});

test("[PIC22] a folder with other files is not touched", () => {
  const folder = join(place, "other");
  mkdirSync(folder);
  writeFileSync(join(folder, "precious.txt"), "x");
  assert.throws(() => savePicture(folder, picture), /holds other files/);
  assert.throws(() => savePicture(join(folder, "precious.txt"), picture), /is a file/);
  assert.throws(
    () => savePicture(join(folder, "precious.txt", "below"), picture),
    /cannot write the picture/,
  );
  assert.deepEqual(readdirSync(folder), ["precious.txt"]);
});

test("[PIC23] an archive that grows beyond the limit is refused", () => {
  const file = join(place, "bomb.tar.gz");
  writeFileSync(file, gzipSync(Buffer.alloc(1024 * 1024)));
  assert.throws(() => loadPicture(file, 100_000), /too large/);
  assert.throws(() => loadPicture(folderWith({}), 100), /too large/);
});

test("[PIC31] an archive holds its files, in order, and the same bytes each time", () => {
  const files = filesOfPicture(picture).map(({ name, text }) => ({
    path: `bundle/picture/${name}`,
    content: Buffer.from(text),
  }));
  const archive = tarOf(files, 1_700_000_000);
  assert.deepEqual(tarOf(files, 1_700_000_000), archive);
  assert.deepEqual(filesOfTar(archive), files);
  assert.equal(filesOfTar(archive.subarray(0, 1000)), undefined);
  const file = join(place, "bundle.tar.gz");
  writeFileSync(file, gzipSync(archive));
  assert.deepEqual(loadPicture(file), picture);
});
