import { once } from "node:events";
import { openLedger, readLedgerPlace } from "../../src/index.ts";
import { nameOf, saving } from "./rows.ts";

// Writes all the time, as a worker does, and reports how often it succeeded; after "stop" why it failed; ends after "close".
const ledger = await openLedger(readLedgerPlace(process.argv[2], ""));
let done = 0;
const stop = new AbortController();
const reasons: Array<string> = [];
const write = async (writer: number): Promise<void> => {
  for (let number = 0; !stop.signal.aborted; number++) {
    const name = nameOf({ workflowId: `${writer}-${number}` });
    try {
      await ledger.transact(name, saving(name));
      process.send?.({ done: ++done });
    } catch (error) {
      reasons.push(error instanceof Error ? error.name : String(error));
    }
  }
};
const all = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
await once(process, "message");
stop.abort();
await all;
process.send?.({ reasons });
await once(process, "message");
await ledger.close();
process.disconnect();
