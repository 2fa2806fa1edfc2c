/*
 * The class of a response, whatever its bytes are.
 *
 * A response speaks twice: by its HTTP status, and by the code of its envelope. They may contradict each other, and a
 * gateway may send a status of its own after the service has acted. So a write counts as without effect only if nothing
 * in the response says otherwise. A damaged body may be what is left of an envelope that says the opposite of its
 * status.
 */
import type { Assumptions } from "../contract/assumptions.ts";
import { SUCCESS_CODE } from "../contract/answers.ts";
import { isRecord, lookUp } from "../values.ts";
import type { FailedClass, ResponseClass } from "./outcomes.ts";
import type { Outgoing } from "./send.ts";

/** The context of a response: its request, and what is assumed of the service. */
export interface ResponseContext extends Pick<Outgoing, "hidden" | "isResend" | "operation"> {
  readonly assumptions: Assumptions;
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

/** Digits that a double carries, whatever they are. */
const EXACT_DIGITS = 15;

/** HTML, plain text, or nothing. Any other body may be what is left of an envelope that says the opposite of its status. */
const PAGE = /^\s*<[a-z!?]|^[^{["]*$/i;

/** A body that may have a long number, or half of a character. */
const NEEDS_CARE = /[:[,]\s*-?\d[\d.]{15}|\\ud[89a-f]/i;

/**
 * A number of more digits than a double carries, as the text that it was written as; null if that has an exponent. A
 * text without halves of characters: a worker of Temporal may end by a failure that has one.
 */
const asWritten = (
  _key: string,
  value: unknown,
  { source = "" }: { source?: string } = {},
): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "number" || source.replace(/\D/g, "").length <= EXACT_DIGITS) return value;
  return /e/i.test(source) ? null : source;
};

/** The parsed body of an answer; undefined if it is not JSON. Numbers that a double would round are texts. */
const parseJson = (body: string): unknown => {
  try {
    // Ten times as slow, and hardly ever needed.
    return NEEDS_CARE.test(body) ? JSON.parse(body, asWritten) : JSON.parse(body);
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

export const hasOneOf = (words: ReadonlyArray<string> = [], message: string): boolean =>
  words.some((word) => message.toLowerCase().includes(word.toLowerCase()));

/** A response as it came. */
export interface Received {
  readonly status: number;
  readonly body: string;
  readonly json: unknown;
  readonly envelope: Envelope | undefined;
}

/** Reads a response, whatever its bytes are. */
export const receivedOf = (status: number, body: string): Received => {
  const json = parseJson(body);
  return { status, body, json, envelope: envelopeOf(json) };
};

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
export const classOf = (context: ResponseContext, received: Received): ResponseClass => {
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
