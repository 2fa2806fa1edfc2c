import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LedgerUnavailable, openLedger } from "../../src/index.ts";
import { nameOf, saving } from "./rows.ts";

// Fills the disk that holds the ledger, writes until it is full, makes room, and goes on. Prints what a caller sees.
const folder = process.argv[2] ?? "";
const filler = join(folder, "filler");
const ledger = await openLedger(`sqlite:${join(folder, "ledger.sqlite")}`);
writeFileSync(filler, Buffer.alloc(1_000_000));
let written = 0;

const reasons: Array<string> = [];
const note = (error: unknown): void => {
  reasons.push(error instanceof LedgerUnavailable ? error.message : "not typed");
};
for (; reasons.length === 0; written++) {
  const name = nameOf({ workflowId: `run-${written}` });
  await ledger.transact(name, saving(name)).catch(note);
}
await ledger.check().catch(note);
rmSync(filler);
const name = nameOf({ workflowId: `run-${written - 1}` });
const { row } = await ledger.transact(name, saving(name));
await ledger.check();
await ledger.close();
process.stdout.write(JSON.stringify({ reasons, version: row?.version }));
