/** The variable that names the file which receives what the Temporal servers of a test file print. */
export const serverLogVariable = "DURABLE_PAYMENTS_SERVER_LOG";
