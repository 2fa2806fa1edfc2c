/*
 * The meaning of one response: a success, a failure, or a rejected token.
 *
 * Its class comes first, and only then its data: a class says whether the operation was carried out, and good data with
 * bad words around it must not be lost.
 */
import * as Result from "effect/Result";
import { isRecord } from "../values.ts";
import { failedAs } from "./failures.ts";
import { type Failed, type FailedClass, outcomeOf, OUTCOMES } from "./outcomes.ts";
import { redact } from "./redact.ts";
import {
  classOf,
  hasOneOf,
  type Received,
  receivedOf,
  type ResponseContext,
} from "./response-class.ts";
import { answeredAt, retryAfterMs, type WireResponse } from "./send.ts";

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

const REASON_CHARACTERS = 500;

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
  const received = receivedOf(status, body);
  const { envelope, json } = received;
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
    reason: redact(beginningOf(said), hidden()).slice(0, REASON_CHARACTERS).toWellFormed(),
    status,
    ...(envelope !== undefined && { code: envelope.code }),
    body,
    waitMs:
      retryAfter === undefined ? undefined : retryAfterMs(String(retryAfter), answeredAt(response)),
  });
  const isRefusal = is === "refused" || is === "refusedResend";
  const speaksOfToken = hasOneOf(assumptions.rejectedTokenWords, envelope?.message ?? "");
  return isRefusal && operation.signedIn && speaksOfToken
    ? { _tag: "TokenRejected", reason: was, isInDoubt: false, otherwise: failed }
    : failed;
};
