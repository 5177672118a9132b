// Style as a test: sizes, banned calls, the one-way imports between the rooms, and that rules and tests cite each other.
// Rules: spec/house.md.
import { strict as assert } from "node:assert";
import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { brokenLinks } from "../tools/manual/links.ts";

const root = join(import.meta.dirname, "..");
const files = projectFiles();
const sources = files.filter((file) => /\.tsx?$/.test(file) && !file.includes("/generated/"));

interface Line {
  file: string;
  number: number;
  text: string;
}

test("[HOUSE1] no source file is longer than 600 lines", () => {
  const long = sources
    .map((file) => ({ file, lines: read(file).split("\n").length }))
    .filter(({ lines }) => lines > 601)
    .map(({ file, lines }) => `${file}: ${lines} lines`);
  assert.deepEqual(long, []);
});

test("[HOUSE2] every source file opens with a comment that says what it is for", () => {
  const silent = sources.filter((file) => !/^(#!.*\n)?(\/\/|\/\*)/.test(read(file)));
  assert.deepEqual(silent, []);
});

test("[HOUSE3] clock, chance, timers, language and the environment are touched only at the seams", () => {
  const banned: [RegExp, string][] = [
    [/\bDate\.now\(/, "clock.nowMs()"],
    [/\bnew Date\(\)/, "new Date(clock.nowMs())"],
    [/\bperformance\.now\(/, "clock.nowMs()"],
    [/\bMath\.random\(/, "Random from env/random.ts"],
    [/\brandomUUID\(/, "randomUuid(random)"],
    [/(?<![.\w])setTimeout\(/, "clock.setTimer()"],
    [/(?<![.\w])setInterval\(/, "clock.setTimer()"],
    [/\bAbortSignal\.timeout\(/, "clock.setTimer() and an AbortController"],
    [/(?<![.\w])fetch\(/, "KubeTransport or PodNetwork"],
    [/\bprocess\.env\b/, "an argument read in main.ts"],
    [
      /\blocaleCompare\(|\btoLocale|\bIntl\./,
      "an order and a form that no machine's language changes",
    ],
  ];
  const seams =
    /^src\/env\/|\/main\.tsx?$|^src\/kube\/https\.ts$|^src\/kube\/kubeconfig\.ts$|^src\/emulator\/https-server\.ts$/;
  const guarded = sources.filter(
    (file) => file.startsWith("src/") && !seams.test(file) && !file.endsWith(".test.ts"),
  );
  const found = linesOf(guarded).flatMap((line) =>
    banned
      .filter(([pattern]) => pattern.test(withoutComment(line.text)))
      .map(([, remedy]) => `${line.file}:${line.number}: use ${remedy}`),
  );
  assert.deepEqual(found, []);
});

test("[HOUSE11] no list becomes the arguments of a call", () => {
  const product = sources.filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"));
  const found = product.flatMap((file) => {
    const calls = /\.(push|unshift)\(\s*\.\.\.|\bMath\.(max|min)\([^;]*?\.\.\./g;
    const places = [...read(file).matchAll(calls)].filter(([text]) => !/\)/.test(text));
    return places.map(([text]) => `${file}: ${text}: use env/long-lists.ts`);
  });
  assert.deepEqual(found, []);
});

test("[HOUSE4] imports between the rooms go one way", () => {
  const below: Record<string, string[]> = {
    env: [],
    model: ["env"],
    kube: ["env"],
    fdb: ["env", "model"],
    pod: ["env", "model", "kube"],
    api: ["env", "model", "kube"],
    build: ["env", "model", "api", "kube", "fdb", "pod"],
    plan: ["env", "model", "api", "build", "kube", "fdb", "pod"],
    operate: ["env", "model", "api", "build", "plan", "kube", "fdb", "pod"],
    emulator: ["env", "model", "kube", "pod"],
    images: ["env", "model", "kube", "pod", "emulator"],
    sim: ["env", "model", "api", "kube", "fdb", "pod", "emulator", "images", "operate"],
    plugin: ["env", "model", "api", "build", "plan", "kube", "fdb"],
    report: ["env", "model", "api", "build", "kube", "plugin", "preview"],
    preview: [
      ...["env", "model", "api", "build", "plan", "kube", "fdb", "pod"],
      ...["emulator", "images", "sim", "operate"],
    ],
    web: ["env", "model", "api", "build", "plan", "kube", "fdb", "plugin", "preview", "report"],
  };
  const found = importsOf(sources).flatMap(({ file, target, number }) => {
    if (file.endsWith(".test.ts")) return [];
    const from = room(file);
    const to = room(target);
    const allowed = from === undefined ? undefined : below[from];
    if (allowed === undefined || to === undefined || to === from || allowed.includes(to)) return [];
    return [`${file}:${number}: ${from} must not import ${to}`];
  });
  assert.deepEqual(found, []);
});

test("[HOUSE13] no file of src but its unit tests imports from test", () => {
  const found = importsOf(sources.filter((file) => file.startsWith("src/")))
    .filter(({ file, target }) => !file.endsWith(".test.ts") && target.startsWith("test/"))
    .map(({ file, number, target }) => `${file}:${number}: ${target}`);
  assert.deepEqual(found, []);
});

/** Parts that stand on their own: their folders, what else they may use, and where their surface is described. */
const separate = [
  { folders: ["src/emulator"], uses: [], readme: "src/emulator/README.md" },
  {
    folders: ["src/sim/database", "src/sim/key-value", "src/sim/backup"],
    uses: ["env", "fdb", "model", "pod"],
    readme: "src/sim/database/README.md",
  },
];

for (const { folders, uses, readme } of separate) {
  const isInside = (file: string): boolean => folders.some((each) => file.startsWith(`${each}/`));
  const product = importsOf(sources.filter((file) => file.startsWith("src/"))).filter(
    ({ file }) => !file.endsWith(".test.ts"),
  );

  test(`[HOUSE12] ${folders[0]} is used through the files that its README names`, () => {
    const surface = [...read(readme).matchAll(/`([a-z-]+\.ts)`/g)].map(([, name]) => name);
    const found = product.filter(
      ({ file, target }) =>
        !isInside(file) && isInside(target) && !surface.includes(basename(target)),
    );
    assert.deepEqual(
      found.map(({ file, number, target }) => `${file}:${number}: ${target}`),
      [],
    );
  });

  if (uses.length > 0) {
    test(`[HOUSE12] ${folders[0]} knows nothing of the operator`, () => {
      const found = product.filter(
        ({ file, target }) =>
          isInside(file) && !isInside(target) && !uses.includes(room(target) ?? ""),
      );
      assert.deepEqual(
        found.map(({ file, number, target }) => `${file}:${number}: ${target}`),
        [],
      );
    });
  }
}

/** Each folder of src/plan uses the ones before it; "" is src/plan itself. What the status of a cluster says looks at everything. */
const planFolders = [
  "reasons",
  "",
  "view",
  "safety",
  "coordination",
  "locks",
  "configuration",
  "volumes",
  "resize",
  "drains",
  "fencing",
  "certificates",
  "placement",
  "coordinators",
  "replacement",
  "process-groups",
  "services",
  "config-map",
  "pods",
  "evictions",
  "network",
  "exclusion",
  "removal",
  "restart",
  "upgrade",
  "hibernation",
  "overlap",
  "advice",
  "status",
  "backup",
  "restore",
];

/** It tells other instances which process groups this one is about to restart. */
const againstTheArrows = ["src/plan/coordination/operator-coordination.ts: restart"];

test("[HOUSE4] the folders of a plan use only the ones before them", () => {
  const folder = (file: string): string => /^src\/plan\/([a-z-]+)\//.exec(file)?.[1] ?? "";
  const plans = sources.filter(
    (file) => file.startsWith("src/plan/") && !file.endsWith(".test.ts"),
  );
  const unknown = plans.filter(
    (file) => folder(file) !== "" && !planFolders.includes(folder(file)),
  );
  assert.deepEqual(unknown, [], "a new folder gets its place in the order");
  const found = importsOf(plans).flatMap(({ file, target, number, isType }) => {
    if (file === "src/plan/chain.ts" || folder(target) === "") return [];
    if (folder(file) === "" && isType) return [];
    const isBelow = planFolders.indexOf(folder(target)) <= planFolders.indexOf(folder(file));
    const isKnown = againstTheArrows.includes(`${file}: ${folder(target)}`);
    return isBelow || isKnown ? [] : [`${file}:${number}: must not import ${target}`];
  });
  assert.deepEqual(found, []);
});

test("[HOUSE14] model, build and plan hold no state of their own", () => {
  const pure = sources.filter(
    (file) => /^src\/(model|build|plan)\//.test(file) && !file.endsWith(".test.ts"),
  );
  const found = pure.flatMap((file) =>
    [...read(file).matchAll(/^(?:export )?(let|var|const) (\w+)(: [^=]+?)? =\s*([^]*?);\n/gm)]
      .filter(([, keyword, , type = "", value = ""]) => {
        if (keyword !== "const" || /^new (WeakMap|WeakSet|Memory|PlanMemory)\b/.test(value))
          return true;
        if (/^new (Map|Set)\b/.test(value)) return !/^: Readonly(Map|Set)\b/.test(type);
        if (value.startsWith("["))
          return !/readonly|Readonly/.test(type) && !/\bas const\b/.test(value);
        return false;
      })
      .map(([, , name]) => `${file}: ${name}`),
  );
  assert.deepEqual(found, []);
});

test("[P111] only the view of a cluster looks for what belongs to a process group", () => {
  const isJoining =
    /\bpodNameOf\(|\bnodes\??\.get\(|\bpods\.get\((?!basis\.name\))|\bfunction podOf\b/;
  const steps = sources.filter(
    (file) =>
      file.startsWith("src/plan/") &&
      !file.startsWith("src/plan/view/") &&
      !file.endsWith(".test.ts") &&
      // Objects of nobody known yet: their names are compared with their labels.
      file !== "src/plan/process-groups/discovery.ts",
  );
  const found = linesOf(steps)
    .filter(({ text }) => isJoining.test(text))
    .map(({ file, number, text }) => `${file}:${number}: ${text.trim()}`);
  assert.deepEqual(found, []);
});

test("[P108] no decision looks at what was waited for", () => {
  const plans = sources.filter(
    (file) => file.startsWith("src/plan/") && !file.endsWith(".test.ts"),
  );
  // A plan leaves the list of a stored status out, and names it in a type that lacks it.
  const allowed = /blockedBy: _|"blockedBy"|`blockedBy`/;
  const found = linesOf(plans)
    .filter(({ text }) => /blockedBy/.test(withoutComment(text)) && !allowed.test(text))
    .map(({ file, number }) => `${file}:${number}`);
  assert.deepEqual(found, []);
});

test("[HOUSE5] every rule that a test cites is written down, and every written rule has a test", () => {
  const written = new Map<string, string>();
  for (const file of files.filter((name) => /^spec\/.*\.md$/.test(name))) {
    for (const match of read(file).matchAll(/^[-*]?\s*\*{0,2}\[([A-Z]+\d+[a-z]?)\]/gm)) {
      const id = match[1] ?? "";
      assert.ok(!written.has(id), `${id} is written twice: ${written.get(id)} and ${file}`);
      written.set(id, file);
    }
  }
  const cited = new Map<string, string>();
  for (const file of sources.filter(
    (name) => name.endsWith(".test.ts") || name.startsWith("test/"),
  )) {
    // Only the beginning of a text counts: that is where a title names its rules.
    for (const [titles] of read(file).matchAll(/["'`](\[[A-Z]+\d+[a-z]?\]\s?)+/g)) {
      for (const match of titles.matchAll(/\[([A-Z]+\d+[a-z]?)\]/g)) {
        cited.set(match[1] ?? "", file);
      }
    }
  }
  const prefixes = new Set([...written.keys()].map((id) => id.replace(/\d.*$/, "")));
  const unknown = [...cited].filter(
    ([id]) => prefixes.has(id.replace(/\d.*$/, "")) && !written.has(id),
  );
  const untested = [...written].filter(([id]) => !cited.has(id));
  assert.deepEqual({ unknown, untested }, { unknown: [], untested: [] });
});

test("[HOUSE5] SPEC.md lists every file of rules with the letters of its rules", () => {
  const table = read("SPEC.md");
  const missing = files
    .filter((name) => /^spec\/.*\.md$/.test(name))
    .filter((file) => {
      const ids = [...read(file).matchAll(/^- \[([A-Z]+)\d/gm)].map((match) => match[1] ?? "");
      const letters = [...new Set(ids)].toSorted().join(", ");
      return !table.includes(`| [${file}](${file}) | ${letters} |`);
    });
  assert.deepEqual(missing, []);
});

test("[HOUSE6] nothing names a machine's folders or a package registry, and no marker is left over", () => {
  // Written in pieces, so that this file does not find itself.
  const joined = (...pieces: string[]): string => pieces.join("");
  const forbidden: [RegExp, string][] = [
    [
      new RegExp(joined("registry\\.npm", "js|proxy\\.golang", "\\.org|deb\\.deb", "ian")),
      "registry host",
    ],
    [
      new RegExp(joined("/ro", "ot/|/wo", "rk/(main|shared)|/tmp/br", "ief")),
      "path of one machine",
    ],
    [new RegExp(joined("\\b(TO", "DO|FIX", "ME)\\b")), "left-over marker"],
  ];
  const texts = files.filter(
    (file) => !file.startsWith("test/data/") && file !== "package-lock.json",
  );
  const found = linesOf(texts).flatMap((line) =>
    forbidden
      .filter(([pattern]) => pattern.test(line.text))
      .map(([, what]) => `${line.file}:${line.number}: ${what}`),
  );
  assert.deepEqual(found, []);
});

test("[HOUSE7] file names are kebab-case and no folder is called utils", () => {
  const odd = sources.filter(
    (file) => !/^[a-z0-9-]+(\.[a-z-]+)*\.tsx?$/.test(basename(file)) || /\/utils?\//.test(file),
  );
  assert.deepEqual(odd, []);
});

test("[HOUSE8] [MAN3] every Markdown link inside of the project leads somewhere, anchors included", () => {
  const pages = files.filter((file) => file.endsWith(".md"));
  assert.deepEqual(brokenLinks(root, pages), []);
});

test("[HOUSE10] files and folders that the documentation names exist", () => {
  const folders = "src|test|scripts|docs|deploy|examples|bench|tools|spec";
  const named = new RegExp(`\`((?:${folders})/[\\w./-]*)\``, "g");
  const dead = files
    .filter((file) => file.endsWith(".md") && !file.startsWith("test/"))
    .flatMap((file) =>
      [...read(file).matchAll(named)]
        .map((match) => match[1] ?? "")
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${file}: ${target}`),
    );
  assert.deepEqual(dead, []);
});

function projectFiles(): string[] {
  const skipped = /^(node_modules|dist|\.git|\.state)$/;
  return readdirSync(root, { recursive: false, withFileTypes: true })
    .filter((entry) => !skipped.test(entry.name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? globSync(`${entry.name}/**/*`, { cwd: root, exclude: (name) => name === "node_modules" })
        : [entry.name],
    )
    .filter((file) => statSync(join(root, file)).isFile())
    .filter((file) => !/\.(png|gz|log)$/.test(file))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function linesOf(list: readonly string[]): Line[] {
  return list.flatMap((file) =>
    read(file)
      .split("\n")
      .map((text, index) => ({ file, number: index + 1, text })),
  );
}

function withoutComment(text: string): string {
  return /^\s*(\/\/|\*|\/\*)/.test(text) ? "" : text.replace(/\s\/\/ .*$/, "");
}

interface Import {
  readonly file: string;
  readonly target: string;
  readonly number: number;
  /** Written on one line, as those of types nearly always are. */
  readonly isType: boolean;
}

function importsOf(list: readonly string[]): Import[] {
  return linesOf(list).flatMap(({ file, number, text }) => {
    const match = /(?:from|import\()\s*"(\.[^"]+)"/.exec(text);
    if (match === null) return [];
    const target = normalize(join(dirname(file), match[1] ?? ""));
    return [{ file, number, target, isType: text.startsWith("import type ") }];
  });
}

function room(file: string): string | undefined {
  return /^src\/([a-z]+)\//.exec(file)?.[1];
}
