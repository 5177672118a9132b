// How `kubectl fdb` is started from a program of ours, for work that is done in a process of its own. Rules: spec/web.md [WEB25].
import { basename, dirname, join } from "node:path";
import { isSea } from "node:sea";
import type { PluginProgram } from "../web/server/preview-process.ts";

/** `script` is what this process runs: the plugin itself or the operator, of which the plugin lies beside. */
export function pluginProgramOf(
  script: string,
  { execPath, isSingle = isSea() }: { execPath: string; isSingle?: boolean },
): PluginProgram {
  // An executable is the plugin, and has no script.
  if (isSingle) return [execPath];
  const siblings: Readonly<Record<string, string>> = {
    "main.ts": "kubectl-fdb.ts",
    "fdb-operator.js": "kubectl-fdb.js",
    "fdb-operator": "kubectl-fdb",
  };
  const name = basename(script);
  return [execPath, join(dirname(script), siblings[name] ?? name)];
}
