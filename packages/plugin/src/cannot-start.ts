/** The worker cannot start, and has taken no work: the message is one line that says why, and what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";

  /**
   * Make the error.
   *
   * @param message why, and what to do.
   */
  constructor(message: string) {
    super(message);
    // A program that does not catch it prints the stack: where it was thrown helps nobody who runs a worker.
    this.stack = `${this.name}: ${message}`;
  }
}
