import { readFileSync } from "node:fs";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { answers } from "../support/responses.ts";
import { clientFor, exchange, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, startServer } from "../support/server.ts";

const manifest = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const good = JSON.stringify(answers.createPayout.body);

const answering =
  (coding: string, bytes: Uint8Array, status = 200): Answer =>
  () =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", "content-encoding": coding });
    response.end(bytes);
  };

const failed = async (answer: Answer) => {
  await using server = await startServer(answer);
  await using client = clientFor(server.url);
  const error = await failureOf(client.createPayout(requests.createPayout));
  return { error, sent: server.requests.length };
};

describe("a coded answer", () => {
  it.each([
    ["gzip", gzipSync(good)],
    ["GZIP", gzipSync(good)],
    ["x-gzip", gzipSync(good)],
    ["br", brotliCompressSync(good)],
    ["deflate", deflateSync(good)],
    ["identity", Buffer.from(good)],
    ["", Buffer.from(good)],
  ])("in %s is read", async (coding, bytes) => {
    const { result } = await exchange(
      "createPayout",
      requests.createPayout,
      answering(coding, bytes),
    );
    expect(result).toMatchObject({ payout_id: "p-1" });
  });

  it("that refuses is a refusal", async () => {
    const refusing = gzipSync(JSON.stringify({ code: 400, message: "Balance is too low" }));
    expect((await failed(answering("gzip", refusing, 400))).error).toMatchObject({
      _tag: "RequestRefused",
      reason: "Balance is too low",
    });
  });

  it.each([
    ["is cut", "gzip", gzipSync(good).subarray(0, -9), "its response is not valid gzip"],
    ["is cut", "br", brotliCompressSync(good).subarray(0, -4), "its response is not valid br"],
    ["is cut", "deflate", deflateSync(good).subarray(0, -6), "its response is not valid deflate"],
    ["is none", "gzip", Buffer.from(good), "its response is not valid gzip"],
    [
      "is another",
      "zstd",
      Buffer.from(good),
      "its response has an encoding that was not requested",
    ],
    [
      "every object has",
      "constructor",
      Buffer.from(good),
      "its response has an encoding that was not requested",
    ],
    [
      "is long when decoded",
      "gzip",
      gzipSync(Buffer.alloc(16 * 1024 * 1024 + 1, 0x20)),
      "its response is too long",
    ],
  ])("that %s leaves a write in doubt: %s", async (_, coding, bytes, reason) => {
    const { error, sent } = await failed(answering(coding, bytes));
    expect(error).toMatchObject({
      _tag: "OutcomeUnknown",
      carriedOut: "unknown",
      message: expect.stringContaining(`createPayout was sent, but ${reason}.`),
    });
    expect(sent).toBe(1);
  });

  it("may be as long as an answer may be", async () => {
    const long = good.padEnd(16 * 1024 * 1024, " ");
    const { result } = await exchange(
      "createPayout",
      requests.createPayout,
      answering("br", brotliCompressSync(long)),
    );
    expect(result).toMatchObject({ payout_id: "p-1" });
  });
});

it("every request says what it takes and who it is, the sign-in too", async () => {
  await using server = await startServer(() => answers.ping);
  await using client = clientFor(server.url);
  await client.ping();
  for (const { headers } of [...server.signIns, ...server.requests]) {
    expect(headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "gzip, br, deflate",
      "user-agent": `durable-payments/${manifest.version}`,
    });
  }
});
