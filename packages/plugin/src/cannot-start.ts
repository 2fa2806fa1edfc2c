/** The worker cannot start, and has taken no work: the message is one line that says why, and what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
