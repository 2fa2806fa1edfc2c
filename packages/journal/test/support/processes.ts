import { fork } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openJournal, readJournalPlace } from "../../src/index.ts";
import type { Order } from "./sender-process.ts";
import { sendOf } from "./sends.ts";

/** A process that sends, over the journal of a setting. */
const startSender = async (setting: string, account: string) => {
  const child = fork(new URL("sender-process.ts", import.meta.url), [setting, account], {
    execArgv: ["--conditions=@durable-payments/source"],
  });
  const received: Array<string> = [];
  let arrived = () => {};
  child.on("message", (message: string) => {
    received.push(message);
    arrived();
  });
  const arrival = () =>
    new Promise<void>((resolve) => {
      arrived = resolve;
    });
  const next = async (): Promise<string> => {
    for (;;) {
      const message = received.shift();
      if (message !== undefined) return message;
      await arrival();
    }
  };
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  expect(await next()).toBe("ready");
  return {
    pid: child.pid,
    received,
    next,
    order: (order: Order) => void child.send(order),
    ask: (order: Order) => {
      child.send(order);
      return next();
    },
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
};

const ROUNDS = 40;

/** What a journal must do for several processes. `setting`: as in PAYMENTS_JOURNAL. */
export const describeProcesses = (setting: () => string): void => {
  const journalOf = (account: string) => openJournal(readJournalPlace(setting(), account), account);

  const withLedger = async (use: (ledger: string) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), "journal-ledger-"));
    const ledger = join(folder, "ledger");
    await writeFile(ledger, "");
    try {
      await use(ledger);
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  it("of two processes that begin the same send at the same moment one may send it", async () => {
    const [one, two] = await Promise.all([
      startSender(setting(), "racing"),
      startSender(setting(), "racing"),
    ]);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const order = { do: "begin", workflowId: `race-${round}`, number: 1 } as const;
        const answers = await Promise.all([one.ask(order), two.ask(order)]);
        expect(answers.toSorted()).toEqual(["AlreadySent", "Begun"]);
      }
    } finally {
      await Promise.all([one.kill(), two.kill()]);
    }
  });

  it("what a process began before it was killed is known to the next", async () => {
    const killed = await startSender(setting(), "killed");
    expect(await killed.ask({ do: "begin", workflowId: "paid-1", number: 1 })).toBe("Begun");
    await killed.kill();
    const journal = await journalOf("killed");
    const again = await journal.begin(sendOf({ workflowId: "paid-1" }));
    expect(again).toMatchObject({ _tag: "AlreadySent", latest: { number: 1, outcome: "begun" } });
    const resent = await journal.begin(sendOf({ workflowId: "paid-1", number: 2 }));
    expect(resent._tag).toBe("Begun");
    await journal.close();
  });

  it("nothing that was said to be written is lost by a kill in the midst of writing", async () => {
    const writer = await startSender(setting(), "writer");
    writer.order({ do: "beginMany" });
    for (let received = 0; received < 25; received++) await writer.next();
    await writer.kill();
    const acknowledged = Number(writer.received.at(-1) ?? 25);
    const journal = await journalOf("writer");
    const found = await journal.find(sendOf({ workflowId: `many-${writer.pid}` }));
    // One more may have been written, and not acknowledged.
    expect(found.length).toBeGreaterThanOrEqual(acknowledged);
    expect(found.map(({ number }) => number)).toEqual(found.map((_, index) => index + 1));
    await journal.close();
  });

  it("a process that was frozen before it sent does not send any more after a resend", () =>
    withLedger(async (ledger) => {
      const [frozen, other] = await Promise.all([
        startSender(setting(), "frozen"),
        startSender(setting(), "frozen"),
      ]);
      try {
        const workflowId = "payout-1";
        expect(await frozen.ask({ do: "begin", workflowId, number: 1 })).toBe("Begun");
        frozen.signal("SIGSTOP");
        frozen.order({ do: "dispatch", ledger });
        expect(await other.ask({ do: "begin", workflowId, number: 2 })).toBe("Begun");
        expect(await other.ask({ do: "dispatch", ledger })).toBe("sent");
        frozen.signal("SIGCONT");
        expect(await frozen.next()).toBe("not sent");
        expect(await readFile(ledger, "utf8")).toBe(`payout-1 2 by ${other.pid}\n`);
      } finally {
        await Promise.all([frozen.kill(), other.kill()]);
      }
    }));
};
