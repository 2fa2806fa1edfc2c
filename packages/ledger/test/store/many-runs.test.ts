import { expect, it } from "vitest";
import { refreshEnds } from "../../src/store/run-status.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";
import { Store } from "../../src/store/store.ts";

it("a stop order concerns any number of children, and not only as many as a statement has values", async () => {
  const store = new Store(openSqlite(":memory:", {}), { seal: String, open: String });
  const ids = Array.from({ length: 40_000 }, (_, at) => `parent/${at}`);
  await expect(store.save(null, refreshEnds(store, ids))).resolves.toBeUndefined();
  await store.database.close();
});
