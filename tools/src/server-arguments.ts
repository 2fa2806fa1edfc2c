import { searchAttributeArguments } from "./search-attributes.ts";

/**
 * The arguments of `temporal server start-dev` that every local server gets: the search attributes,
 * and priorities of tasks, which Temporal Cloud has without being asked.
 */
export const localServerArguments = (): string[] => [
  ...searchAttributeArguments(),
  "--dynamic-config-value",
  "matching.useNewMatcher=true",
];
