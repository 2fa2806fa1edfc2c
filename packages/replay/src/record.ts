/** What a command of a workflow becomes in its history: an event of a type, about something of a name. */
export interface Recorded {
  /** As histories name it, without the prefix: `ACTIVITY_TASK_SCHEDULED`. */
  readonly type: string;
  /** Type of the activity or the child workflow, name of the signal, id of the patch. */
  readonly name?: string;
  /** Of the child workflow. */
  readonly workflowId?: string;
  /** The step that an activity sends, where it sends one. */
  readonly step?: string;
}

/** The same of an activity, by whose id the command and its event are known as one. */
export interface RecordedActivity extends Recorded {
  readonly activityId?: string;
}

/** A command that the workflow's code gave while it was replayed. */
export interface RecordedCommand extends RecordedActivity {
  /** By what a later command can take it back, and a marker names it: `timer 1`, `activity 2`. */
  readonly key?: string;
  /** Where the code stood when it gave the command, in lines of its sources. */
  readonly stack: string;
}

/** What the code did in one activation, as the recorder reports it. */
export interface Activation {
  /** Stands for the workflow task: several activations may belong to one. */
  readonly task: number;
  readonly commands: ReadonlyArray<RecordedCommand>;
  /** Keys of the commands that were taken back. */
  readonly takenBack: ReadonlyArray<string>;
  /** Where the code stands after it: one stack for each promise that it waits for. */
  readonly waitsAt: ReadonlyArray<string>;
}

/** The sink by which the recorder reports it. */
export type RecorderSinks = {
  readonly replayRecorder: { activation(activation: Activation): void };
};

/** Type of the event under which the outcome of a local activity, or a patch, is kept. */
export const MARKER = "MARKER_RECORDED";
