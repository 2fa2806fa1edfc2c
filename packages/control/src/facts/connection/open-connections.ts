import { type Ledger, LedgerUnavailable } from "@durable-payments/ledger";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import { ConnectionFailed, connectionFailed, refused } from "../../errors.ts";
import {
  asLedgerError,
  type Connected,
  type ConnectionSettings,
  type Deciding,
  NO_ANSWER,
  openWorkersLedger,
  type Sources,
} from "./connections.ts";
import { ANSWER_WITHIN_MS, attempt, Rejected, Shared } from "./shared.ts";
import { asTemporalError, isNoAnswer } from "./temporal-errors.ts";
import { connectTemporal, type OpenTemporal, type Temporal } from "./temporal.ts";

const DOCTOR = { action: "doctor" } as const;

/** Asks whether the ledger is there. Any answer shows that: a slow ledger does not hang. */
const askLedger = async (ledger: Ledger): Promise<void> => void (await ledger.state());

/** A question is given up then. `Shared` does not wait for it so long. */
const ASKED_FOR_MS = 10 * ANSWER_WITHIN_MS;

/** Asks whether Temporal is there. A server that refuses the question is there, too. */
const askTemporal = async ({ connection }: Temporal): Promise<void> => {
  try {
    await connection.withDeadline(Date.now() + ASKED_FOR_MS, () =>
      connection.workflowService.getSystemInfo({}),
    );
  } catch (error) {
    if (isNoAnswer(error)) throw error;
  }
};

const checkNamespace = async (ledger: Ledger, { settings: { namespace } }: Temporal) => {
  const { namespace: pinned } = await ledger.state();
  if (pinned !== null && pinned !== namespace)
    throw connectionFailed(
      "cannotConnect",
      `The ledger ${ledger.place} belongs to the Temporal namespace ${pinned}, but this namespace is ${namespace}. Correct the namespace, or the setting ledger.`,
    );
};

const AT_ONCE = { concurrency: "unbounded" } as const;

type Found<A> = Result.Result<A, ConnectionFailed>;

const isConnection = (error: unknown): error is ConnectionFailed =>
  error instanceof ConnectionFailed;

/** Returns the opened connection, or why it cannot be opened; any other error fails. */
const onlyFailed = <A>(
  opened: Effect.Effect<A, Rejected, Scope.Scope>,
): Effect.Effect<Found<A>, Rejected, Scope.Scope> =>
  opened.pipe(
    Effect.map((found): Found<A> => Result.succeed(found)),
    Effect.catch((rejected) =>
      isConnection(rejected.error)
        ? Effect.succeed(Result.fail(rejected.error))
        : Effect.fail(rejected),
    ),
  );

/** Adds to an error that the request may have been carried out. */
const withoutAnswer = (error: unknown): unknown =>
  isConnection(error)
    ? connectionFailed(error.reason, error.message, error.next, "unknown")
    : error;

/**
 * The connections of a tool to Temporal and to the ledger, for one command or for years. Each is opened by the first call
 * that needs it, shared by all calls, and replaced after it has failed.
 *
 * A call may take long, because a report over a million rows does. So no time limit can tell a slow server from one that
 * hangs. Instead, the server is asked during the call whether it is there: see `shared.ts`. Every call rejects with
 * `ConnectionFailed` within five seconds if a server that it needs is away or hangs.
 */
export class Connections implements AsyncDisposable {
  readonly settings: ConnectionSettings;
  readonly #temporal: Shared<OpenTemporal>;
  readonly #ledger: Shared<Ledger>;
  #isClosed = false;

