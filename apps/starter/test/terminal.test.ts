import {
  beneficiary,
  card,
  cardholder,
  csv,
  holding,
  makeRows,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { readFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { hasTerminals, KEYS, screenOf } from "./support/terminal.ts";

// Each call is a process: a busy machine takes its time.

// Where the tests are skipped, so is what would end the servers: then none are started.
const rig = hasTerminals ? await makeRepairRig() : undefined;
const skipped = rig === undefined ? " (skipped: there is no `script` of util-linux)" : "";

const QUESTION = 'Retry 1 failed run in namespace "default"? [y/N] ';

describe.skipIf(rig === undefined)(`at a terminal${skipped}`, () => {
  it("a person is asked before many runs are retried; what is no yes sends nothing", async () => {
    const { ended, found, simulator, start, temporal, terminal } = rig!;
    const sent = async () => (await simulator.state()).requests["createCard"];
    await simulator.addFault({ kind: "refusal-in-200", operation: "createCard" });
    await start("onboardCardholder", "failed", { cardholder, card, options });
    expect(await ended("failed")).toBe("FAILED");
    await found('WorkflowId = "failed" AND ExecutionStatus = "Failed"');
    const before = await sent();
    const answer = async (keys: string) => {
      const asking = terminal(["runs", "retry", "--failed", "--reason", "a test"]);
      await asking.seen(QUESTION);
      asking.type(keys);
      const { exitCode, shown } = await asking.ended;
      expect(shown.endsWith("\r\n")).toBe(true);
      expect(tooWide(screenOf(shown).join("\n"))).toEqual([]);
      return { exitCode, last: screenOf(shown).at(-1) };
    };

    const refused = { exitCode: 2, last: "error Nothing was done." };
    expect(await answer(`n${KEYS.enter}`)).toEqual(refused);
    expect(await answer(KEYS.enter)).toEqual(refused);
    expect(await answer(KEYS.ctrlD)).toEqual(refused);
    expect(await answer(KEYS.ctrlC)).toEqual({ exitCode: 130, last: QUESTION });
    expect(await ended("failed")).toBe("FAILED");
    expect(await sent()).toBe(before);
    expect((await temporal.client.workflow.count('WorkflowType = "retryInstruction"')).count).toBe(
      0,
    );

    expect(await answer(`y${KEYS.enter}`)).toMatchObject({ exitCode: 0 });
    expect(await ended("failed")).toBe("COMPLETED");
  });

  it("a second person sees a payment before it is approved, and says yes or no", async () => {
    const { awaitStage, ended, start, terminal } = rig!;
    await start("payout", "to approve", {
      beneficiary,
      payout,
      options: { ...options, approval: { above: "1" } },
    });
    await awaitStage("to approve", "awaitApproval");
    const answer = async (keys: string) => {
      const asking = terminal(["approve", "to approve", "--by", "Eve"]);
      await asking.seen("Approve this as Eve? [y/N] ");
      asking.type(keys);
      return await asking.ended;
    };
    const refused = await answer(KEYS.enter);
    expect(refused.exitCode).toBe(2);
    expect(screenOf(refused.shown).join("\n")).toMatch(/amount +250\.00/);
    expect(await answer(`y${KEYS.enter}`)).toMatchObject({ exitCode: 0 });
    expect(await ended("to approve")).toBe("COMPLETED");
  });

  it("a batch's progress is one line, which is gone in the end", async () => {
    const { file, starter, terminal } = rig!;
    const name = await file("bar.csv", csv(makeRows("bar", 3)));
    const pay = ["payouts", "import", name, "--wait"];
    // Sends are paused until the line has been seen.
    await starter(["pause", "a test", "--by", "Ada"]);
    const first = terminal(pay);
    await first.seen("░░░ 0 %  0 done");
    first.type(KEYS.ctrlC);
    const interrupted = await first.ended;
    expect(interrupted.exitCode).toBe(130);
    const left = screenOf(interrupted.shown);
    expect(left.slice(-2)).toEqual([
      holding("the batch goes on. See it:"),
      holding("starter payouts status payouts/"),
    ]);
    expect(left.join("\n")).not.toContain("░");
    expect(tooWide(left.join("\n"))).toEqual([]);

    // On a narrow terminal a line that is wrapped could not be taken away.
    const answer = await file("answer.txt", "");
    const second = terminal(pay, { columns: 20, stdout: answer });
    await second.seen("░░░ 0 %");
    await starter(["resume", "--by", "Ada"]);
    const { exitCode, shown } = await second.ended;
    expect(exitCode).toBe(0);
    const drawn = stripVTControlCharacters(shown).split(/[\r\n]+/);
    expect(drawn.filter((line) => line.includes("░") && line.length >= 20)).toEqual([]);
    expect(screenOf(shown).join("\n")).not.toContain("░");
    expect(shown.replaceAll("\r\u001b[K", "")).not.toContain("\u001b");
    // A file is no terminal.
    const text = await readFile(answer, "utf8");
    expect(text).toContain("3 completed");
    expect(text).not.toContain("\u001b");
  });

  it("an answer has colours, and none where they are not wanted", async () => {
    const { ended, start, terminal } = rig!;
    await start("onboardCardholder", "shown", { cardholder, card, options });
    expect(await ended("shown")).toBe("COMPLETED");
    const [coloured, plain] = await Promise.all(
      [{}, { NO_COLOR: "1" }].map((env) => terminal(["runs", "show", "shown"], { env }).ended),
    );
    expect(coloured?.shown).toContain("\u001b[1m");
    expect(plain?.shown).not.toContain("\u001b");
    expect(screenOf(plain?.shown ?? "")).toEqual(screenOf(coloured?.shown ?? ""));
  });

  it.each([40, 140])("a list fits %i columns, and breaks no id", async (columns) => {
    const { ended, start, terminal } = rig!;
    const id = `an-invoice-of-${columns}-columns-whose-id-is-long`;
    await start("onboardCardholder", id, { cardholder, card, options });
    expect(await ended(id)).toBe("COMPLETED");
    const { shown } = await terminal(["runs", "list", "--find", id], { columns }).ended;
    const lines = stripVTControlCharacters(shown).split(/[\r\n]+/);
    expect(lines.join("\n")).toContain(id);
    const wide = lines.filter((line) => line.length > columns && line !== id);
    expect(wide).toEqual([]);
  });
});
