import { beforeAll, describe, expect, it } from "vitest";
import { publicPackages } from "../src/packages/public-packages.ts";
import { openInEditor } from "./support/editor.ts";

/** Every entry of every package, as a user imports it. */
const entries = publicPackages().flatMap((one) => one.entries.map(({ name }) => name));

const isMember = (name: string) => /\.\w+$/.test(name);

/** The packages that workflows and workers are written with: the members of their interfaces are documented, too. */
const isForUsers = (name: string) => /\/(api-core|activities|workflows|plugin)["/]/.test(name);

describe("what an editor shows of the packages", () => {
  let editor: ReturnType<typeof openInEditor>;

  beforeAll(() => {
    editor = openInEditor(`${entries.map((module) => `import "${module}";`).join("\n")}
import type { PaymentsActivities } from "@durable-payments/activities";
import { awaitPayout, createPayout } from "@durable-payments/workflows";
declare const activities: PaymentsActivities;
activities.createPayout/*activity*/;
createPayout/*step*/;
awaitPayout/*wait*/;
`);
    expect(editor.problems()).toStrictEqual([]);
  });

  it("documents everything that they export", () => {
    const exported = [...editor.imported()].filter(([name]) => !isMember(name) || isForUsers(name));
    expect(exported.length).toBeGreaterThan(500);
    expect(exported.filter(([, documentation]) => documentation === "")).toStrictEqual([]);
  });

  it("shows activities and steps by the names of their types", () => {
    expect(editor.hover("activity")).toMatchObject({
      signature:
        "(property) createPayout: (input: CreatePayoutInput, intent?: SendIntent | undefined) => Promise<Payout>",
      documentation: expect.stringContaining("Idempotency class `none`") as string,
    });
    expect(editor.hover("step")).toMatchObject({
      signature: expect.stringContaining(
        'payout: Omit<CreatePayoutInput, "unique_request_id">',
      ) as string,
      documentation: expect.stringMatching(/^Create a payout, exactly once/) as string,
    });
    expect(editor.hover("wait")).toMatchObject({
      signature: expect.stringContaining("=> Promise<AwaitedPayout>") as string,
      documentation: expect.stringMatching(/^Wait until a payout has ended/) as string,
    });
  });
});
