export type * from "./row.ts";
export type * from "./events.ts";
export { advance } from "./advance.ts";
export { mayBelieveNotSent, type Testimony } from "./believe.ts";
export { isSamePerson, nameProblem, reasonProblem } from "./person.ts";
export { endedRow, overruledRow, recovered } from "./rows.ts";
export { needsApproval, overLimit } from "./limits.ts";
