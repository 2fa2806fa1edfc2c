import { Client } from "@temporalio/client";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { expect, it } from "vitest";
import { decodingConnection } from "../../src/facts/connection/temporal.ts";
import { readInput } from "../../src/facts/run-input.ts";
import { startAgain } from "@durable-payments/activities";
import { payloadOf, TemporalStub } from "../support/temporal-stub.ts";

const SEALED = Buffer.from("sealed");
const isSealed = ({ metadata }: Payload) => Buffer.from(metadata?.["by"] ?? []).equals(SEALED);

/** Turns every byte, and says so. */
const codec: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => ({
      metadata: { ...payload.metadata, by: SEALED },
      data: (payload.data ?? new Uint8Array()).map((byte) => byte ^ 255),
    })),
  decode: async (payloads) =>
    payloads.map((payload) =>
      isSealed(payload)
        ? {
            metadata: { encoding: payload.metadata?.["encoding"] ?? new Uint8Array() },
            data: (payload.data ?? new Uint8Array()).map((byte) => byte ^ 255),
          }
        : payload,
    ),
};
const dataConverter = { payloadCodecs: [codec] };

it("starts an encrypted run again with its input as it is stored", async () => {
  const run = { workflowId: "invoice-17", runId: "run-1" };
  const payloads = await codec.encode([payloadOf({ iban: "DE89370400440532013000" })]);
  const start = { workflowExecutionStartedEventAttributes: { input: { payloads } } };
  await using connected = await TemporalStub.connect([{ ...run, events: [start] }]);
  const { connection } = connected.temporal;
  const client = new Client({
    connection: decodingConnection(connection, dataConverter),
    dataConverter,
  });

  expect(await readInput({ client, connection }, run)).toEqual({ iban: "DE89370400440532013000" });
  await startAgain({ client, connection }, run, {}, undefined, "request-1");
  const [started] = connected.stub.started;
  expect(started?.input?.payloads?.map(isSealed)).toEqual([true]);
});
