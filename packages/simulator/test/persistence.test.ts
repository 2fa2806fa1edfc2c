import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../src/index.ts";
import { runListening } from "./support/process.ts";
import { signedIn } from "./support/raw-client.ts";
import { balance, cardBody, createBeneficiary, createCard, createPayout } from "./support/steps.ts";

let folder: string;
let stateFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "simulator-"));
  stateFile = join(folder, "ledger.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a restart", () => {
  it("finds everything again: records, used keys, tokens, sign-ins", async () => {
    const before = await startSimulator({ stateFile, settleAfter: Infinity });
    const client = await signedIn(before);
    await createPayout(client, await createBeneficiary(client));
    await createCard(before, client);
    const { requests: _, ...ledger } = await before.state();
    await before.stop();

    const after = await startSimulator({ stateFile, balances: { USD: "1.00" } });
    const { requests, ...found } = await after.state();
    expect(found).toEqual(ledger);
    expect(requests).toEqual({});
    const again = {
      ...client,
      ...(await signedIn(after, client.headers["x-auth-token"].slice(7))),
    };
    const repeat = await again.post("/api/v1/cards/create", await cardBody(after, again));
    expect(repeat.body.data.card_id).toBe(ledger.cards[0]!.card_id);
    expect(await balance(again)).toBe("99887.00");
    await after.stop();
  });

  it("settles what fell due meanwhile, at its own time", async () => {
    const before = await startSimulator({ stateFile, settleAfter: 5 });
    const client = await signedIn(before);
    const { id, create_time } = (await createPayout(client, await createBeneficiary(client))).body
      .data;
    await before.stop();
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(create_time) + 5);
    const after = await startSimulator({ stateFile, settleAfter: Infinity });
    const payout = (await after.state()).payouts.find(({ payout_id }) => payout_id === id)!;
    expect(payout.payout_status).toBe("completed");
    expect(Date.parse(payout.complete_time!)).toBe(Date.parse(create_time) + 5);
    await after.stop();
  });
});

it("loses no payout that was answered, nor keeps half of one, when it is killed", async () => {
  const answered = new Set<string>();
  let sent = 0;
  const payUntilKilled = async (killAt: number) => {
    const flags = ["--state-file", stateFile, "--settle-after", "never"];
    const { child, ended, target } = await runListening(flags);
    const client = await signedIn(target);
    const beneficiary = await createBeneficiary(client);
    const payOn = async (): Promise<void> => {
      sent += 1;
      const { body } = await createPayout(client, beneficiary, { amount: "1" });
      answered.add(body.data.id);
      if (answered.size === killAt) child.kill("SIGKILL");
      return payOn();
    };
    await Promise.allSettled(Array.from({ length: 8 }, payOn));
    expect((await ended).signal).toBe("SIGKILL");
  };
  await payUntilKilled(40);
  await payUntilKilled(80);
  const after = await startSimulator({ stateFile });
  const { balances, payouts, transactions } = await after.state();
  await after.stop();
  const kept = new Set(payouts.map(({ payout_id }) => payout_id));
  expect([...answered].filter((id) => !kept.has(id))).toEqual([]);
  expect(payouts.length).toBeLessThanOrEqual(sent);
  expect(transactions.filter((each) => each.transaction_type === "payout")).toHaveLength(
    payouts.length,
  );
  expect(balances[0]!.available_balance).toBe(`${100_000 - payouts.length}.00`);
});

describe("a state file", () => {
  const write = async () => {
    const simulator = await startSimulator({ stateFile });
    await createBeneficiary(await signedIn(simulator));
    await simulator.stop();
  };

  it("may lack the end of its last line: that was never answered", async () => {
    await write();
    const whole = readFileSync(stateFile, "utf8");
    appendFileSync(stateFile, '[["payouts","x",{"payout_id"');
    const simulator = await startSimulator({ stateFile });
    const client = await signedIn(simulator);
    await createBeneficiary(client);
    await simulator.stop();
    expect(readFileSync(stateFile, "utf8").startsWith(`${whole}[[`)).toBe(true);
    const again = await startSimulator({ stateFile });
    expect((await again.state()).beneficiaries).toHaveLength(2);
    await again.stop();
  });

  it.each(["[[\n", '[["balances","USD",{"currency":"USD"}]]\n'])(
    "that holds the line %j is named with it, and left as it is",
    async (line) => {
      await write();
      appendFileSync(stateFile, line);
      const damaged = readFileSync(stateFile, "utf8");
      await expect(startSimulator({ stateFile })).rejects.toThrow(
        `${stateFile} is damaged in line ${damaged.split("\n").length - 1}.`,
      );
      expect(readFileSync(stateFile, "utf8")).toBe(damaged);
    },
  );

  it.each(["hello\n", "hello", '{"format":"other","version":1}\n'])(
    "that is another program's is refused, and left as it is: %j",
    async (content) => {
      writeFileSync(stateFile, content);
      await expect(startSimulator({ stateFile })).rejects.toThrow(
        `${stateFile} is not a state file of this simulator.`,
      );
      expect(readFileSync(stateFile, "utf8")).toBe(content);
    },
  );

  it("that cannot be opened is named with the reason", async () => {
    await expect(startSimulator({ stateFile: join(folder, "none", "file") })).rejects.toThrow(
      /The state file cannot be opened: ENOENT/,
    );
  });
});
