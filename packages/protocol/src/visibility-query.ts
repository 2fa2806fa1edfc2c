/** Write a text as it may stand in a visibility query, whatever is in it. */
export const queryText = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/**
 * Write the query for the runs of a workflow id. Temporal's SQL stores cannot compare an id with a
 * quote or a backslash: then the query finds more runs, of which the caller keeps those of the id.
 */
export const runsOfIdQuery = (workflowId: string): string => {
  const comparable = /^[^"\\]*/.exec(workflowId)?.[0] ?? "";
  return comparable === workflowId
    ? `WorkflowId = ${queryText(workflowId)}`
    : `WorkflowId STARTS_WITH ${queryText(comparable)}`;
};

/** Write texts as the list of a visibility query's `IN`. */
export const queryTexts = (texts: Iterable<string>): string =>
  `(${[...texts].map(queryText).join(", ")})`;
