#!/usr/bin/env node
// `npx fdb-operator` in a clone: the command line on Node 24, set up on first use.
process.argv.splice(2, 0, "src/cli/main.ts");
await import("../scripts/bootstrap.js");
