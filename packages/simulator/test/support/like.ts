import { expect } from "vitest";

/** A text that matches, within a larger expectation. */
export const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** An id as the simulator makes them, within a larger expectation. */
export const anId = like(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
