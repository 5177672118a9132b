// A call whose client process was lost while it was under way.
import { FdbError } from "../error.ts";

/** The child is gone and nobody knows what became of the call: whoever made it must look. */
export class LostClientError extends FdbError {
  constructor(reason: string) {
    super(1021, `commit_unknown_result (1021): the client of the database was lost, ${reason}`);
    this.name = "LostClientError";
  }
}
