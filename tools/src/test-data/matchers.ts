import { expect } from "vitest";

/** Any text that matches. Vitest's own matcher has the type `any`. */
export const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** Any text that holds this one. */
export const holding = (text: string): unknown => expect.stringContaining(text);

/** Any text. */
export const anyText: unknown = expect.any(String);

/** A list that has these items, among others. */
export const listWith = (...items: ReadonlyArray<unknown>): unknown =>
  expect.arrayContaining([...items]);

/** An object that has these fields, among others. */
export const fields = (some: object): unknown => expect.objectContaining({ ...some });

/** An id as the service and Temporal make them. */
export const ID = like(/^[0-9a-f-]{36}$/);

/** The lines of a text that do not fit a terminal of 80 columns. */
export const tooWide = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line.length > 80);
