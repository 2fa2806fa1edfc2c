/*
 * The class of a response, whatever its bytes are.
 *
 * A response speaks twice: by its HTTP status, and by the code of its envelope. They may contradict each other, and a
 * gateway may send a status of its own after the service has acted. So a write counts as without effect only if nothing
 * in the response says otherwise. A damaged body may be what is left of an envelope that says the opposite of its
 * status.
 */
import * as Duration from "effect/Duration";
import * as Result from "effect/Result";
import type { Assumptions } from "../contract/assumptions.ts";
import { SUCCESS_CODE } from "../contract/answers.ts";
import { isRecord, lookUp } from "../values.ts";
import {
  NotAuthenticated,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRefused,
  Unavailable,
  UnexpectedAnswer,
} from "./errors.ts";
import type { NoResponse } from "./no-response.ts";
import type { Operation } from "./operations.ts";
import {
  type Failed,
  failed,
  type FailedClass,
  outcomeOf,
  OUTCOMES,
  type ResponseClass,
} from "./outcomes.ts";
import { redact } from "./redact.ts";
import { answeredAt, type Outgoing, retryAfterMs, type WireResponse } from "./send.ts";
import { unknownOutcome } from "./unknown-outcome.ts";

/** The token was not accepted; sign in again. */
export interface TokenRejected {
  readonly _tag: "TokenRejected";
  /** The answer, in our own words. */
  readonly reason: string;
  /** Whether the operation may have been carried out. */
  readonly isInDoubt: boolean;
  /** The failure if it was not the token: set if only the words of the answer mention a token. */
  readonly otherwise: Failed | undefined;
}

/** The result of one exchange. */
export type ParsedResponse<A> =
  | { readonly _tag: "Success"; readonly value: A }
  | Failed
  | TokenRejected;

/** The context of a response. */
export interface ResponseContext {
  readonly operation: Operation;
  readonly assumptions: Assumptions;
  /** Values of the request that no error may show. */
  readonly hidden: () => ReadonlyArray<string>;
  /** Whether the request may have been sent before, by this call or by an earlier one. */
  readonly isResend: boolean;
}

/** The fields of every envelope, without its data. */
interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly hasData: boolean;
}

const FORBIDDEN = 403;
const TIMEOUT = 408;
const CONFLICT = 409;
const TOO_MANY = 429;
const DEFAULT_WAIT_MS = 1000;
const REASON_CHARACTERS = 500;

/** Digits that a double carries, whatever they are. */
const EXACT_DIGITS = 15;

