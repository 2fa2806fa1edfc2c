import * as Duration from "effect/Duration";
import { dataOf, SUCCESS_CODE } from "../contract/envelope.ts";
import { type Contradiction, contradictionsOf } from "./contradictions.ts";
import { decodeAnswer } from "./decode-answer.ts";
import { type Envelope, envelopeOf, parseJson } from "./response-body.ts";
import { OutcomeUnknown, RateLimited, Refused } from "./errors.ts";
import type { Operation } from "./operations.ts";
import {
  type Failed,
  failed,
  outcomeUnknown,
  type ParsedResponse,
  type ResponseContext,
  shown,
  type TokenRejected,
  unavailable,
  unexpected,
} from "./parsed-response.ts";
import { retryAfterMs } from "./retry-policy.ts";
import type { WireResponse } from "./wire.ts";

/** An answer that is no plain success, with what its readers need of it. */
interface UnsuccessfulResponse extends ResponseContext {
  readonly status: number;
  readonly body: string;
  readonly envelope: Envelope | undefined;
  /** The envelope's message, masked. */
  readonly reason: string;
  /** The answer in a few words, for a message. */
  readonly summary: string;
  /** How long the service asks to wait. */
  readonly waitMs: number | undefined;
}

const REASON_CHARACTERS = 500;
const TEXT_CHARACTERS = 300;
const FORBIDDEN = 403;
const TIMEOUT = 408;
const CONFLICT = 409;
const TOO_MANY = 429;
const DEFAULT_WAIT_MS = 1000;

/** More of a body is not looked at for a message. */
const LONGEST_TEXT = 16 * TEXT_CHARACTERS;

/** What a person would read of a body: of a page of HTML, its text. */
const plainText = (body: string): string =>
  body
    .slice(0, LONGEST_TEXT)
    .replace(/<(script|style)\b.*?(<\/\1>|$)/gis, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

const describeResponse = (
  context: ResponseContext,
  { body, retryAfter, status }: WireResponse,
  envelope: Envelope | undefined,
  now: number,
): UnsuccessfulResponse => {
  const reason = envelope === undefined ? "" : shown(envelope.message, context, REASON_CHARACTERS);
  const said =
    envelope === undefined
      ? shown(plainText(body), context, TEXT_CHARACTERS, body.length > LONGEST_TEXT)
      : reason;
  const content =
    envelope === undefined
      ? body === ""
        ? "an empty body"
        : "no envelope"
      : `code ${envelope.code}`;
  return {
    ...context,
    status,
    body,
    envelope,
    reason,
    summary: `HTTP ${status} and ${content}${said === "" ? "" : ` (${said})`}`,
    waitMs: retryAfter === undefined ? undefined : retryAfterMs(retryAfter, now),
  };
};

const patterns = new Map<string, RegExp>();

/** A pattern from the settings is run over no more than this of a message. */
const MATCHED_CHARACTERS = 2000;

const matches = (source: string, message: string): boolean => {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    pattern = new RegExp(source, "i");
    patterns.set(source, pattern);
  }
  return pattern.test(message.slice(0, MATCHED_CHARACTERS));
};

/** An envelope of the one documented code, 400, or one of its kin. */
const isRefusal = (envelope: Envelope | undefined): envelope is Envelope =>
  envelope !== undefined && envelope.code >= 400 && envelope.code < 500;

/**
 * A success as documented has the message "Success". Another one may speak of a write that was not
 * carried out, so that its outcome is unknown; of a read, the data is what it is.
 */
const parseSuccess = (
  context: ResponseContext,
  answer: WireResponse,
  json: unknown,
  envelope: Envelope | undefined,
): ParsedResponse<unknown> => {
  const { assumptions, operation } = context;
  const message = envelope?.message.trim() ?? "";
  if (
    operation.idempotency === "safe" ||
    message === "" ||
    matches(assumptions.successMessage, message)
  ) {
    return parseData(context, answer.body, json);
  }
  return isAlreadySo(context, message)
    ? ALREADY_SO
    : unexpected(
        context,
        `code ${SUCCESS_CODE} and another message than "Success": ${shown(message, context, REASON_CHARACTERS)}`,
        answer.body,
        "never",
      );
};

