import {
  CancellationScope,
  condition,
  patched,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from "@temporalio/workflow";

interface Activities {
  readonly first: () => Promise<void>;
  readonly second: () => Promise<void>;
}

const { first, second } = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });
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
