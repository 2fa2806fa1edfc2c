/**
 * Write an argument so that a shell takes it for one, whatever stands in it.
 *
 * @param argument a workflow id, say.
 * @returns the same, in quotes where it needs them.
 */
export const shellQuoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

/**
 * Write a command in lines that can be pasted: each flag stands on its own.
 *
 * @param words of the command, quoted.
 * @param indent of the first line; the others are two columns deeper.
 */
export const commandInLines = (words: ReadonlyArray<string>, indent = ""): string => {
  const broken = words.map((word) => (word.startsWith("--") ? `\\\n${indent}  ${word}` : word));
  return `${indent}${broken.join(" ")}`;
};
