import {
  ApplicationFailure,
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";

const { verify } = proxyActivities<{ verify: (iban: string) => Promise<string> }>({
  startToCloseTimeout: "1 minute",
  retry: { initialInterval: "100 ms", backoffCoefficient: 1 },
});

export const goOn = defineSignal<[string]>("goOn");

/** Hands a value through an activity, waits for one by a signal, and returns both. */
export const handOn = async (iban: string): Promise<ReadonlyArray<string>> => {
  let told = "";
  setHandler(goOn, (value) => {
    told = value;
  });
  const verified = await verify(iban);
  await condition(() => told !== "");
  return [verified, told];
};

/** Fails with a value in its message. */
export const failWith = async (iban: string): Promise<void> => {
  throw ApplicationFailure.nonRetryable(`no account ${iban}`, "NoAccount", iban);
};
