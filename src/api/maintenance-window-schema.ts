// Maintenance windows as a resource names them. Rules: spec/windows.md [WIN1].
import { durationPattern } from "../model/duration.ts";
import { array, object, required, string } from "./schema.ts";

export const windowsMax = 20;

export const maintenanceWindowsSchema = array(
  object(
    {
      cron: required(
        string(
          "When it opens: minute, hour, day of month, month and day of week, as cron has them.",
          { maxLength: 256 },
        ),
      ),
      duration: required(
        string("How long it is open, from 10m to 7d, as a number and one of s, m, h and d.", {
          maxLength: 16,
          pattern: durationPattern,
        }),
      ),
      timeZone: string("Of which clock, by its IANA name such as Europe/Berlin.", {
        maxLength: 64,
        effective: "UTC",
      }),
    },
    "",
  ),
  "When acts may begin that cost a recovery or take a fault domain down and repair nothing; at any time without a window.",
  { maxItems: windowsMax },
);
