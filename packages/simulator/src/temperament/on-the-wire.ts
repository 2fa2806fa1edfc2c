import { Clock, Effect } from "effect";
import { type HttpServerRequest, HttpServerResponse } from "effect/http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { isRecord } from "@durable-payments/api-core/values";
import type { Temperament } from "./temperament.ts";
import type { TemperamentInForceShape } from "./temperaments-in-force.ts";
import { writeAnswer } from "./written-answer.ts";

const COMPRESS = { br: brotliCompressSync, deflate: deflateSync, gzip: gzipSync } as const;

/** The coding of the temperament where the request accepts it. */
const codingFor = (
  accepted: string | undefined,
  { coding = "identity" }: Temperament,
): keyof typeof COMPRESS | undefined => {
  if (coding === "identity") return undefined;
  const names = (accepted ?? "").split(",").map((entry) => entry.split(";")[0]?.trim());
  return names.includes(coding) ? coding : undefined;
};

const httpDate = (at: number): string => new Date(at).toUTCString();

const JSON_TYPE = "application/json";

/** Writes the answer of an operation as the temperament in force has it. */
export const onTheWire = (
  operation: string,
  { headers }: HttpServerRequest.HttpServerRequest,
  answer: HttpServerResponse.HttpServerResponse,
  temperament: TemperamentInForceShape,
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    if (answer.body._tag !== "Uint8Array" || !answer.body.contentType.startsWith(JSON_TYPE)) {
      return answer;
    }
    const encoded: unknown = JSON.parse(Buffer.from(answer.body.body).toString());
    if (!isRecord(encoded)) return answer;
    const { body, status } = writeAnswer(
      operation,
      { status: answer.status, body: encoded },
      temperament,
    );
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const current = temperament.current();
    const coding = codingFor(headers["accept-encoding"], current);
    const { "content-length": _, "content-type": __, ...others } = answer.headers;
    const now = yield* Clock.currentTimeMillis;
    return HttpServerResponse.uint8Array(coding === undefined ? bytes : COMPRESS[coding](bytes), {
      status,
      contentType: typeof body === "string" ? "text/plain" : JSON_TYPE,
      headers: {
        ...others,
        ...(coding === undefined ? {} : { "content-encoding": coding }),
        ...(current.clockOffsetMs === undefined
          ? {}
          : { date: httpDate(now + current.clockOffsetMs) }),
      },
    });
  });
