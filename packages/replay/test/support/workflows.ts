import {
  CancellationScope,
  condition,
  executeChild,
  patched,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";

interface Activities {
  readonly first: () => Promise<void>;
  readonly second: () => Promise<void>;
  readonly send: (call: object) => Promise<void>;
}

const { first, second, send } = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: "1 minute" });

export async function callsFirst(): Promise<void> {
  await first();
}

export async function callsSecond(): Promise<void> {
  await second();
}

export async function callsBoth(): Promise<void> {
  await first();
  await second();
}

export async function sleeps(): Promise<void> {
  await sleep("1 minute");
}

export async function waits(): Promise<void> {
  await condition(() => false);
}

export async function returns(): Promise<void> {}

export async function callsTwoAtOnce(): Promise<void> {
  await Promise.all([first(), second()]);
}

export async function throwsAtOnce(): Promise<void> {
  throw new TypeError("no such field");
}

export async function callsLocally(): Promise<void> {
  await local.first();
}

export async function takesTimerBack(): Promise<void> {
  const scope = new CancellationScope();
  void scope.run(() => sleep("1 minute")).catch(() => undefined);
  await Promise.resolve();
  scope.cancel();
  await first();
}

export async function isPatched(): Promise<void> {
  if (patched("one-more")) await second();
  await first();
}

/** The id of its child is derived from its own. */
export async function startsChild(): Promise<void> {
  await executeChild(callsFirst, { workflowId: `${workflowInfo().workflowId}/first` });
}

/** Sends as the steps of `@durable-payments/workflows` do. */
const sendAs = (step: string): Promise<void> =>
  send({ step, request: { amount: "1.00" }, call: 1 });

export async function paysAsPayFirst(): Promise<void> {
  await sendAs("payFirst");
}

export async function returnsInput(input: string): Promise<string> {
  return input;
}
