/**
 * Write an argument so that a shell takes it for one, whatever stands in it.
 *
 * @param argument a workflow id, say.
 * @returns the same, in quotes where it needs them.
 */
export const shellQuoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
