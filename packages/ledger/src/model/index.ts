export type * from "./row.ts";
export type * from "./events.ts";
export { advance } from "./advance.ts";
export { mayBelieveNotSent, type Testimony } from "./believe.ts";
export { recovered } from "./rows.ts";
export { AnotherQuestion, decide, endedRow, InvalidDecision, overruledRow } from "./decide.ts";
export { needsApproval, overLimit } from "./limits.ts";
