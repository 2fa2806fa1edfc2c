export type * from "./row.ts";
export type * from "./events.ts";
export { advance } from "./advance.ts";
export { isSamePerson, nameProblem, reasonProblem } from "./person.ts";
export { needsApproval, overLimit } from "./limits.ts";
