import { openLedger, readLedgerPlace } from "../../src/index.ts";
import { nameOf, saving } from "./rows.ts";

// Writes one row after the other, and says so, until it is killed.
const ledger = await openLedger(readLedgerPlace(process.argv[2], ""));
for (let number = 1; ; number++) {
  const name = nameOf({ workflowId: `many-${number}` });
  await ledger.transact(name, saving(name));
  process.send?.(number);
}
