/** No whole answer came. `sent: false` only where it is certain that no byte of the request left. */
export class NoAnswer {
  readonly _tag = "NoAnswer";
  readonly sent: boolean;
  readonly reason: string;
  constructor(sent: boolean, reason: string) {
    this.sent = sent;
    this.reason = reason;
  }
}
