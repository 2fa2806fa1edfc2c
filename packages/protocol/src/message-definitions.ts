import type { UpdateDefinition } from "@temporalio/common";

/**
 * Defines an update by its name, which takes nothing. It is what the function of @temporalio/workflow returns, without
 * the SDK at run time: whoever only sends a message loads no workflow code.
 */
export const defineUpdateWithAnswer = <Answer>(name: string) =>
  ({ type: "update", name }) as UpdateDefinition<Answer>;