const ALREADY_SO = { _tag: "Success", value: undefined, ignored: [] } as const;

const isAlreadySo = ({ assumptions, operation }: ResponseContext, message: string): boolean => {
  const alreadySo = assumptions.alreadySoRefusals[operation.name];
  return alreadySo !== undefined && matches(alreadySo, message);
};

const ID_CHARACTERS = 100;

/** Numbers of cards and accounts are not shown. */
const describeContradiction = (
  { as, field, sent, shown: other }: Contradiction,
  context: ResponseContext,
): string => {
  if (as === "number") return `another ${field}`;
  const ids = as === "id" ? [...context.ids, sent, other] : context.ids;
  const visible = (text: string): string => shown(text, { ...context, ids }, ID_CHARACTERS);
  return `${field} ${visible(other)} instead of ${visible(sent)}`;
};

const parseData = (
  context: ResponseContext,
  body: string,
  json: unknown,
): ParsedResponse<unknown> => {
  const { operation } = context;
  const decoded = decodeAnswer(operation, json);
  if (decoded !== undefined) {
    const others = contradictionsOf(operation, context.assumptions, context.sent, decoded.value);
    if (others.length === 0) return { _tag: "Success", ...decoded };
    const differing = others.map((other) => describeContradiction(other, context));
    return unexpected(
      context,
      `success, but about something else: ${differing.join(", ")}`,
      body,
      "never",
      others.map(({ field }) => field),
    );
  }
  const data = dataOf(json);
  const isEmpty = operation.enveloped && (data === undefined || data === null);
  return unexpected(
    context,
    isEmpty ? "success, but without its data" : "success, but not in the documented shape",
    body,
    "never",
  );
};

/**
 * Whether the response is no evidence of how far the service came: a fault of the server, whatever
 * the body; a time that was over; and HTTP 403 without an envelope, by which filters in
 * between withhold an answer, too.
 */
const isInconclusive = ({ assumptions, envelope, status }: UnsuccessfulResponse): boolean =>
  status >= 500 ||
  status === TIMEOUT ||
  envelope?.code === TIMEOUT ||
  (status === FORBIDDEN &&
    envelope === undefined &&
    !assumptions.rejectedTokenCodes.includes(FORBIDDEN));

const parseInconclusive = (response: UnsuccessfulResponse): Failed | undefined => {
  const { assumptions, operation, status, summary, waitMs } = response;
  if (!isInconclusive(response)) return undefined;
  return assumptions.notCarriedOutStatuses.includes(status)
    ? unavailable(operation, `turned away with ${summary}.`, "always", { status, waitMs })
    : outcomeUnknown(operation, `answered with ${summary}`, { waitMs });
};

const parseRejectedToken = (response: UnsuccessfulResponse): TokenRejected | undefined => {
  const { assumptions, envelope, operation, status, summary } = response;
  const { rejectedTokenCodes, rejectedTokenMessage } = assumptions;
  if (!operation.signedIn) return undefined;
  const isByCode =
    rejectedTokenCodes.includes(status) ||
    (envelope !== undefined && rejectedTokenCodes.includes(envelope.code));
  if (isByCode) {
    const isInDoubt =
      operation.idempotency !== "safe" &&
      envelope === undefined &&
      !assumptions.notCarriedOutStatuses.includes(status);
    return { _tag: "TokenRejected", reason: summary, isInDoubt, otherwise: undefined };
  }
  if (!isRefusal(envelope) || !matches(rejectedTokenMessage, envelope.message)) return undefined;
  const otherwise = parseRefusal(response);
  return otherwise?._tag === "Failed"
    ? { _tag: "TokenRejected", reason: summary, isInDoubt: false, otherwise }
    : undefined;
};

