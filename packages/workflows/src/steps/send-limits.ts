/** Longest wait between two sends that were turned away, while the service can be reached. */
export const LONGEST_WAIT_MS = 60 * 60_000;

/** Repeats of a request that may be repeated as it is, before a person is asked. */
export const MOST_REPEATS = 5;

/** Times that a send is found to be absent and made again, before a person is asked. */
export const MOST_ABSENT = 3;

/**
 * Times that a request is turned away as it is (HTTP 400, 422; 401 while ping is answered), before a
 * person is asked.
 */
export const MOST_TURNED_AWAY = 3;

/** Events of a history, before a person is asked how to go on: a tenth of the server's limit. */
export const MOST_EVENTS = 5_000;
