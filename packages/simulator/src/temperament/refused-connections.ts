import { Effect, FiberHandle, Layer, Queue } from "effect";
import { HttpServer } from "effect/http";
import type { Server } from "node:http";
import type { Temperament } from "./temperament.ts";
import { TemperamentInForce } from "./temperaments-in-force.ts";

const stopListening = (server: Server): Effect.Effect<void> =>
  Effect.sync(() => {
    server.close();
    server.closeAllConnections();
  });

/** Listens again. A port that somebody took meanwhile ends the simulator: it can never answer again. */
const listenAgain = (server: Server, port: number, host: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const onError = (cause: Error) => resume(Effect.die(cause));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resume(Effect.void);
    });
  }).pipe(Effect.uninterruptible);

/** Stops listening for as long as an outage refuses connections; control is refused, too. */
export const refusedConnectionsLayer = (server: Server) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { changes } = yield* TemperamentInForce;
      // It listens from here on.
      yield* HttpServer.HttpServer;
      const address = server.address();
      if (address === null || typeof address === "string") return;

      const listening = Effect.suspend(() =>
        server.listening ? Effect.void : listenAgain(server, address.port, address.address),
      );
      const refuse = Effect.fnUntraced(function* ({ outage }: Temperament) {
        if (outage?.kind !== "refused") return;
        yield* Effect.sleep(outage.afterMs);
        yield* stopListening(server);
        yield* Effect.sleep(outage.forMs);
        yield* listening;
      });
      // Another temperament ends the outage of the one before it. The end of the simulator does
      // not: a server that listens again just then would never be closed.
      const outage = yield* FiberHandle.make();
      yield* Queue.take(changes).pipe(
        Effect.tap(() => Effect.andThen(FiberHandle.clear(outage), listening)),
        Effect.flatMap((temperament) => FiberHandle.run(outage, refuse(temperament))),
        Effect.forever,
        Effect.forkScoped,
      );
    }),
  );