/** HTML, plain text, or nothing. Any other body may be what is left of an envelope that says the opposite of its status. */
const PAGE = /^\s*<[a-z!?]|^[^{["]*$/i;

const MAY_BE_LONG_NUMBER = /[:[,]\s*-?\d[\d.]{15}/;

/** A number of more digits than a double carries, as the text that it was written as; null if that has an exponent. */
const asWritten = (
  _key: string,
  value: unknown,
  { source = "" }: { source?: string } = {},
): unknown => {
  if (typeof value !== "number" || source.replace(/\D/g, "").length <= EXACT_DIGITS) return value;
  return /e/i.test(source) ? null : source;
};

/** The parsed body of an answer; undefined if it is not JSON. Numbers that a double would round are texts. */
const parseJson = (body: string): unknown => {
  try {
    // Ten times as slow, and hardly ever needed.
    return MAY_BE_LONG_NUMBER.test(body) ? JSON.parse(body, asWritten) : JSON.parse(body);
  } catch {
    return undefined;
  }
};

const isEmpty = (data: unknown): boolean =>
  data === "" || (typeof (data ?? {}) === "object" && Object.keys(data ?? {}).length === 0);

/** The envelope of an answer, if it has one. A code that is written as a text means the same. */
const envelopeOf = (json: unknown): Envelope | undefined => {
  if (!isRecord(json)) return undefined;
  const { code: given, data, message } = json;
  const code = typeof given === "string" && /^\d{1,9}$/.test(given) ? Number(given) : given;
  return typeof code === "number" && Number.isFinite(code)
    ? { code, message: typeof message === "string" ? message : "", hasData: !isEmpty(data) }
    : undefined;
};

const isOk = (status: number): boolean => status >= 200 && status < 300;

const isSuccessMessage = (message: string): boolean => message.trim().toLowerCase() === "success";

const hasOneOf = (words: ReadonlyArray<string> = [], message: string): boolean =>
  words.some((word) => message.toLowerCase().includes(word.toLowerCase()));

/** A response as it came. */
interface Received {
  readonly status: number;
  readonly body: string;
  readonly json: unknown;
  readonly envelope: Envelope | undefined;
}

const isAlreadySo = ({ assumptions, operation }: ResponseContext, message: string): boolean =>
  hasOneOf(lookUp<ReadonlyArray<string>>(assumptions.alreadySoRefusals, operation.name), message);

/** The meaning of a status, or of a code under that status, on its own. */
const meaningOf = (
  { assumptions, operation }: ResponseContext,
  said: number,
  status: number,
): FailedClass => {
  const { notCarriedOutStatuses, rejectedTokenCodes } = assumptions;
  if (said === TIMEOUT || (said >= 500 && said === status)) {
    return said === status && notCarriedOutStatuses.includes(said) ? "busy" : "serverFault";
  }
  if (operation.signedIn && rejectedTokenCodes.includes(said)) return "tokenRejected";
  // A limiter behind the part that acts may turn away a request that was carried out.
  if (said === TOO_MANY) {
    return notCarriedOutStatuses.includes(said) ? "rateLimited" : "serverFault";
  }
  if (said === CONFLICT) return "conflict";
  return said >= 400 && said < 500 ? "refused" : "contradictory";
};

/** The class of a failure without an envelope, which may come from a gateway. */
const classOfGateway = (context: ResponseContext, { body, status }: Received): FailedClass => {
  const { assumptions, operation } = context;
  const counts = operation.idempotency === "safe" || PAGE.test(body);
  const isListed = counts && assumptions.notCarriedOutStatuses.includes(status);
  const meaning = meaningOf(context, status, status);
  if (meaning === "tokenRejected") return isListed ? "tokenRejected" : "tokenRejectedByGateway";
  if (!counts) return "contradictory";
  if (status === FORBIDDEN) return isListed ? "busy" : "serverFault";
  if (meaning === "refused") return isListed ? "turnedAway" : "gateway";
  return meaning;
};

/**
 * The class of a failure with an envelope. A plain refusal agrees with every other failure, which says more. Any
 * other difference between status and code is a contradiction, and so is a failure that comes with data.
 */
const classOfFailure = (
  context: ResponseContext,
  { code, hasData, message }: Envelope,
  status: number,
): FailedClass | "alreadySo" => {
  const byCode = meaningOf(context, code, status);
  const byStatus = isOk(status) ? "refused" : meaningOf(context, status, status);
  const isOneMeaning = byCode === byStatus || byCode === "refused" || byStatus === "refused";
  if (!isOneMeaning) return "contradictory";
  const is = byStatus === "refused" ? byCode : byStatus;
  if (is === "refused" && isAlreadySo(context, message)) return "alreadySo";
  if (hasData || isSuccessMessage(message)) return "contradictory";
  return is === "refused" && context.isResend ? "refusedResend" : is;
};

/** The class of a response, whatever its bytes are, except for a token that is rejected in words. */
const classOf = (context: ResponseContext, received: Received): ResponseClass => {
  const { operation } = context;
  const { envelope, json, status } = received;
  const saysSuccess =
    envelope === undefined
      ? isOk(status) && json !== undefined && !operation.enveloped
      : envelope.code === SUCCESS_CODE;
  if (saysSuccess) {
    if (!isOk(status)) return "contradictory";
    const message = envelope?.message ?? "";
    const isPlain = message.trim() === "" || isSuccessMessage(message);
    if (isPlain || operation.idempotency === "safe") return "success";
    return isAlreadySo(context, message) ? "alreadySo" : "unreadable";
  }
  return envelope === undefined
    ? classOfGateway(context, received)
    : classOfFailure(context, envelope, status);
};

/** The details of a failure, in addition to its class. */
interface Details {
  /** The end of the sentence "OPERATION was …". */
  readonly was: string;
  /** The words of the service, masked. */
  readonly reason?: string;
  readonly status?: number;
  readonly code?: number;
  readonly body?: string;
  readonly waitMs?: number | undefined;
  /** The next step for a person. */
  readonly remedy?: string | undefined;
}

const EARLIER_SEND = "An earlier send of it may have taken effect.";

const errorOf = (is: FailedClass, operation: Operation, details: Details): PaymentsError => {
  const { body, code, reason = "", status, waitMs = DEFAULT_WAIT_MS, was } = details;
  const { carriedOut } = outcomeOf(is, operation.idempotency);
  const { error } = OUTCOMES[is];
  const isOfEarlierSend = error === "RequestRefused" && carriedOut === "unknown";
  const remedy = isOfEarlierSend ? EARLIER_SEND : details.remedy;
  const what = `${operation.name} was ${was}.${remedy === undefined ? "" : ` ${remedy}`}`;
  const message = carriedOut === "unknown" ? unknownOutcome(operation.name, what) : what;
  const about = { operation: operation.name, message, ...(reason !== "" && { reason }) };
  if (error === "UnexpectedAnswer") {
    const answer = body === undefined ? {} : { answer: () => body };
    return new UnexpectedAnswer({
      ...about,
      carriedOut: carriedOut === "no" ? "no" : "unknown",
      ...answer,
    });
  }
  const refusedWith = code ?? status ?? CONFLICT;
  if (carriedOut !== "no") {
    const refused = isOfEarlierSend ? { code: refusedWith } : {};
    return new OutcomeUnknown({ ...about, carriedOut: "unknown", ...refused });
  }
  switch (error) {
    case "RateLimited":
      return new RateLimited({
        ...about,
        carriedOut,
        message: `${operation.name} was rejected: too many requests; try again in ${Duration.format(Duration.millis(waitMs))}.`,
        retryAfter: waitMs,
        by: "service",
      });
    case "NotAuthenticated":
      return new NotAuthenticated({ ...about, carriedOut });
    case "RequestRefused":
      return new RequestRefused({ ...about, carriedOut, reason, code: refusedWith });
    case "Unavailable":
      return new Unavailable({ ...about, carriedOut, ...(status !== undefined && { status }) });
  }
};

/** A failed exchange as {@link OUTCOMES} has it. */
export const failedAs = (
  is: FailedClass,
  operation: Operation,
  details: Details,
  isSent = true,
): Failed => {
  const { code, status, waitMs } = details;
  const isTooMany = status === TOO_MANY || code === TOO_MANY;
  return failed(errorOf(is, operation, details), outcomeOf(is, operation.idempotency).retry, {
    isSent,
    status,
    waitMs: is === "rateLimited" ? (waitMs ?? DEFAULT_WAIT_MS) : waitMs,
    pauseMs: isTooMany ? (waitMs ?? DEFAULT_WAIT_MS) : undefined,
  });
};

/** The time of a call was over before a send. */
export const timeIsOver = ({ limit, operation }: Pick<Outgoing, "limit" | "operation">): Failed =>
  failedAs(
    "notSentUntilFixed",
    operation,
    { was: `not sent: the call's limit of ${limit?.timeoutMs} ms had passed` },
    false,
  );

const CHECK_NETWORK = "Check PAYMENTS_BASE_URL (baseUrl) and the network.";

/** The next step for a person after some classes of responses. */
const REMEDIES: Readonly<Partial<Record<FailedClass, string>>> = {
  gateway: CHECK_NETWORK,
  turnedAway: CHECK_NETWORK,
};

/** Returns what it means that no whole answer came. */
export const parseNoResponse = (
  operation: Operation,
  { reason, remedy, sent }: NoResponse,
): Failed =>
  sent
    ? failedAs(remedy === undefined ? "lost" : "lostUntilFixed", operation, {
        was: `sent, but ${reason}`,
        remedy,
      })
    : failedAs(
        remedy === undefined ? "notSent" : "notSentUntilFixed",
        operation,
        { was: `not sent: ${reason}`, remedy: remedy ?? CHECK_NETWORK },
        false,
      );

/** Returns the readable text of a body, such as a page of HTML. */
const plainText = (body: string): string =>
  body
    .replace(/<(script|style)\b.*?(<\/\1>|$)/gis, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** More of a body is not looked at. */
const LONGEST_BODY = 8_000;

/** The beginning of a text, without the word that it is cut in. */
const beginningOf = (text: string): string =>
  text.length <= LONGEST_BODY ? text : text.slice(0, LONGEST_BODY).replace(/\S*$/, "");

const describe = (is: FailedClass, { body, envelope, status }: Received): string => {
  const verb = OUTCOMES[is].error === "RequestRefused" ? "refused" : "answered";
  const content = body === "" ? "an empty body" : "no envelope";
  return `${verb} with HTTP ${status} and ${envelope === undefined ? content : `code ${envelope.code}`}`;
};

/**
 * Parses a response, whatever its bytes are.
 *
 * @returns a success, a failure that says whether the operation was carried out, or a rejected token
 */
export const parseResponse = (
  context: ResponseContext,
  response: WireResponse,
): ParsedResponse<unknown> => {
  const { assumptions, hidden, operation } = context;
  const { body, headers, status } = response;
  const retryAfter = headers["retry-after"];
  const json = parseJson(body);
  const envelope = envelopeOf(json);
  const received = { status, body, json, envelope };
  let is = classOf(context, received);
  let unread = "with an undocumented message";
  if (is === "alreadySo") return { _tag: "Success", value: undefined };
  if (is === "success") {
    // Code and message have been read: neither may spoil good data.
    const data = operation.enveloped && isRecord(json) ? json["data"] : json;
    const read = operation.read(data);
    if (Result.isSuccess(read)) return { _tag: "Success", value: read.success };
    is = "unreadable";
    const { field, problem } = read.failure;
    const place = operation.enveloped ? "data" : "body";
    unread = `${field === "" ? place : `${place}.${field}`} ${problem}`;
  }
  const was = is === "unreadable" ? `answered with success, but ${unread}` : describe(is, received);
  if (is === "tokenRejected" || is === "tokenRejectedByGateway") {
    const isInDoubt = outcomeOf(is, operation.idempotency).carriedOut === "unknown";
    return { _tag: "TokenRejected", reason: was, isInDoubt, otherwise: undefined };
  }
  // Masked before it is cut, so that no cut lets half an account number through.
  const said = envelope === undefined ? plainText(beginningOf(body)) : envelope.message;
  const failed = failedAs(is, operation, {
    was,
    reason: redact(beginningOf(said), hidden()).slice(0, REASON_CHARACTERS),
    status,
    ...(envelope !== undefined && { code: envelope.code }),
    body,
    waitMs:
      retryAfter === undefined ? undefined : retryAfterMs(String(retryAfter), answeredAt(response)),
    remedy: REMEDIES[is],
  });
  const isRefusal = is === "refused" || is === "refusedResend";
  const speaksOfToken = hasOneOf(assumptions.rejectedTokenWords, envelope?.message ?? "");
  return isRefusal && operation.signedIn && speaksOfToken
    ? { _tag: "TokenRejected", reason: was, isInDoubt: false, otherwise: failed }
    : failed;
};
