/**
 * How the published command line is called in the failures that workers write: it runs in any folder. By its package,
 * as an `npx durable-payments` outside a project that has it would fetch a package of that name.
 */
export const COMMAND = "npx @durable-payments/cli";
