import { holding } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { withJournalOrNot } from "../../src/connection/journal.ts";

it.each([undefined, "client"])(
  "a journal setting that names no place is refused by name, whether or not it is needed: client %s",
  async (clientId) => {
    let isUsed = false;
    const use = async () => {
      isUsed = true;
    };
    await expect(withJournalOrNot({ clientId, journal: "bogus" }, use)).rejects.toMatchObject({
      _tag: "InvalidInput",
      message: holding("PAYMENTS_JOURNAL must be"),
    });
    expect(isUsed).toBe(false);
  },
);