const parseRateLimit = (response: UnsuccessfulResponse): Failed | undefined => {
  const { assumptions, envelope, operation, status, summary, waitMs } = response;
  if (status !== TOO_MANY && envelope?.code !== TOO_MANY) return undefined;
  // A limiter behind the one that carries out may turn away what was carried out.
  if (operation.idempotency !== "safe" && !assumptions.notCarriedOutStatuses.includes(TOO_MANY)) {
    return outcomeUnknown(operation, `answered with ${summary}`, { waitMs });
  }
  const retryAfter = waitMs ?? DEFAULT_WAIT_MS;
  return failed(
    new RateLimited({
      operation: operation.name,
      carriedOut: "no",
      message: `${operation.name} was turned away: too many requests; again in ${Duration.format(Duration.millis(retryAfter))}.`,
      retryAfter,
    }),
    "always",
    retryAfter,
  );
};

const parseRefusal = (response: UnsuccessfulResponse): ParsedResponse<undefined> | undefined => {
  const { assumptions, body, envelope, isKeyed, isResend, operation, reason, status, summary } =
    response;
  if (!isRefusal(envelope)) return undefined;
  const { code, message } = envelope;
  if (isAlreadySo(response, message)) return ALREADY_SO;
  // It contradicts itself, and nobody knows what was done.
  if (matches(assumptions.successMessage, message.trim())) {
    return unexpected(response, summary, body, "ifIdempotent");
  }
  // A conflict is one with what the service has: for all that is known with the like of this very
  // request, whoever sent it. Words may speak of anything, unless the request was sent before.
  const isConflict = status === CONFLICT || code === CONFLICT;
  const isKnownKey = isResend && matches(assumptions.repeatedKeyRefusal, message);
  if (isConflict && mayConflictWithItself(response)) return repeatedKey(operation, summary);
  if (isKeyed && isKnownKey) return repeatedKey(operation, summary);
  return failed(
    new Refused({
      operation: operation.name,
      carriedOut: "no",
      message: `${operation.name} was refused: ${reason === "" ? `code ${code}` : reason}`,
      code,
      reason,
    }),
    "never",
  );
};

/** Whether a conflict may be one with the like of this request: what makes something, by a key or without. */
const mayConflictWithItself = ({ isKeyed, operation }: UnsuccessfulResponse): boolean =>
  isKeyed || operation.idempotency === "none";

/** The key was used before: by an earlier send of this very request, for all that is known. */
const repeatedKey = (operation: Operation, summary: string): Failed =>
  failed(
    new OutcomeUnknown({
      operation: operation.name,
      carriedOut: "unknown",
      message: `${operation.name} was refused as a repeat of an earlier request: ${summary}`,
    }),
    "never",
  );

const parseTurnedAway = (response: UnsuccessfulResponse): Failed | undefined => {
  const { assumptions, body, envelope, operation, status, summary } = response;
  if (status < 400 || status >= 500) return undefined;
  if (mayConflictWithItself(response) && status === CONFLICT)
    return repeatedKey(operation, summary);
  if (envelope !== undefined) return undefined;
  // Not by the service, for all that is known: a gateway may say it after the service has carried it out.
  return operation.idempotency === "safe" || assumptions.notCarriedOutStatuses.includes(status)
    ? unavailable(operation, `turned away with ${summary}.`, "never", { status })
    : unexpected(response, summary, body, "never");
};

/**
 * Parse a response, whatever its bytes are: never a defect.
 *
 * @param now milliseconds since 1970, for a `Retry-After` that is a date
 * @returns a success, a failure that says whether the operation was carried out, or a rejected token
 */
export const parseResponse = (
  context: ResponseContext,
  answer: WireResponse,
  now: number,
): ParsedResponse<unknown> => {
  const { body, status } = answer;
  const json = parseJson(body);
  const envelope = envelopeOf(json);
  const isOk = status >= 200 && status < 300;
  const saysSuccess =
    envelope === undefined
      ? isOk && json !== undefined && !context.operation.enveloped
      : envelope.code === SUCCESS_CODE;
  if (saysSuccess && isOk) return parseSuccess(context, answer, json, envelope);
  const response = describeResponse(context, answer, envelope, now);
  // It contradicts itself, and nobody knows what was done.
  if (saysSuccess) return unexpected(context, response.summary, body, "ifIdempotent");
  return (
    parseInconclusive(response) ??
    parseRejectedToken(response) ??
    parseRateLimit(response) ??
    parseRefusal(response) ??
    parseTurnedAway(response) ??
    unexpected(context, response.summary, body, "ifIdempotent")
  );
};
