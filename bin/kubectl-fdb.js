#!/usr/bin/env node
// `kubectl fdb` from a clone: a link to this file on the PATH makes it a plugin of kubectl.
process.argv.splice(2, 0, "src/cli/kubectl-fdb.ts");
await import("../scripts/bootstrap.js");
