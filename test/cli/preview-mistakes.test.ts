// Absurd and mistaken requests for previews: each is refused with field, value and remedy, or said to be in vain, and none
// hangs. Rules: spec/preview.md [PV14], [PV17].
import { strict as assert } from "node:assert";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { previewOffline } from "../../src/cli/preview.ts";
import type { PreviewFlags } from "../../src/cli/preview.ts";
import { CommandError } from "../../src/env/command-error.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { savePicture } from "../../src/preview/save-picture.ts";
import { pictureOf } from "../preview/world-picture.ts";
import { hourMs, minuteMs, TestWorld } from "../world/world-harness.ts";

interface Desk {
  readonly picture: Picture;
  /** What the page says, or the error. */
  readonly ask: (flags: Partial<PreviewFlags>) => Promise<string>;
  /** The name of a file with the text. */
  readonly file: (text: string) => string;
  /** The name of a folder with the picture. */
  readonly keep: (picture: Picture) => string;
}

async function atDesk(body: (desk: Desk) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mistakes-"));
  let count = 0;
  const place = (): string => join(folder, String((count += 1)));
  try {
    await TestWorld.runWithCluster({}, async (world) => {
      await world.clock.advance(3 * minuteMs);
      const picture = await pictureOf(world);
      const keep = (one: Picture): string => {
        const name = place();
        savePicture(name, one);
        return name;
      };
      const flags: PreviewFlags = {
        ...{ output: "text", from: keep(picture), seeds: 1, moveRate: "50MB" },
        ...{ limit: 3 * hourMs, cpu: hourMs },
      };
      const ask = async (more: Partial<PreviewFlags>): Promise<string> => {
        let text = "";
        try {
          await previewOffline(undefined, { ...flags, ...more }, (part) => {
            text += part;
          });
          return text;
        } catch (error) {
          assert.ok(error instanceof CommandError, String(error));
          return `${error.message}\n${text}`;
        }
      };
      const file = (text: string): string => {
        const name = place();
        writeFileSync(name, text);
        return name;
      };
      await body({ picture, ask, file, keep });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("[PV17] a file that is nested too deeply, has the cluster twice or no cluster that fits is refused; what else it has is named (long)", async () => {
  await atDesk(async ({ picture, ask, file }) => {
    const { apiVersion, kind, spec } = picture.cluster;
    const document = (name: string, more: object = {}): string =>
      JSON.stringify({ apiVersion, kind, metadata: { name }, spec, ...more });
    const deep = (levels: number): string => `${"{a: ".repeat(levels)}1${"}".repeat(levels)}`;
    const tooDeep = /nested more than 100 levels deep, which no resource is: look for brackets/;
    for (const levels of [20_000, 2_000, 200]) {
      assert.match(await ask({ file: file(deep(levels)) }), tooDeep);
      assert.match(
        await ask({ file: file(`${document("sample")}\n---\n${deep(levels)}`) }),
        tooDeep,
      );
    }
    const twice = file(`${document("sample")}\n---\n${document("sample")}`);
    assert.match(await ask({ file: twice }), /twice, in documents 1 and 2: leave one of them/);
    const second = file(`${document("other")}\n---\n${document("sample")}`);
    assert.match(
      await ask({ file: second }),
      /second look:[^]* not part of this preview: FoundationDBCluster other\n/,
    );
    assert.match(await ask({ file: file("") }), /has no FoundationDBCluster default\/sample/);
    assert.match(
      await ask({ file: file(document("sample", { apiVersion: "apps.foundationdb.org/v1" })) }),
      /apiVersion is apps\.foundationdb\.org\/v1: write apps\.foundationdb\.org\/v1beta2/,
    );
    for (const wrong of [null, [1], "text"]) {
      assert.match(
        await ask({ file: file(document("sample", { spec: wrong })) }),
        /spec is (null|\[1\]|"text"): it has to be an object with the fields of a cluster/,
      );
    }
  });
});

test("[PV17] numbers and versions that cannot be are refused with the field and what is allowed (long)", async () => {
  await atDesk(async ({ ask }) => {
    const refusals: [string, RegExp][] = [
      [
        "spec.processCounts.storage=2001",
        /spec\.processCounts\.storage: Invalid value: 2001: .* less than or equal to 2000/,
      ],
      [
        "spec.storageServersPerPod=-3",
        /spec\.storageServersPerPod: Invalid value: -3: .* greater than or equal to 0/,
      ],
      [
        "spec.databaseConfiguration.logs=100000",
        /spec\.databaseConfiguration\.logs: Invalid value: 100000/,
      ],
      ["spec.version=7.3", /spec\.version: Invalid value: "7\.3"/],
      ["spec.version=7.3.9999999999", /a number of a version has at most nine digits/],
    ];
    for (const [edit, expected] of refusals) assert.match(await ask({ set: [edit] }), expected);
    assert.match(await ask({ loseNode: "" }), /need a name/);
  });
});

test("[PV14] a cluster that the operator leaves alone is said to be left alone (long)", async () => {
  await atDesk(async ({ picture, ask, keep }) => {
    const set = ["spec.processCounts.stateless=2"];
    const { cluster } = picture;
    const skipped = { ...picture, cluster: { ...cluster, spec: { ...cluster.spec, skip: true } } };
    const page = await ask({ from: keep(skipped), set });
    assert.match(page, /would not be finished/);
    assert.match(page, /second look:\n  spec\.skip is true: the operator leaves the cluster alone/);
    assert.doesNotMatch(page, /process groups added/);
    const again = await ask({ from: keep(skipped), set: [...set, "spec.skip=false"] });
    assert.match(again, /process groups added: 1 stateless/);
    assert.doesNotMatch(again, /leaves the cluster alone/);
    const metadata = {
      ...{ ...cluster.metadata, deletionTimestamp: "2026-01-01T00:01:00Z" },
      ...{ deletionGracePeriodSeconds: 0, finalizers: ["example.org/kept"] },
    };
    const deleted = keep({ ...picture, cluster: { ...cluster, metadata } });
    assert.match(
      await ask({ from: deleted, set }),
      /the cluster is being deleted since 2026-01-01T00:01:00Z: the operator leaves it alone/,
    );
  });
});

test("[PV17] [PV2] a picture that is cut off, or lacks what its pods need, is refused with the file or the field", async () => {
  await atDesk(async ({ picture, ask, keep }) => {
    const whole = keep(picture);
    for (const name of [
      "picture.yaml",
      "cluster.yaml",
      "pods.yaml",
      "configmaps.yaml",
      "status.json",
    ]) {
      const cut = `${whole}-${name}`;
      cpSync(whole, cut, { recursive: true });
      const text = readFileSync(join(cut, name), "utf8");
      writeFileSync(join(cut, name), text.slice(0, Math.floor(text.length * 0.6)));
      const answer = await ask({ from: cut });
      assert.doesNotMatch(answer, /^Preview of/);
      assert.ok(answer.startsWith(cut), answer);
      assert.doesNotMatch(answer, /MISSING_CHAR/);
    }
    const without = (kind: string): string =>
      keep({ ...picture, objects: picture.objects.filter((object) => object.kind !== kind) });
    assert.match(await ask({ from: without("Pod") }), /no pod of the picture starts a process/);
    assert.match(await ask({ from: without("ConfigMap") }), /its process does not join/);
  });
});
