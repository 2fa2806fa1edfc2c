import {
  advance,
  type Ledger,
  type WriteEvent,
  type WriteName,
  type WritePolicy,
} from "@durable-payments/ledger";

export const change = (ledger: Ledger, name: WriteName, event: WriteEvent, policy: WritePolicy) =>
  ledger.transact(name, (look) => {
    const { entries, row } = advance(look, event, policy);
    return { entries, ...(row && { row }) };
  });
