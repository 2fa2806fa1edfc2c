/** What every enveloped answer carries, beside its data. */
export interface Envelope {
  readonly code: number;
  readonly message: string;
}

/** Digits that a double carries, whatever they are. */
const EXACT_DIGITS = 15;

const MAY_BE_LONG_NUMBER = /[:[,]\s*-?\d[\d.]{15}/;

/** What JSON.parse passes on with each value, from Node 21 on. */
interface Parsed {
  readonly source?: string;
}

/** A number of more digits than a double carries, as the text that it was written as. */
const asWritten = (_key: string, value: unknown, { source = "" }: Parsed = {}): unknown =>
  typeof value === "number" && source.replace(/\D/g, "").length > EXACT_DIGITS ? source : value;

/**
 * The parsed body of an answer; undefined where it is no JSON. Numbers that a double would round,
 * ids for instance, are texts.
 */
export const parseJson = (body: string): unknown => {
  try {
    // Ten times as slow, and hardly ever needed.
    return MAY_BE_LONG_NUMBER.test(body) ? JSON.parse(body, asWritten) : JSON.parse(body);
  } catch {
    return undefined;
  }
};

const codeOf = (code: unknown): number | undefined => {
  if (typeof code === "number" && Number.isFinite(code)) return code;
  // The document types it as a number; a service that writes its text means the same.
  return typeof code === "string" && /^\d{1,9}$/.test(code) ? Number(code) : undefined;
};

/** The envelope of an answer, where it has one. */
export const envelopeOf = (json: unknown): Envelope | undefined => {
  if (typeof json !== "object" || json === null || !("code" in json)) return undefined;
  const code = codeOf(json.code);
  if (code === undefined) return undefined;
  return {
    code,
    message: "message" in json && typeof json.message === "string" ? json.message : "",
  };
};
