// `npm run release`: builds everything that a release consists of into dist/release, and says what would be published where. It
// publishes nothing: that is what .github/workflows/release.yml does with these files. `--tag vX.Y.Z` refuses a tag that is not the
// version; `--own` builds kubectl-fdb for this machine alone; `--finish FOLDER` makes checksums and the manifest for krew again for all archives that lie there.
// Rules: spec/deploy.md [DEP27]-[DEP29].
import { execFileSync } from "node:child_process";
import type { StdioOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { chartFolder, openHelm } from "../test/helm.ts";
import { archive, buildExecutable, signed } from "./executable.ts";
import { filledManifest } from "./krew-manifest.ts";
import type { Archive } from "./krew-manifest.ts";
import { ownTarget, targets } from "./node-binary.ts";
import type { Target } from "./node-binary.ts";
import { releaseNotes, tagProblem } from "./release-notes.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "dist/release");
const usage = "npm run release -- [--tag vX.Y.Z] [--repository URL] [--own] [--finish FOLDER]";
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { tag, repository, own, finish } = options();
  const changes = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const problem = tagProblem(tag, manifest.version, changes);
  if (problem !== undefined) throw new Error(problem);
  if (finish === undefined) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await buildAll(own);
    writeFileSync(join(folder, "NOTES.md"), releaseNotes(changes, manifest.version));
  }
  const place = finish ?? folder;
  finishFiles(place, `${repository}/releases/download/v${manifest.version}`);
  say(`\nVersion ${manifest.version} is ready in ${place}:`);
  for (const file of readdirSync(place).sort()) say(`  ${file}`);
  say("\nTo be published by the release workflow, which needs registries for it:");
  say(`  the image for linux/amd64 and linux/arm64, as tag ${manifest.version}`);
  say(
    "  the chart, as an OCI artefact; the npm package; the archives of kubectl-fdb with the release",
  );
}

function options(): {
  tag: string | undefined;
  repository: string;
  own: boolean;
  finish: string | undefined;
} {
  try {
    const { values } = parseArgs({
      options: {
        tag: { type: "string" },
        repository: { type: "string", default: "https://example.com/foundationdb-operator" },
        own: { type: "boolean", default: false },
        finish: { type: "string" },
      },
    });
    const { tag, finish, own, repository } = values;
    return { tag, finish, own, repository };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}\nUsage: ${usage}`, { cause: error });
  }
}

async function buildAll(isForOwnAlone: boolean): Promise<void> {
  say("the npm package");
  const stdio: StdioOptions = ["ignore", "ignore", "inherit"];
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio });
  say("the bill of materials");
  const flags = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const materials = execFileSync("npm", flags, { cwd: root, maxBuffer: 64 * 2 ** 20 });
  writeFileSync(join(folder, "sbom.cyclonedx.json"), materials);
  say("the chart");
  const helm = await openHelm(process.env, say);
  const packed = helm.run(["package", chartFolder, "--destination", folder]);
  if (!packed.isOk) throw new Error(packed.output);
  say("the bundle for the Operator Lifecycle Manager");
  const bundle = `foundationdb-operator-olm-${manifest.version}.tar.gz`;
  const parts = ["-C", join(root, "deploy/olm"), "manifests", "metadata"];
  execFileSync("tar", ["-czf", join(folder, bundle), ...parts]);
  const own = ownTarget();
  for (const target of Object.keys(targets) as Target[]) {
    if (!isForOwnAlone || target === own) await buildPlugin(target);
  }
}

async function buildPlugin(target: Target): Promise<void> {
  say(`kubectl-fdb for ${target}`);
  const executable = await buildExecutable(target, say);
  if (!signed(executable, target)) {
    return say("  only a Mac can sign it: the workflow builds it on one");
  }
  const { file } = archive(target);
  copyFileSync(join(root, "dist/executable", file), join(folder, file));
}

/** Checksums of all files, and the manifest for krew of the archives that are there. */
function finishFiles(place: string, url: string): void {
  const sumOf = (file: string): string =>
    createHash("sha256")
      .update(readFileSync(join(place, file)))
      .digest("hex");
  const archives = (Object.keys(targets) as Target[]).flatMap((target): Archive[] => {
    const file = `kubectl-fdb-${manifest.version}-${target}.tar.gz`;
    return readdirSync(place).includes(file) ? [{ target, file, sha256: sumOf(file) }] : [];
  });
  const template = readFileSync(join(root, "deploy/krew/fdb.yaml"), "utf8");
  const krew = filledManifest(template, manifest.version, url, archives);
  writeFileSync(join(place, "fdb.yaml"), krew);
  const files = readdirSync(place)
    .filter((file) => file !== "SHA256SUMS")
    .sort();
  const sums = files.map((file) => `${sumOf(file)}  ${file}\n`);
  writeFileSync(join(place, "SHA256SUMS"), sums.join(""));
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
