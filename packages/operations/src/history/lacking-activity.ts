/** What a worker of Temporal answers to an activity that it does not have, before the names of all that it has. */
const NOT_REGISTERED = /^Activity function (\S+) is not registered on this Worker\b/;

/** An activity of an operation of a user's own: as `ownActivityNames` of the protocol has it. */
const OWN_ACTIVITY = /^(?:send|find|read|undo)\/(\w+)$/;

/**
 * Say what a worker lacks, where that is why an activity fails; any other message stays as it is. Nothing is sent
 * by an activity that no worker has.
 *
 * @param message of the failure of an attempt.
 */
export const withoutActivityNames = (message: string): string => {
  const activity = NOT_REGISTERED.exec(message)?.[1];
  if (activity === undefined) return message;
  const own = OWN_ACTIVITY.exec(activity)?.[1];
  return own === undefined
    ? `The worker lacks the activity ${activity}. Nothing was sent by this attempt.`
    : `The worker lacks the operation ${own}: give it by "operations: { ${own} }" in the settings of PaymentsPlugin. Nothing was sent by this attempt.`;
};
