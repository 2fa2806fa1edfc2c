import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, vi } from "vitest";
import { checkout } from "../../src/processes.ts";
import { type Stack, startStack } from "../../src/stack.ts";
import { type Exchange, exchangesOf, isAsShown } from "./transcript.ts";

/** Values of the words in capitals that a page leaves to its reader, such as `ID`. */
type Given = Readonly<Record<string, string>>;

/** The view of a run, as programs read it. */
interface Shown {
  readonly status: string;
  readonly steps: ReadonlyArray<{ readonly name: string; readonly madeId: string | null }>;
}

/** The person who follows the page. */
export const NAME = "grace";

/** No page promises a time: a busy machine needs seconds for each command, and a lost response is checked for three minutes. */
const WITHIN = { timeout: 300_000, interval: 500 };

const textOf = (document: string): string => readFileSync(join(checkout, document), "utf8");

/** Replaces the words in capitals by what the reader knows. */
const filledIn = (text: string, given: Given): string =>
  text.replaceAll(/(?<![\w-])[A-Z]{2,}(?:_[A-Z]+)*(?!\w)/g, (word) => given[word] ?? word);

/** Returns the line by which the runbook defines `durable-payments` for a clone. */
const definitionOfStarter = (): string => {
  const line = /^durable-payments\(\) \{ \.\/durable-payments .*\}(?= +# a clone)/m.exec(
    textOf("docs/runbook.md"),
  )?.[0];
  if (line === undefined)
    throw new Error("docs/runbook.md does not define durable-payments for a clone.");
  return line;
};

/** A page of the docs that is followed literally, on the servers of a stack. */
export class Drill {
  readonly stack: Stack;
  readonly #document: string;
  readonly #sections: ReadonlyMap<string, string>;
  readonly #definition = definitionOfStarter();

  constructor(stack: Stack, document: string) {
    this.stack = stack;
    this.#document = document;
    const parts = textOf(document).split(/^## /m);
    this.#sections = new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
  }

  #section(heading: string): string {
    const section = this.#sections.get(heading);
    if (section === undefined) throw new Error(`${this.#document} has no section "${heading}".`);
    return section;
  }

