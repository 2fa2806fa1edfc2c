import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";

// What the functions of the same names in @temporalio/workflow return, without the SDK at run time:
// whoever only sends a message loads no workflow code. The brands in the types are never there.

/** Define a query by its name. */
export const defineQuery = <Answer>(name: string) =>
  ({ type: "query", name }) as QueryDefinition<Answer>;

/** Define a signal by its name. */
export const defineSignal = <Content>(name: string) =>
  ({ type: "signal", name }) as SignalDefinition<[Content]>;

/** Define an update by its name, which answers nothing. */
export const defineUpdate = <Content>(name: string) =>
  ({ type: "update", name }) as UpdateDefinition<void, [Content]>;

/** Define an update by its name, which takes nothing. */
export const defineUpdateWithAnswer = <Answer>(name: string) =>
  ({ type: "update", name }) as UpdateDefinition<Answer>;
