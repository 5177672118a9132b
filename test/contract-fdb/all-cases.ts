// All statements about a database, in the order in which they run on a real one.
import { backupCases } from "./backup-cases.ts";
import { backupPlaceCases } from "./backup-place-cases.ts";
import { bucketCases } from "./bucket-cases.ts";
import { creationCases } from "./creation-cases.ts";
import type { DatabaseCase } from "./database-case.ts";
import { exclusionCases } from "./exclusion-cases.ts";
import { managementCases } from "./management-cases.ts";
import { statusCases } from "./status-cases.ts";
import { tlsCases } from "./tls-cases.ts";
import { transactionCases } from "./transaction-cases.ts";

export const allDatabaseCases: readonly DatabaseCase[] = [
  ...creationCases,
  ...transactionCases,
  ...statusCases,
  ...managementCases,
  ...backupCases,
  ...backupPlaceCases,
  ...bucketCases,
  ...exclusionCases,
  ...tlsCases,
];