  /** Returns the blocks of commands of a section, in order. */
  blocks(heading: string): ReadonlyArray<Exchange> {
    return exchangesOf(this.#section(heading));
  }

  /** Returns a block of commands of a section, counted from 0. */
  block(heading: string, number: number): Exchange {
    const block = this.blocks(heading)[number];
    if (block === undefined) throw new Error(`"${heading}" has fewer blocks of commands.`);
    return block;
  }

  /** Runs a command as the reader of the page would type it. */
  async run(
    line: string,
    given: Given = {},
  ): Promise<{ readonly text: string; readonly code: number | undefined }> {
    const script = `exec 2>&1\n${this.#definition}\n${filledIn(line, given)}`;
    const { exitCode, stdout } = await execa("bash", ["-c", script], {
      cwd: checkout,
      reject: false,
      stdin: "ignore",
      env: { ...this.stack.variables, NO_COLOR: "1" },
    });
    return { text: stdout, code: exitCode };
  }

  /** Runs a command that must succeed, and returns what it prints. */
  async succeed(line: string, given?: Given): Promise<string> {
    const { code, text } = await this.run(line, given);
    expect(code, `${line}\n${text}`).toBe(0);
    return text;
  }

  /** Runs a block of commands. The last one must print what the page shows under it. */
  async follow({ commands, output }: Exchange, given: Given = {}): Promise<string> {
    const printed: Array<string> = [];
    for (const line of commands) printed.push(await this.succeed(line, given));
    if (output !== undefined) {
      const [shown, last] = [filledIn(output, given), printed.at(-1) ?? ""];
      if (!isAsShown(shown, last))
        throw new Error(`The page shows\n${shown}\nbut it printed\n${last}`);
    }
    return printed.join("\n");
  }

  /**
   * Compares a text with the first block of text that the page shows in a section, whatever the numbers.
   *
   * @returns why the text does not contain it; undefined if it does.
   */
  differs(heading: string, text: string): string | undefined {
    const shown = /^```text\n([^]*?)^```$/m.exec(this.#section(heading))?.[1];
    if (shown === undefined) return `"${heading}" shows no text.`;
    const [page = "", printed = ""] = [shown, text].map((one) => one.replaceAll(/\d+/g, "0"));
    return isAsShown(`…\n${page}\n…`, printed)
      ? undefined
      : `The page shows\n${shown}\nbut it printed\n${text}`;
  }

  /** Runs a command until it prints what the page shows in a section. */
  async untilShows(heading: string, line: string): Promise<void> {
    await vi.waitFor(async () => {
      expect(this.differs(heading, (await this.run(line)).text)).toBeUndefined();
    }, WITHIN);
  }

  /** Runs every block of commands of a section. */
  async followAll(heading: string, given: Given): Promise<string> {
    const printed: Array<string> = [];
    for (const block of this.blocks(heading)) printed.push(await this.follow(block, given));
    return printed.join("\n");
  }

  /** Runs the first command within the sentences of a section that matches. */
  async obey(heading: string, pattern: RegExp, given: Given): Promise<string> {
    const lines = [...this.#section(heading).matchAll(/`(durable-payments [^`\n]+)`/g)];
    const line = lines.map(([, text = ""]) => text).find((text) => pattern.test(text));
    if (line === undefined) throw new Error(`"${heading}" has no command ${pattern}.`);
    return this.succeed(line, given);
  }

  async show(id: string): Promise<Shown> {
    return JSON.parse(await this.succeed(`durable-payments show ${id} --json`)) as Shown;
  }

  async untilStatus(id: string, status: string): Promise<void> {
    await vi.waitFor(async () => {
      expect((await this.show(id)).status).toBe(status);
    }, WITHIN);
  }

  /** Waits until a run has made its payout, and returns the payout's id. */
  payoutOf(id: string): Promise<string> {
    return vi.waitFor(async () => {
      const { steps } = await this.show(id);
      const made = steps.find(({ name }) => name === "createPayout")?.madeId;
      if (typeof made !== "string") throw new Error(`${id} has no payout yet.`);
      return made;
    }, WITHIN);
  }

  pay(id: string, file = "examples/payout.json"): Promise<string> {
    return this.succeed(`durable-payments pay ${file} --id ${id} --not-a-duplicate drill --by ada`);
  }

  /** Asks the simulator for something under its path for control, or gives it something. */
  async control(path: string, body?: object, method = "POST"): Promise<string> {
    const service = this.stack.variables["PAYMENTS_BASE_URL"];
    const response = await fetch(`${service}/_simulator/${path}`, {
      ...(body && { method, body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  /** Makes a payment whose payout stays open at the service, and returns the payout's id. */
  async payAndHold(id: string): Promise<string> {
    // So that nobody reads that it has completed, which takes seconds.
    for (const operation of ["listPayouts", "retrievePayout"])
      await this.control("faults", { kind: "html-502", operation, times: 1_000 });
    await this.pay(id);
    const payoutId = await this.payoutOf(id);
    await this.setStatus(payoutId, "processing");
    await this.control("faults", {}, "DELETE");
    return payoutId;
  }

  /** Sets the status of a payout at the service. */
  setStatus(payoutId: string, status: string): Promise<string> {
    return this.control(`payouts/${payoutId}/status`, { status });
  }

  /** Counts the payouts that the service has made. */
  async countPayouts(): Promise<number> {
    // All data of the simulator, by its README.
    const state = JSON.parse(await this.control("state")) as {
      readonly payouts: ReadonlyArray<object>;
    };
    return state.payouts.length;
  }
}

const silent = { line: () => {}, during: async <A>(_text: string, work: Promise<A>) => await work };

/**
 * Starts a stack for the drills of a page.
 *
 * @param workerSettings settings of its worker in addition to those of the stack.
 * @returns the drill, and a function that ends the stack.
 */
export const startDrill = async (
  document: string,
  workerSettings: NodeJS.ProcessEnv = {},
): Promise<{ readonly drill: Drill; readonly end: () => Promise<void> }> => {
  const stack = await startStack({ name: "drill", workerSettings }, silent);
  return { drill: new Drill(stack, document), end: stack.end };
};
