import { openLedger, readLedgerPlace } from "../../src/index.ts";
import { ADA } from "./rows.ts";

// Prunes the ledger of an address as `ledger prune` does, and says what it pruned.
const ledger = await openLedger(readLedgerPlace(process.argv[2], ""));
const pruned = await ledger.prune(Date.now(), ADA);
process.send?.(pruned);
await ledger.close();
process.disconnect();
