import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  completeAll,
  expectOnce,
  startPayments,
  starter,
  succeed,
} from "./support/lost-temporal.ts";
import { startRealStack } from "./support/real-stack.ts";

test("Temporal's database is lost: by the procedure, each payment is made once, and every screen is true", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lost-"));
  const stack = await startRealStack(`sqlite:${join(folder, "ledger.sqlite")}`, {
    settleAfter: Infinity,
    verifyAfter: Infinity,
  });
  onTestFinished(async () => {
    await stack[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }, 60_000);
  const { batch, file, held, inputs, references, startOwn } = await startPayments(stack, folder, 3);
  const by = ["--by", "grace", "--reason", "Temporal's database is lost"];

  await succeed(stack, "pause", ...by);
  await stack.stopWorkers();
  await stack.loseTemporal();
  const left = {
    taken: { runs: [], writes: 0 },
    files: [{ id: batch, file: "november.jsonl", rows: 4 }],
    followed: 4,
    unfinished: [
      { workflowId: "card-1", type: "onboardCardholder" },
      { workflowId: "payReserved/own", type: "payReserved" },
      { workflowId: "payout/s1", type: "payout" },
    ],
  };
  expect(JSON.parse(await succeed(stack, "recover", "--by", "grace", "--json"))).toMatchObject(
    left,
  );
  const recovered = JSON.parse(await succeed(stack, "recover", "--yes", "--json", ...by));
  expect(recovered).toMatchObject(left);
  await stack.startWorkers();
  expect(await starter(stack, "doctor")).toMatchObject({
    code: 1,
    text: expect.stringMatching(/5 runs of the ledger are\s+unknown to Temporal/),
  });

  expect(await succeed(stack, "pay", file, "--by", "grace", "--yes")).toContain("uploaded by ada");
  const again = ["--by", "grace", "--not-a-duplicate", "lost"];
  expect(await succeed(stack, "pay", inputs.s1, "--key", "s1", ...again)).toContain("started");
  await succeed(stack, "onboard", inputs.card, "--id", "card-1", ...again);
  await startOwn();
  const { ledger } = stack.operations;
  for (const id of held) await ledger.resume("run", id, { by: "ada", how: "--by", reason: null });
  await succeed(stack, "resume", ...by);

  await completeAll(stack, references);
  await expectOnce(stack, references);
  const { code, text } = await starter(stack, "doctor");
  expect(code, text).toBe(0);
}, 240_000);
