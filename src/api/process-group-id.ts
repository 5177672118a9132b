// Process group ids as the resources carry them: `[<prefix>-]<class>-<number>`, or `*` for all.
import { string } from "./schema.ts";

const processGroupIdPattern = "^(([\\w-]+)-(\\d+)|\\*)$";

export const processGroupIdSchema = string("", { maxLength: 63, pattern: processGroupIdPattern });
