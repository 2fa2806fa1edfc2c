import { openLedger } from "@durable-payments/ledger";
import { describeOutages } from "../support/outages.ts";

describeOutages((clock) => openLedger("memory", { clock }));
