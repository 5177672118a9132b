// `npm run generate`: writes every generated file anew; with --check it only compares and exits with 1 on a difference.
// The Kubernetes schema and the Go field order need the Go module cache and are made anew only where `go` is installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const isCheck = process.argv.includes("--check");
let isCurrent = true;

generateBy("scripts/generate-crds.ts");
generateBy("scripts/generate-deploy.ts");
generateFromGo();
if (!isCurrent) process.exitCode = 1;

function generateBy(script: string): void {
  const result = run(process.execPath, [script, ...(isCheck ? ["--check"] : [])]);
  if (result.status !== 0) isCurrent = false;
}

/** Both generators read the module k8s.io/kubernetes (and k8s.io/api) at the version that tools/control-plane pins. */
function generateFromGo(): void {
  const kubernetes = moduleFolder("k8s.io/kubernetes");
  const api = moduleFolder("k8s.io/api");
  if (kubernetes === undefined || api === undefined) {
    process.stdout.write(
      "skipped: the Kubernetes schema and the Go field order (no Go module cache)\n",
    );
    return;
  }
  compare("src/kube/generated", (folder) => [
    "tools/kubernetes-schema/generate.ts",
    join(kubernetes, "api/openapi-spec/swagger.json"),
    folder,
  ]);
  compare("src/build/generated", (folder) => [
    "tools/go-field-order/generate.ts",
    join(api, "core/v1/types.go"),
    folder,
  ]);
}

function moduleFolder(name: string): string | undefined {
  const listed = run(
    "go",
    ["-C", "tools/control-plane", "list", "-m", "-f", "{{.Dir}}", name],
    "pipe",
  );
  const folder = String(listed.stdout ?? "").trim();
  return listed.status === 0 && folder !== "" ? folder : undefined;
}

function compare(folder: string, script: (output: string) => string[]): void {
  const output = isCheck ? mkdtempSync(join(tmpdir(), "generated-")) : join(root, folder);
  const result = run(process.execPath, script(output));
  if (result.status !== 0) isCurrent = false;
  if (!isCheck) return;
  for (const file of readdirSync(output)) {
    if (readFileSync(join(output, file), "utf8") === readFileSync(join(root, folder, file), "utf8"))
      continue;
    process.stdout.write(`${folder}/${file} is not current: run npm run generate\n`);
    isCurrent = false;
  }
  rmSync(output, { recursive: true });
}

function run(
  command: string,
  args: readonly string[],
  stdout: "inherit" | "pipe" = "inherit",
): ReturnType<typeof spawnSync> {
  return spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", stdout, stdout === "pipe" ? "ignore" : "inherit"],
  });
}
