// `kubectl fdb preview` with a picture from a folder: no server is asked. Rule: spec/preview.md [PV11].
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CommandError } from "../../src/env/command-error.ts";
import { previewOffline } from "../../src/cli/preview.ts";
import type { PreviewFlags } from "../../src/cli/preview.ts";
import type { PreviewReport } from "../../src/preview/report.ts";
import { savePicture } from "../../src/preview/save-picture.ts";
import { pictureOf } from "../preview/world-picture.ts";
import { hourMs, TestWorld } from "../world/world-harness.ts";

test("[PV11] [PV13] [PV14] a saved picture is previewed without a server: page, JSON, exit codes and mistakes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "preview-"));
  try {
    await TestWorld.runWithCluster({}, async (world) => {
      const picture = await pictureOf(world);
      const from = join(folder, "picture");
      savePicture(from, picture);
      const flags: PreviewFlags = {
        ...{ output: "json", from, seeds: 1, moveRate: "50MB", limit: hourMs, cpu: hourMs },
      };
      const ask = async (more: Partial<PreviewFlags>): Promise<string> => {
        let text = "";
        await previewOffline("sample", { ...flags, ...more }, (part) => {
          text += part;
        });
        return text;
      };
      const report = JSON.parse(await ask({})) as PreviewReport;
      assert.equal(report.outcome, "nothing");
      assert.deepEqual(report.pending, []);
      const file = join(folder, "changed.yaml");
      const { apiVersion, kind, metadata, spec } = picture.cluster;
      const grown = { ...spec, processCounts: { ...spec.processCounts, stateless: 2 } };
      const changed = { apiVersion, kind, metadata: { name: metadata.name }, spec: grown };
      writeFileSync(file, JSON.stringify(changed));
      const page = await ask({ output: "text", file });
      assert.match(page, /process groups added: 1 stateless/);
      const refuses = async (more: Partial<PreviewFlags>, code: number, text: RegExp) => {
        await assert.rejects(ask(more), (error) => {
          assert.ok(error instanceof CommandError);
          assert.match(error.message, text);
          return error.exitCode === code;
        });
      };
      assert.match(page, /Worth a second look:\n  the resource has no last-applied-config/);
      await refuses({ serverSide: true, file }, 1, /no managedFields: use the cluster itself/);
      await refuses({ serverSide: true }, 2, /give -f FILE/);
      await refuses({ forceConflicts: true, file }, 2, /belong to --server-side/);
      const none = await ask({ output: "text", set: ["spec.processCounts.storage=-5"] });
      assert.match(
        none,
        /second look:\n  spec\.processCounts\.storage: a negative .* needs storage/,
      );
      const unheard = JSON.parse(await ask({ upgrade: "9.9.99" })) as PreviewReport;
      assert.match(unheard.warnings.join(), /knows FoundationDB up to .*, and 9\.9\.99 is newer/);
      assert.match(unheard.unknown.join(), /whether there are images of version 9\.9\.99/);
      await refuses({ failOn: "recoveries>x" }, 2, /is no condition/);
      await refuses({ set: ["spec.versoin=7.3.79"] }, 2, /there is version/);
      await refuses({ upgrade: "7.3.79", drain: "node-1" }, 2, /at a time/);
      await refuses({ moveRate: "fast" }, 2, /--move-rate fast/);
      await refuses({ set: ["spec.processCounts.stateless=2"], failOn: "change" }, 3, /change/);
      await assert.rejects(
        previewOffline("other", flags, () => {}),
        /is a picture of default\/sample/,
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
