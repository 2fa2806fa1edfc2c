import { readDataConverter } from "@durable-payments/codec";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeKeyring,
  makeTestFolder,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { payoutInput } from "./support/inputs.ts";

/** Values that occur nowhere else. */
const MARKED = {
  apiKey: "api-key-quetzal-8840",
  iban: "DE02120300000000202051",
  bankAccount: "Holder Quetzal",
  company: "Quetzal Handels GmbH",
  street: "Quetzalweg 77",
  firstName: "Quetzalcoatl",
  lastName: "Tezcatlipoca",
  phone: "+4930887766554",
  born: "1971-03-19",
  email: "quetzal@example.org",
  reference: "Reference Quetzal 8841",
} as const;

const payout = {
  beneficiary: {
    ...("beneficiary" in payoutInput ? payoutInput.beneficiary : undefined),
    iban: MARKED.iban,
    account_holder: MARKED.bankAccount,
    company_name: MARKED.company,
    address: MARKED.street,
    email: MARKED.email,
  },
  payout: { ...payoutInput.payout, payout_reference: MARKED.reference },
};
const onboarding = {
  cardholder: {
    email: MARKED.email,
    first_name: MARKED.firstName,
    last_name: MARKED.lastName,
    date_birth: MARKED.born,
    phone_number: MARKED.phone,
    card_holder_status: 0,
  },
  card: { product_code: "prepaid-usd", card_limit: "100.00" },
};

/** Returns the names of the marked values that bytes hold, as text or in hex. */
const markedIn = (bytes: Buffer): ReadonlyArray<string> =>
  Object.entries(MARKED).flatMap(([name, value]) =>
    [value, Buffer.from(value).toString("hex")].some((text) => bytes.includes(text)) ? [name] : [],
  );

it("with a keyring, neither Temporal, the ledger, the log nor the metrics hold a person's data or a key", async () => {
  const folder = makeTestFolder();
  onTestFinished(() => folder.remove());
  const keyring = makeKeyring(folder.path);
  const simulator = await startSimulator({ apiKey: MARKED.apiKey, settleAfter: 0 });
  onTestFinished(() => simulator.stop());
  const temporal = await createLocalEnvironment({ dbFilename: join(folder.path, "temporal.db") });
  onTestFinished(() => temporal.teardown());

  const worker = await startApp("worker", ["--json"], {
    ...folder.variables,
    ...workerVariables(temporal, simulator),
    PAYMENTS_KEYRING: keyring,
    PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
    PAYMENTS_LOG_LEVEL: "TRACE",
    PAYMENTS_HEALTH_ADDRESS: "0",
  });
  onTestFinished(() => worker.kill("SIGKILL").then(() => undefined));
  const dataConverter = readDataConverter({ keyring }, "default");
  const client = new Client({
    connection: temporal.connection,
    ...(dataConverter && { dataConverter }),
    plugins: [new PaymentsPlugin()],
  });
  const run = (workflow: string, workflowId: string, input: object): Promise<unknown> =>
    client.workflow.execute<(given: typeof input) => Promise<unknown>>(workflow, {
      workflowId,
      taskQueue: "payments",
      args: [input],
    });
  await run("payout", "marked-payout", payout);
  await run("onboardCardholder", "marked-onboarding", onboarding);
  expect((await simulator.state()).payouts).toHaveLength(1);

  const health = `http://${String(worker.ready["health"])}`;
  const answers = await Promise.all(
    ["livez", "readyz", "metrics"].map(async (path) => {
      const response = await fetch(`${health}/${path}`);
      return { path, status: response.status, text: await response.text() };
    }),
  );
  expect(answers.map(({ path, status }) => [path, status])).toEqual([
    ["livez", 200],
    ["readyz", 200],
    ["metrics", 200],
  ]);
  const metrics = answers.at(-1)?.text ?? "";
  expect(metrics).toMatch(/^payments_ledger_sequence.* [1-9]\d*$/m);
  expect(metrics).toMatch(/^temporal_/m);

  const filesOf = (name: string) =>
    Buffer.concat(globSync(join(folder.path, `${name}*`)).map((file) => readFileSync(file)));
  const database = filesOf("temporal.db");
  const ledger = filesOf("ledger.sqlite");
  const log = Buffer.from(worker.stdout() + worker.stderr());
  expect(log.toString()).toContain("Creates the tables of the ledger, version 2");
  for (const place of [database, ledger]) expect(place.includes("marked-payout")).toBe(true);
  expect(database.includes("encryption-key-id")).toBe(true);
  expect({
    database: markedIn(database),
    ledger: markedIn(ledger),
    log: markedIn(log),
    answers: markedIn(Buffer.from(JSON.stringify(answers))),
    // The ledger compares references, to find likely duplicates: they stay readable (SECURITY.md).
  }).toEqual({ database: [], ledger: ["reference"], log: [], answers: [] });
});
