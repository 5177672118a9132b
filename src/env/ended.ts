// Why something is aborted that ends as a matter of course: a wait that is over, a watch that is begun anew. Without a reason
// one is made for each, with the trace of its stack, and nobody reads it.

export const ended = new DOMException("This operation was aborted", "AbortError");
