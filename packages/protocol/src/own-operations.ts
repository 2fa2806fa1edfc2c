import type { Sending } from "./sending.ts";

/** The activity that sends an operation of a user's own, by which journal, histories and people know it. */
export type OwnSend = `send/${string}`;

/** What the activities of an operation of a user's own are called. */
export interface OwnActivityNames {
  /** Sends it. */
  readonly send: OwnSend;
  /** Reads what is listed that may be what was sent. */
  readonly find: string;
  /** Reads what an id names. */
  readonly read: string;
  /** Undoes what it made. */
  readonly undo: string;
  /** The field of an answer with the id of what it made. */
  readonly idField: string;
}

/** Check whether a name can be that of an operation: it becomes part of names of activities and fields. */
export const isOperationName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name);

/**
 * Name the activities of an operation of a user's own. All that tools and the journal have to know of it can be
 * read off these names.
 *
 * @param name of the operation: `bookEntry`.
 */
export const ownActivityNames = (name: string): OwnActivityNames => ({
  send: `send/${name}`,
  find: `find/${name}`,
  read: `read/${name}`,
  undo: `undo/${name}`,
  idField: `${name}_id`,
});

/** The field of an amendment that stands for the request of an operation of a user's own. */
export const OWN_REQUEST = "request";

const ownSending = (name: string): Sending => {
  const { find, idField, send, undo } = ownActivityNames(name);
  return {
    operation: send,
    makes: name,
    idField,
    input: OWN_REQUEST,
    filledIn: ["unique_request_id"],
    reconciledBy: find,
    undoneBy: undo,
    sentTwice: "does it twice if it was carried out",
  };
};

const sendingBy =
  (field: "operation" | "reconciledBy" | "undoneBy") =>
  (activity: string): Sending | undefined => {
    const name = activity.slice(activity.indexOf("/") + 1);
    const sending = isOperationName(name) ? ownSending(name) : undefined;
    return sending?.[field] === activity ? sending : undefined;
  };

/** Look up what the activity of an operation of a user's own sends; undefined where it is no such one. */
export const ownSendingOf = sendingBy("operation");

/** Check whether an operation is one of a user's own, and none of the payment service. */
export const isOwnSend = (operation: string): operation is OwnSend =>
  ownSendingOf(operation) !== undefined;

/** Look up the send that an activity of a user's own operation reconciles; undefined where it is no such one. */
export const ownSendingReconciledBy = sendingBy("reconciledBy");

/** Look up the send that an activity of a user's own operation undoes; undefined where it is no such one. */
export const ownSendingUndoneBy = sendingBy("undoneBy");
