import { utc } from "./utc.ts";

/** What follows where what was sent is not listed. */
export type IfAbsent = "it is sent again" | "a person is asked";

/**
 * Word that what was sent has not been listed yet.
 *
 * @param ifAbsent what follows.
 * @param knownAt when that is known, milliseconds since 1970.
 * @returns the text, for a person.
 */
export const absentSoFar = (ifAbsent: IfAbsent, knownAt: number): string =>
  `absent so far: ${ifAbsent} after ${utc(knownAt)} unless it appears`;

/**
 * Word the same of a run that has ended, or was asked to end, since: it sends nothing again.
 *
 * @param text that may be one of {@link absentSoFar}, or have it within.
 * @param isEnded whether it has ended.
 * @returns the text without what does not hold any more.
 */
export const withoutResend = (text: string, isEnded: boolean): string =>
  text.replace(
    /it is sent again after (.+? UTC) unless it appears/,
    isEnded
      ? "the run has ended, and does not send it again"
      : "asked to end: it is not sent again; that it is absent is known after $1",
  );
