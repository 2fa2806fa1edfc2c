import { PaymentsClient } from "@durable-payments/client/effect";
import { Console, Effect, Stream } from "effect";

const program = Effect.gen(function* () {
  const client = yield* PaymentsClient;
  const { available_balance } = yield* client.retrieveBalance({ currency: "USD" });
  yield* Console.log(`USD ${available_balance}`);
  yield* client.streams
    .listPayouts({ status: "awaiting_funds" })
    .pipe(Stream.runForEach(({ amount, payout_id }) => Console.log(payout_id, amount)));
});

await Effect.runPromise(Effect.provide(program, PaymentsClient.layerConfig));
