/** What shows nothing, breaks the line, or changes the order or the place of what is read around it. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

/**
 * Make visible what a text hides: controls, line breaks, marks of direction and characters without width are
 * written as `\u{202e}`. For text that was written elsewhere: by the service, in a file, by a person.
 *
 * @param text any text.
 * @returns one line that shows all that stands in it.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(
    INVISIBLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`,
  );
