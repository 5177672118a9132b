// The object store that every world has, so that a backup has somewhere to go: one account, one bucket, TLS.
import type { ObjectStoreOptions } from "./backup/object-store.ts";

export const standardObjectStore: ObjectStoreOptions & { readonly address: string } = {
  address: "object-store.example.com:443",
  accounts: { demo: "demo-secret" },
  buckets: ["fdb-backups"],
};
