export { advance } from "./model/advance.ts";
export type * from "./model/events.ts";
export {
  isSamePerson,
  nameProblem,
  needsApproval,
  overLimit,
  reasonProblem,
} from "./model/gate.ts";
export type * from "./model/row.ts";
export { grownWait, LEAVES_WITHIN_MS } from "./model/rows.ts";
export * from "./open-ledger.ts";
export * from "./store/ledger.ts";
export { endAmong } from "./store/log.ts";
export { LedgerUnavailable } from "./store/store.ts";
export type { Seal } from "./store/table.ts";
