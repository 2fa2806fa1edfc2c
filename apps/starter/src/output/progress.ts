import type { Output } from "./output.ts";

/** Time between two lines of progress. */
const SAY_EVERY_MS = 2_000;

/**
 * Says on standard error how far a long command is, and on Ctrl-C what was done, what was not, and how to continue.
 *
 * @param rest what was not done, and how to continue: whole sentences.
 * @returns a function that is called with what was done so far: `12 of 40 runs retried`.
 */
export const progressOf = (output: Output, rest: string): ((done: string) => void) => {
  let last: string | undefined;
  let saidAt = Date.now();
  output.onInterrupt = () =>
    output.say(`Interrupted. ${last === undefined ? "" : `Done: ${last}. `}${rest}`);
  return (done) => {
    last = done;
    if (Date.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = Date.now();
    output.say(`${done} …`);
  };
};
