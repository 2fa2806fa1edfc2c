import { appendFileSync } from "node:fs";
import { type BegunSend, openJournal, readJournalPlace } from "../../src/index.ts";
import { sendOf } from "./sends.ts";

/** What a test asks of a process that sends. */
export type Order =
  | { readonly do: "begin"; readonly workflowId: string; readonly number: number }
  /** Sends what has begun, where the journal still permits it: a line in the service's ledger. */
  | { readonly do: "dispatch"; readonly ledger: string }
  /** Begins one write after the other, and says so, until it is killed. */
  | { readonly do: "beginMany" };

const [, , setting = "", account = ""] = process.argv;
const journal = await openJournal(readJournalPlace(setting, account), account);
let begun: BegunSend | undefined;
let sent: string;

const answer = (message: string) => void process.send?.(message);

const obey = async (order: Order): Promise<void> => {
  switch (order.do) {
    case "begin": {
      const result = await journal.begin(sendOf(order));
      begun = result._tag === "Begun" ? result.send : undefined;
      sent = `${order.workflowId} ${order.number} by ${process.pid}\n`;
      return answer(result._tag);
    }
    case "dispatch": {
      const mayBeSent = (await begun?.isLatest()) === true;
      if (mayBeSent) appendFileSync(order.ledger, sent);
      return answer(mayBeSent ? "sent" : "not sent");
    }
    case "beginMany":
      for (let number = 1; ; number++) {
        await journal.begin(sendOf({ workflowId: `many-${process.pid}`, number }));
        answer(String(number));
      }
  }
};

process.on("message", (order: Order) => void obey(order));
answer("ready");
