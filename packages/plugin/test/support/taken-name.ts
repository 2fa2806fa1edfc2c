/** It has the name of a workflow of the project. */
export const payout = async (): Promise<string> => "mine";

/** It has a name of its own. */
export const other = async (): Promise<string> => "other";
