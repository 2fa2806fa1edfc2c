/** What is wrong with a text that a header is to carry. */
export const checkHeaderText = (name: string, value: unknown): Array<string> => {
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) {
    return [`${name} must be given: visible ASCII characters, without white space.`];
  }
  // As `docker run --env-file` leaves them.
  return /^(["']).*\1$/.test(value)
    ? [`${name} must be given without the quotation marks around it, which are no part of it.`]
    : [];
};
