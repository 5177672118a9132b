#!/usr/bin/env node
import { launch } from "./launch.js";

await launch("fdb-operator", "src/cli/main.ts");
