import { Argument, Command, Flag } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, on, reason, text, yes } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  file: Argument.String("FILE").pipe(
    Argument.withDescription("One payment (.json, or -), or many (.csv, .jsonl)"),
  ),
  id: text("id", "ID", "Workflow id of one payment; default: made from the input"),
  isNotDuplicate: on("not-a-duplicate", "Pay it although an earlier payment looks the same"),
  isDryRun: on("dry-run", "Check everything, and pay nothing"),
  approveAbove: text("approve-above", "AMOUNT", "A file with a higher total needs a second person"),
  window: Flag.Int("window").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Most payouts of a file that are being sent; default 200"),
    Flag.optional,
  ),
  results: text("results", "FILE", "Write what became of each row so far: .csv or .jsonl"),
  by,
  reason,
  yes,
  json,
};

/** `starter pay`: pays one payment, or a file of them. */
export const pay = Command.make("pay", flags, ({ file, json, ...given }) =>
  runCommand(json, async (output) => {
    const { isBatchFile } = await import("@durable-payments/operations/batch");
    if (isBatchFile(file)) {
      const { submitFile } = await import("../input/submit-file.ts");
      return submitFile(output, file, given);
    }
    const { planPayout } = await import("@durable-payments/operations/input");
    const { submit } = await import("../input/submit.ts");
    return submit(output, file, planPayout, given);
  }),
).pipe(
  Command.withShortDescription("Pay one payment, or a file of them"),
  Command.withDescription(
    `Pay one payment, or a file of them. The same id, and the same row of any
  file, is never paid twice. A likely duplicate under another id is refused; in
  a file it is a warning.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter pay invoice.json --id invoice-17", description: "One payment" },
    { command: "starter pay october.csv --dry-run", description: "Check a file" },
  ]),
);
