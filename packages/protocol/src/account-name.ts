/** What a name of an account looks like, for a message. */
export const ACCOUNT_NAME_RULE =
  "1 to 40 lower-case letters, digits and dashes, beginning with a letter or digit";

/** A part of task queues and workflow ids, and so without slashes, spaces and capitals. */
const ACCOUNT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Check whether a value can be the name of an account: see {@link ACCOUNT_NAME_RULE}. */
export const isAccountName = (value: unknown): value is string =>
  typeof value === "string" && ACCOUNT_NAME.test(value);
