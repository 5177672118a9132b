#!/usr/bin/env node
// A link to this file on the PATH makes it a plugin of kubectl.
import { launch } from "./launch.js";

await launch("kubectl-fdb", "src/cli/kubectl-fdb.ts");
