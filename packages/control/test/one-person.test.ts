import { afterAll, beforeAll, expect, it } from "vitest";
import { Attempt, type Kind } from "./one-person/attempt.ts";
import { BY_FILES } from "./one-person/by-files.ts";
import { BY_LIMITS } from "./one-person/by-limits.ts";
import { BY_SCHEDULES } from "./one-person/by-schedules.ts";
import { BY_TEMPORAL } from "./one-person/by-temporal.ts";
import { ON_DECISIONS } from "./one-person/on-decisions.ts";
import { ON_REQUESTS } from "./one-person/on-requests.ts";
import { type Stack, startStack } from "./one-person/stack.ts";
import { resetToBegin } from "./support/reset.ts";

// Four eyes: one person alone gets no money out that the policy gives to two. Each kind of attempt that somebody has
// thought of is a test, on a real server, service, ledger and worker; see one-person/attempt.ts.

/** Cases that must pay, so that the check can fail: whoever does as the policy asks is paid. */
const CONTROLS: ReadonlyArray<Kind> = [
  {
    name: "control: a small payment is paid without anybody",
    steps: async (the) => {
      const payment = the.payment({ amount: "100.00" });
      the.isSmall(payment);
      await the.start(the.input(payment));
      await the.paid();
    },
  },
  {
    name: "control: an approved payment is paid",
    steps: async (the) => {
      const payment = the.payment();
      await the.start(the.input(payment));
      await the.graceApproves(the.id, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment that a dispatcher has started twice is paid",
    steps: async (the) => {
      const payment = the.payment();
      const salary = await the.salary(payment);
      await the.startSalary(salary, "payroll robot");
      await the.tooLate(the.startSalary(salary, "payroll robot"));
      await the.graceApproves(the.salaryId, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment of a continued run is paid",
    steps: async (the) => {
      const payment = the.payment();
      await the.startSalary(await the.salary(payment, 2), "payroll robot");
      await the.graceApproves(the.salaryId, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment of a retried run, which keeps its other arguments, is paid",
    steps: async (the) => {
      const payment = the.payment();
      const [request, ...others] = await the.salary(the.payment({ amount: "50.00" }), 0, "");
      await the.startSalary(
        [{ ...request, beneficiary_id: await the.refusing() }, ...others],
        "payroll robot",
      );
      await the.fails(the.salaryId);
      const beneficiary_id = await the.known(payment.to);
      const patch = { beneficiary_id, amount: payment.amount };
      await the.retry(the.salaryId, { by: "payroll robot", patch });
      await the.graceApproves(the.salaryId, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment of a child is paid",
    steps: async (the) => {
      const payment = the.payment();
      const child = await the.startParent(the.input(payment), "payroll robot");
      await the.graceApproves(child, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment whose run was reset is paid",
    steps: async (the) => {
      const payment = the.payment();
      await the.start(the.input(payment));
      await the.asks(the.id);
      await resetToBegin(the.stack.operations, the.id);
      await the.graceApproves(the.id, payment);
      await the.paid();
    },
  },
  {
    name: "control: an approved payment that was amended, twice, is paid",
    steps: async (the) => {
      const payment = the.payment();
      await the.start(the.input(the.payment({ amount: "50.00" }), await the.refusing()));
      await the.fails(the.id);
      await the.retry(the.id, { patch: { beneficiary_id: await the.refusing() } });
      await the.fails(the.id);
      const beneficiary_id = await the.known(payment.to);
      await the.retry(the.id, { patch: { beneficiary_id, payout: { amount: payment.amount } } });
      await the.graceApproves(the.id, payment);
      await the.paid();
    },
  },
  {
    name: "control: each row of an approved file is paid",
    steps: async (the) => {
      const rows = ["900.00", "800.00"].map((amount) =>
        the.payment({ amount, reference: `${the.id} ${amount}` }),
      );
      const { batch } = await the.file(rows.map((row) => the.input(row)));
      await the.graceApprovesFile(batch, rows);
      await the.paid(2);
    },
  },
];

const AT_ONCE = [
  // Those of the first file take longest.
  ...BY_TEMPORAL,
  ...CONTROLS,
  ...BY_FILES,
  ...BY_SCHEDULES,
  ...ON_REQUESTS,
  ...ON_DECISIONS,
];
const ALL = [...AT_ONCE, ...BY_LIMITS];

/** So many attempts are under way at a time: most of their time is a wait. */
const LANES = 20;

let stack: Stack;
const attempts = new Map<string, Attempt>();
const results = new Map<string, PromiseWithResolvers<unknown>>(
  ALL.map(({ name }) => [name, Promise.withResolvers()]),
);

const run = async ({ name, steps }: Kind): Promise<void> => {
  const attempt = new Attempt(stack, attempts.size + 1);
  attempts.set(name, attempt);
  const failure = await steps(attempt).then(
    () => undefined,
    (error: unknown) => error,
  );
  results.get(name)?.resolve(failure);
};

const runAll = async (): Promise<void> => {
  const left = AT_ONCE.values();
  const lane = async () => {
    for (const kind of left) await run(kind);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  for (const kind of BY_LIMITS) await run(kind);
};

let all: Promise<void>;
beforeAll(async () => {
  stack = await startStack();
  all = runAll();
}, 120_000);
afterAll(() => stack[Symbol.asyncDispose](), 60_000);

it.each(ALL)("one person alone: $name", async ({ name }) => {
  const failure = await results.get(name)?.promise;
  expect(await attempts.get(name)?.unapproved()).toEqual([]);
  expect(failure).toBeUndefined();
});

it("no attempt has paid later, and nobody else was paid", async () => {
  await all;
  const every = [...attempts.values()];
  const found = await Promise.all(every.map((one) => one.unapproved()));
  expect(found.flat()).toEqual([]);
  const counts = await Promise.all(every.map(async (one) => (await one.payouts()).length));
  const { payouts } = await stack.home.state();
  const total = payouts.filter(({ returned }) => !returned).length;
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(total);
});

it("the check finds a payout that nobody has allowed", async () => {
  await all;
  const attempt = new Attempt(stack, attempts.size + 1);
  const { payout } = attempt.input(attempt.payment());
  const beneficiary_id = await attempt.known(attempt.payees.honest);
  await stack.service.createPayout({ ...payout, beneficiary_id });
  expect(await attempt.unapproved()).toHaveLength(1);
});
