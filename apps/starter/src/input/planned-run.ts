/** A run whose input has been checked. */
export interface PlannedRun {
  /** Name of the workflow. */
  readonly workflowType: string;
  /** The id when the user gives none. */
  readonly contentId: string;
  readonly input: object;
  /** One line for the Web UI, without anything that identifies a person or an account. */
  readonly summary: string;
  /** Currency of the money that the run moves. */
  readonly currency: string;
}
