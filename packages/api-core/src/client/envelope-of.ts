/** What every enveloped answer carries, beside its data. */
export interface Envelope {
  readonly code: number;
  readonly message: string;
}

/** The parsed body of an answer; undefined where it is no JSON. */
export const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
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