  /** Keeps the settings. The first call opens a connection. */
  constructor(settings: ConnectionSettings) {
    this.settings = settings;
    const { kept } = settings;
    this.#temporal = new Shared({
      open: async () => connectTemporal(settings.temporal()),
      close: (temporal) => temporal.close(),
      ask: askTemporal,
      lost: ({ settings: { address } }) =>
        connectionFailed(
          "cannotConnect",
          `Temporal at ${address} does not answer.`,
          DOCTOR,
          "unknown",
        ),
    });
    this.#ledger = new Shared({
      open: async () => kept ?? openWorkersLedger(settings.ledger),
      close: async (ledger) => (ledger === kept ? undefined : ledger.close()),
      ask: askLedger,
      lost: () => withoutAnswer(asLedgerError(new LedgerUnavailable(NO_ANSWER))),
    });
  }

  async #run<A>(work: Effect.Effect<A, Rejected, Scope.Scope>): Promise<A> {
    const exit = this.#isClosed
      ? Exit.interrupt()
      : await Effect.runPromiseExit(Effect.scoped(work));
    if (Exit.isSuccess(exit)) return exit.value;
    // Closed while a connection was being opened: the work had not begun.
    if (Cause.hasInterruptsOnly(exit.cause))
      throw refused("These payments are closed: open them again. Nothing was done.");
    const error = Cause.squash(exit.cause);
    throw error instanceof Rejected ? error.error : error;
  }

  /** Calls a function; words its errors, and drops a connection that has failed. */
  #act<A>(temporal: Temporal | undefined, use: () => Promise<A>): Effect.Effect<A, Rejected> {
    return attempt(use).pipe(
      Effect.tapError(({ error }) => {
        if (error instanceof LedgerUnavailable) return this.#ledger.drop;
        return isNoAnswer(error) ? this.#temporal.drop : Effect.void;
      }),
      Effect.mapError(({ error }) => {
        const ofLedger = asLedgerError(error);
        const worded = temporal ? asTemporalError(ofLedger, temporal.settings) : ofLedger;
        return new Rejected({ error: worded === error ? error : withoutAnswer(worded) });
      }),
    );
  }

  /** Does something for as long as each of its servers answers. */
  #watched<A>(
    work: Effect.Effect<A, Rejected>,
    temporal: OpenTemporal | undefined,
    ledger: Ledger | undefined,
  ): Effect.Effect<A, Rejected> {
    return Effect.raceAllFirst([
      work,
      temporal === undefined ? Effect.never : this.#temporal.watch(temporal),
      ledger === undefined ? Effect.never : this.#ledger.watch(ledger),
    ]);
  }

  /** Calls a function with the ledger, and with what is opened of Temporal. */
  #call<T extends OpenTemporal | undefined, A>(
    opened: Effect.Effect<T, Rejected, Scope.Scope>,
    use: (temporal: T, ledger: Ledger) => Promise<A>,
    needsTemporal = false,
  ): Promise<A> {
    return this.#run(
      Effect.flatMap(Effect.all([opened, this.#ledger.opened], AT_ONCE), ([temporal, ledger]) => {
        const acting = async () => {
          if (temporal !== undefined) await checkNamespace(ledger, temporal);
          return use(temporal, ledger);
        };
        const act = this.#act(temporal, acting);
        return this.#watched(act, needsTemporal ? temporal : undefined, ledger);
      }),
    );
  }

  /**
   * Calls a function with Temporal and the ledger.
   *
   * @throws the errors of `use`; ConnectionFailed if Temporal or the ledger cannot be used.
   */
  async both<A>(use: (connected: Connected) => Promise<A>): Promise<A> {
    const { accounts, assumptionsOf } = this.settings;
    const [first] = accounts;
    if (first === undefined)
      throw connectionFailed(
        "cannotConnect",
        "No account is known here: set the setting clientId to the workers' value.",
      );
    const act = (temporal: OpenTemporal, ledger: Ledger) => {
      const { namespace, taskQueue } = temporal.settings;
      const known = { account: first.hash, accounts, assumptionsOf };
      return use({ ...temporal, ledger, namespace, taskQueue, ...known });
    };
    return this.#call(this.#temporal.opened, act, true);
  }

  /**
   * Calls a function with the ledger, and with Temporal if it answers: for stop orders, which need no access to the
   * service, and do not wait for Temporal.
   *
   * @throws ConnectionFailed if the ledger cannot be used; the errors of `use`.
   */
  deciding<A>(use: (deciding: Deciding) => Promise<A>): Promise<A> {
    const found = Effect.map(onlyFailed(this.#temporal.answering), Result.getOrUndefined);
    return this.#call(found, (temporal, ledger) => use({ ledger, client: temporal?.client }));
  }

  /**
   * Calls a function with the ledger alone, so that it does not wait for Temporal.
   *
   * @throws ConnectionFailed if the ledger cannot be used; the errors of `use`.
   */
  ledger<A>(use: (opened: Pick<Connected, "ledger">) => Promise<A>): Promise<A> {
    return this.#call(Effect.undefined, (_, ledger) => use({ ledger }));
  }

  /**
   * Calls a function that reads, with Temporal and the ledger, or with one of them if the other does not answer. If one is
   * lost meanwhile, then the function is called again without it.
   *
   * @throws ConnectionFailed if neither answers; the errors of `use`.
   */
  sources<A>(use: (sources: Sources) => Promise<A>): Promise<A> {
    const lately = onlyFailed(this.#temporal.answeringLately);
    const opened = Effect.all([lately, onlyFailed(this.#ledger.opened)] as const, AT_ONCE);
    const read = (
      found: Found<OpenTemporal>,
      ofLedger: Found<Ledger>,
    ): Effect.Effect<A, Rejected> => {
      const [temporal, ledger] = [Result.getOrUndefined(found), Result.getOrUndefined(ofLedger)];
      const whyNot = [found, ofLedger].flatMap((one) =>
        one._tag === "Failure" ? [one.failure.message] : [],
      );
      if (whyNot.length > 1)
        return Effect.fail(
          new Rejected({ error: connectionFailed("cannotConnect", whyNot.join(" ")) }),
        );
      const reading = this.#act(temporal, () => use({ temporal, ledger, whyNot }));
      return this.#watched(reading, temporal, ledger).pipe(
        Effect.catch((rejected) => {
          const { error } = rejected;
          if (isConnection(error) && temporal !== undefined && ledger !== undefined) {
            if (error.reason === "cannotConnect") return read(Result.fail(error), ofLedger);
            if (error.reason === "ledgerUnavailable") return read(found, Result.fail(error));
          }
          return Effect.fail(rejected);
        }),
      );
    };
    return this.#run(Effect.flatMap(opened, ([temporal, ledger]) => read(temporal, ledger)));
  }

  /** Closes everything. A call that is under way fails, and one afterwards is refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#temporal.close(), this.#ledger.close()]);
  }
}
