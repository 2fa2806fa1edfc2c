/** Something that is not as it must be. */
export interface Finding {
  /** The run's workflow id, or what else it is about. */
  readonly subject: string;
  readonly what: string;
}

/** What a comparison has found so far. */
export class Findings {
  /** The service did more than one run may do. */
  readonly duplicates: Array<Finding> = [];
  /** A run says that it was done, and it was not; or it was done, and neither run nor ledger says so. */
  readonly lost: Array<Finding> = [];
  /** A result, an amount or a balance that differs; something made after a person had ended it; a failure without a cause. */
  readonly wrong: Array<Finding> = [];
  /** Not ended, or not settled, when the time was up. */
  readonly stuck: Array<Finding> = [];
}
