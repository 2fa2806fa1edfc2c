import type { Input } from "@durable-payments/api-core";
import { makeMemoryJournal } from "@durable-payments/journal";
import { startSimulator } from "@durable-payments/simulator";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readSigningSecrets } from "../src/signing-secrets.ts";
import {
  activitiesFor,
  activitiesOver,
  environment,
  failureOf,
  run,
  START,
} from "./support/activities.ts";
import { beneficiary, payout } from "./support/bodies.ts";
import { type RawService, refusal, startRawService } from "./support/raw-service.ts";

const [first, second] = [randomBytes(32), randomBytes(32)];

const above = { ...payout, amount: "100.01" };

describe("what was approved", () => {
  let service: RawService;
  let apiKey: string;
  let secrets: ReadonlyArray<Uint8Array>;
  let made: ReturnType<typeof activitiesFor>;
  let number = 0;

  const activities = (clientId = "client-1") =>
    activitiesFor(
      service.url,
      { clientId, apiKey: () => apiKey },
      { approveAbove: { USD: "100.00" }, signingSecrets: () => secrets },
    );

  beforeEach(async () => {
    apiKey = "key-1";
    secrets = [first];
    service = await startRawService(() => refusal("It was sent."));
    made = activities();
  });
  afterEach(async () => {
    await made.close();
    await service.stop();
  });

  const prove = async (): Promise<string> => {
    const requests = [{ operation: "createPayout", input: above } as const];
    const approved = { firstRunId: START.firstRunId, requests };
    const [proof = ""] = await run(made.activities.proveApproval, approved, { isLocal: true });
    return proof;
  };

  const pay = (
    approval: string,
    { createPayout } = made.activities,
    input: Input<"createPayout"> = above,
  ) => {
    number += 1;
    const intent = { step: "createPayout", number, approvedBy: "Bob", approval };
    return failureOf(environment().run(createPayout, input, intent));
  };

  const sent = { type: "Refused" };
  const asks = { type: "NeedsApproval" };

  it("is sent with another API key, and while the secret that proved it counts", async () => {
    const approval = await prove();
    apiKey = "key-2";
    expect(await pay(approval)).toMatchObject(sent);
    secrets = [second, first];
    expect(await pay(approval)).toMatchObject(sent);
    expect(await pay(await prove())).toMatchObject(sent);
  });

  it("asks again once that secret is removed, and is not sent", async () => {
    const approval = await prove();
    secrets = [second];
    expect(await pay(approval)).toMatchObject(asks);
    expect(service.received).toEqual([]);
  });

  it("is proved by the API key before there is a secret, and asks again with another one", async () => {
    secrets = [];
    const approval = await prove();
    secrets = [first];
    expect(await pay(approval)).toMatchObject(sent);
    apiKey = "key-2";
    expect(await pay(approval)).toMatchObject(asks);
  });

  it("is approved of its account, and for nothing else", async () => {
    const approval = await prove();
    const other = activities("client-2");
    expect(await pay(approval, other.activities)).toMatchObject(asks);
    await other.close();
    expect(await pay(approval, undefined, { ...above, amount: "100.02" })).toMatchObject(asks);
    expect(await pay("A".repeat(43))).toMatchObject(asks);
    expect(service.received).toEqual([]);
  });
});

it("a payee is known again by the secrets of before", async () => {
  const simulator = await startSimulator();
  let secrets: ReadonlyArray<Uint8Array> = [first];
  const journal = { ...makeMemoryJournal(), isOfProcess: false };
  const approveAbove = { [beneficiary.account_currency]: "0.01" };
  const made = activitiesOver(
    simulator,
    {},
    { journal, approveAbove, signingSecrets: () => secrets },
  );
  try {
    const { beneficiary_id } = await run(made.activities.createBeneficiary, beneficiary);
    const described = () => run(made.activities.describePayee, { beneficiary_id });
    const { mark: payee = "" } = await described();
    secrets = [second, first];
    expect((await described()).mark).not.toBe(payee);
    const input = { ...payout, beneficiary_id, currency: beneficiary.account_currency };
    const requests = [{ operation: "createPayout", input } as const];
    const approved = { firstRunId: START.firstRunId, requests, payee };
    const [approval = ""] = await run(made.activities.proveApproval, approved, { isLocal: true });
    const intent = { step: "createPayout", number: 1, approvedBy: "Bob", approvedPayee: payee };
    await environment().run(made.activities.createPayout, input, { ...intent, approval });
    expect(await described()).toMatchObject({ paid_before: "yes" });
  } finally {
    await made.close();
    await simulator.stop();
  }
});

describe("the file of the secrets", () => {
  const folder = makeTestFolder();
  afterAll(() => folder.remove());
  afterEach(() => vi.restoreAllMocks());
  const file = join(folder.path, "secrets");
  const NAME = "PAYMENTS_SIGNING_SECRET_FILE";
  const warned: Array<string> = [];
  const read = () => readSigningSecrets(NAME, file, (message) => warned.push(message));

  it("has one on each line, and is read again", async () => {
    await writeFile(file, `${second.toString("base64")}\r\n\n${first.toString("base64")}\n`);
    const secrets = read();
    expect(secrets()).toEqual([second, first]);
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 2_000);
    await writeFile(file, second.toString("base64"));
    expect(secrets()).toEqual([second]);
  });

  it.each(["", "\n", "short", Buffer.alloc(31).toString("base64"), "!".repeat(44)])(
    "is refused where it holds %j, which is not told",
    async (content) => {
      await writeFile(file, content);
      expect(read).toThrow(
        `${NAME} must name a file with a secret on each line, and nothing else: at least 32 random bytes in Base64 (openssl rand -base64 32).`,
      );
    },
  );

  it("is named where it is missing", () => {
    expect(() => readSigningSecrets(NAME, join(folder.path, "none"), () => undefined)).toThrow(
      `${NAME} must be the path of a file`,
    );
  });
});
