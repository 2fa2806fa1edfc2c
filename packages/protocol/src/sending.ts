/** What a service makes for a step, and how it is known. */
export interface Sending {
  /** The operation, and so the activity, that sends it. */
  readonly operation: string;
  /** The kind of what it makes. */
  readonly makes: string;
  /** The service's name of the field with the id of what it makes. */
  readonly idField: string;
  /** The field of a workflow's input that is sent. */
  readonly input: string;
  /** A field of the request that stands beside it in the input. */
  readonly beside?: "beneficiary_id";
  /** Fields of the request that the run fills in, and nobody gives. */
  readonly filledIn: ReadonlyArray<string>;
  /** The activity that reconciles it with the service's list, where there is one. */
  readonly reconciledBy?: string;
  /** The operation, and so the activity, that undoes it, where there is one. */
  readonly undoneBy?: string;
  /** Whether a person may have another made in its place, as long as nothing else was made for it. */
  readonly isReplaceable?: true;
  /** Whether the service shows it nowhere: what a person says of it cannot be confirmed. */
  readonly isNowhereShown?: true;
  /** What sending it again does to the money where it was carried out after all. */
  readonly sentTwice: string;
}
