import { expect } from "vitest";

/** Any text that matches. Vitest's own matcher has the type `any`. */
export const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** Any text that holds this one. */
export const holding = (text: string): unknown => expect.stringContaining(text);
