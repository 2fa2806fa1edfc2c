/*
 * Everything that a person or a program reads about payments. No method here changes anything, so a page that only shows
 * payments needs no other part of `Payments`.
 */
import type { DecidedWord, FailureGroup, FeedEvent, SumsBy } from "@durable-payments/ledger";
import { recordLateFailures } from "@durable-payments/activities";
import { iterable } from "@durable-payments/client/values";
import { type LimitsView, readLimits } from "../actions/limits.ts";
import { accountNamed, type KnownAccount } from "../facts/connection/connections.ts";
import type { Connections } from "../facts/connection/open-connections.ts";
import { checkFilter, checkGrouping, checkPage, checkText, REPORTED_MS } from "../rules/filter.ts";
import {
  type BatchDetails,
  batchOfId,
  type BatchView,
  listBatches,
  progressOfBatch,
  readBatch,
} from "../views/batch.ts";
import type { Check } from "../views/doctor/check.ts";
import { diagnose, type Diagnosis } from "../views/doctor/doctor.ts";
import { approvalsOf, type Inbox, type InboxItem, readInbox } from "../views/inbox.ts";
import { type EventsGiven, pageOfEvents, readEvents } from "../views/events.ts";
import { follow } from "../views/follow.ts";
import { type Duplicates, findDuplicatesMade } from "../views/made-twice.ts";
import { filterOf, type ListFilter, type ListPage, listAllRuns, listPage } from "../views/list.ts";
import { type OverviewView, readOverview } from "../views/overview.ts";
import { readReport, type Report } from "../views/report.ts";
import {
  progressOfRun,
  readLog,
  readRun,
  readWebUi,
  type RunDetails,
  type RunLog,
} from "../views/run.ts";
import type { RunView } from "../rules/run-view.ts";
import { checkCall, checkOptions } from "./checks.ts";
import type { FollowOptions, PageOfRuns } from "./options.ts";
import type { Installation } from "./settings.ts";

/** Returns a checked filter, whose account is the hash of one of the settings. */
export const checkedFilter = (payments: PaymentsReading, filter: ListFilter): ListFilter => {
  checkFilter(filter);
  const { account } = filter;
  return account === undefined ? filter : { ...filter, account: payments.account(account) };
};

/** Reads payments: the part of `Payments` that changes nothing. */
export class PaymentsReading implements AsyncDisposable {
  /** The accounts of the settings, by name and by the hash that other methods take; the first one pays by default. */
  readonly accounts: ReadonlyArray<KnownAccount>;
  /** How long after the end of its payment date a payout is late, in milliseconds. */
  readonly lateAfterMs: number;
  readonly #services: Installation["services"];
  readonly #connections: Connections;

  constructor({ accounts, lateAfterMs, services }: Installation, connections: Connections) {
    this.accounts = accounts;
    this.lateAfterMs = lateAfterMs;
    this.#services = services;
    this.#connections = connections;
  }

  /**
   * Lists a page of runs, each with the reason of its status and its payments, and the sums of all runs that match.
   *
   * @param filter every condition must hold; without one, all runs match.
   * @param page by default the latest 50; `after` is `next` of the page before.
   * @returns the runs, the sums by currency, and `next` if there is another page.
   * @throws InvalidInput if the filter is invalid; NotFound if there is no such batch, repair or group.
   * @example
   * ```ts
   * const { runs, next, totals } = await payments.list({ statuses: ["failed"] });
   * ```
   */
  async list(filter: ListFilter = {}, page: Partial<ListPage> = {}): Promise<PageOfRuns> {
    checkPage(page);
    const { after, limit = 50, sort } = page;
    const asked = checkedFilter(this, filter);
    const listed = await listPage(this.#connections, asked, { after, limit, sort });
    const { totals, unlisted } = await this.report({ ...filter, since: filter.since ?? null });
    return { ...listed, totals, unlisted };
  }

  /**
   * Lists all runs that match, page by page, from the ledger alone: without the progress of open runs.
   *
   * @param options `limit`: most runs, by default all.
   * @example
   * ```ts
   * for await (const { workflowId, status } of payments.listAll({ payee: "Muster AG" })) console.log(workflowId, status);
   * ```
   */
  listAll(
    filter: ListFilter = {},
    options: Pick<ListPage, "sort"> & { readonly limit?: number | undefined } = {},
  ): AsyncIterable<RunView> {
    return iterable(() => {
      checkPage(options);
      return listAllRuns(this.#connections, checkedFilter(this, filter), options);
    });
  }

  /**
   * Adds up all payments that match: paid, under way, failed, came back. It needs only the ledger.
   *
   * @param filter by default payments of the last 30 days, or of the 30 days before `until`; `since: null` takes all.
   * @param by lines for each payee, day, batch or reason; only totals without it.
   * @returns the period, counts and exact sums by kind and currency, and the lines.
   * @throws InvalidInput that names each wrong field of the filter, with its known values; NotFound as `list`.
   * @example
   * ```ts
   * const { lines } = await payments.report({ since: Date.parse("2026-11-01") }, "payee");
   * ```
   */
  async report(filter: ListFilter = {}, by?: SumsBy): Promise<Report> {
    checkGrouping(by);
    const asked = checkedFilter(this, filter);
    const { since = (asked.until ?? Date.now()) - REPORTED_MS } = asked;
    return this.#connections.ledger(({ ledger }) => readReport(ledger, { ...asked, since }, by));
  }

  /**
   * Groups failed runs by type, step, kind of error, and the message without ids, numbers and amounts. It needs only the
   * ledger; runs that have failed in the last seconds may need Temporal, too.
   *
   * @param filter as of `list`; without one, all failed runs.
   * @returns the groups, the largest first, each with its number, sums, first and last end, and three ids.
   * @throws InvalidInput if the filter is invalid; NotFound if there is no such batch, repair or group.
   * @example
   * ```ts
   * const [largest] = await payments.failed({ type: "onboardCardholder" });
   * ```
   */
  failed(filter: ListFilter = {}): Promise<ReadonlyArray<FailureGroup>> {
    return this.#connections.deciding(async ({ client, ledger }) => {
      const which = await filterOf(ledger, checkedFilter(this, filter));
      if (client !== undefined) await recordLateFailures(client, ledger);
      return ledger.failures(which);
    });
  }

  /**
   * Looks for cardholders and cards that exist twice: in the ledger, and in the service's list of cardholders. Only the ledger has
   * to answer: without the list, nothing is proved, and the answer says why. No personal data is returned.
   *
   * @param which `account`: its name, by default all of the settings; `batch`: only what its runs have made.
   * @returns the accounts with what was compared, each duplicate with its ids, and whether it is proved that there is none.
   * @throws NotFound if there is no such batch; InvalidInput if there is no such account.
   * @example
   * ```ts
   * const { duplicates, isProved } = await payments.duplicates({ batch: repair });
   * ```
   */
  async duplicates(which: Pick<ListFilter, "account" | "batch"> = {}): Promise<Duplicates> {
    checkOptions("duplicates", which);
    const { account, batch } = which;
    const only =
      account === undefined && this.accounts.length > 0 ? undefined : this.account(account);
    return findDuplicatesMade(
      (read) => this.#connections.ledger(read),
      this.accounts,
      this.#services,
      only,
      batch,
    );
  }

  /**
   * Reads one run: status and reason, steps, open questions, possible actions.
   *
   * @throws NotFound if neither Temporal nor the ledger knows it.
   * @example
   * ```ts
   * const { status, reason, next } = await payments.show("payout/invoice-17");
   * ```
   */
  async show(id: string): Promise<RunDetails> {
    checkText("id", id);
    return this.#connections.sources((sources) => readRun(sources, id));
  }

  /**
   * Returns the page of a run in Temporal's Web UI.
   *
   * @throws NotFound if Temporal has no run of this id; InvalidInput if the address of the Web UI is not set.
   */
  async webUi(id: string): Promise<string> {
    checkText("id", id);
    return this.#connections.sources((sources) => readWebUi(sources, id));
  }

  /**
   * Follows a run to its end: yields it each time that something has changed.
   *
   * @param options `signal` ends it; the run continues.
   * @example
   * ```ts
   * for await (const { status } of payments.follow("payout/invoice-17")) console.log(status);
   * ```
   */
  follow(id: string, options: FollowOptions = {}): AsyncIterable<RunDetails> {
    return iterable(() => {
      checkCall("follow", id, options);
      return follow(() => this.show(id), progressOfRun, options.signal);
    });
  }

  /**
   * Reads who did what: sends, outcomes and decisions of a run or a batch. It needs only the ledger.
   *
   * @param options `isVerified`: whether the chain of hashes is checked.
   * @returns the lines, oldest first; with `isVerified`, whether the chain is intact.
   * @throws NotFound if the ledger has nothing of the id.
   * @example
   * ```ts
   * const { lines } = await payments.log("payout/invoice-17");
   * ```
   */
  async log(id: string, options: { readonly isVerified?: boolean } = {}): Promise<RunLog> {
    checkCall("log", id, options);
    return this.#connections.ledger(({ ledger }) => readLog(ledger, id, options));
  }

  /** Returns whether an id is that of a batch. It needs only the ledger. */
  async isBatch(id: string): Promise<boolean> {
    checkText("id", id);
    return this.#connections.ledger(async ({ ledger }) => (await ledger.batch(id)) !== undefined);
  }

  /**
   * Lists batches with the counts of their rows, the newest first. It needs only the ledger.
   *
   * @example
   * ```ts
   * const [latest] = await payments.batches({ limit: 1 });
   * ```
   */
  async batches(page: { readonly limit?: number } = {}): Promise<ReadonlyArray<BatchView>> {
    checkPage(page);
    const { limit = 50 } = page;
    return this.#connections.ledger(({ ledger }) => listBatches(ledger, limit));
  }

  /**
   * Reads one batch, with the rows that it does not pay and the reasons. It needs only the ledger.
   *
   * @param options `isWhole`: whether all rows are read, as `listed`.
   * @throws NotFound if there is no such batch.
   * @example
   * ```ts
   * const { listed } = await payments.batch(id, { isWhole: true });
   * ```
   */
  async batch(id: string, options: { readonly isWhole?: boolean } = {}): Promise<BatchDetails> {
    checkCall("batch", id, options);
    const { isWhole = false } = options;
    return this.#connections.ledger(({ ledger }) => batchOfId(ledger, id, isWhole));
  }

  /**
   * Follows a batch until each row has an outcome, as `follow` follows a run. It needs only the ledger.
   *
   * @example
   * ```ts
   * for await (const { totals } of payments.followBatch(id)) console.log(totals);
   * ```
   */
  followBatch(id: string, options: FollowOptions = {}): AsyncIterable<BatchView> {
    const read = () => this.#connections.ledger(({ ledger }) => readBatch(ledger, id));
    return iterable(() => {
      checkCall("followBatch", id, options);
      return follow(read, progressOfBatch, options.signal);
    });
  }

  /**
   * Reads the events of an account in the order of its feed, oldest first: none is skipped, and none comes twice in one loop.
   * Keep the `id` of the last event that you have handled, and continue after it. It needs only the ledger.
   *
   * @param given `after`: the id to continue after; `isFollowed`: it waits for further events until `signal` ends it.
   * @throws InvalidInput for an unknown field, or if `after` is not the id of an event; NotAllowed if the ledger does not have that
   *   event: it was restored, or has pruned it. `next.after` is the id to read after instead.
   * @example
   * ```ts
   * for await (const { type, workflowId } of payments.events({ isFollowed: true })) console.log(type, workflowId);
   * ```
   */
  events(given: EventsGiven = {}): AsyncIterable<FeedEvent> {
    const read = (after: string | undefined) =>
      this.#connections.ledger(({ ledger }) =>
        pageOfEvents(ledger, this.account(given.account), after),
      );
    return iterable(() => readEvents(read, given));
  }

  /**
   * Reads the questions and approvals that wait for a person: those about money first, then by currency, sum and age. It needs only the
   * ledger.
   *
   * @example
   * ```ts
   * const { items } = await payments.inbox();
   * ```
   */
  inbox(): Promise<Inbox> {
    return this.#connections.ledger(({ ledger }) => readInbox(ledger, this.lateAfterMs));
  }

  /**
   * Reads the open questions and approvals of an id: of a run, a batch or limits. It needs only the ledger.
   *
   * @example
   * ```ts
   * const [item] = await payments.decisionsOn("payout/invoice-17");
   * ```
   */
  async decisionsOn(id: string): Promise<ReadonlyArray<InboxItem>> {
    checkText("id", id);
    return this.#connections.ledger(({ ledger }) => approvalsOf(ledger, id));
  }

  /**
   * Reads the state of all payments: how many need a person, have failed, and are under way. It needs only the ledger.
   *
   * @example
   * ```ts
   * const { failed, inbox, underWay } = await payments.overview();
   * ```
   */
  overview(): Promise<OverviewView> {
    return this.#connections.ledger(({ ledger }) => readOverview(ledger, this.lateAfterMs));
  }

  /**
   * Checks service, Temporal, workers, trackers and ledger. A failed check does not reject.
   *
   * @param onPart is called with the checks so far as soon as there are more.
   * @example
   * ```ts
   * const { isWell, checks } = await payments.doctor();
   * ```
   */
  doctor(onPart?: (checks: ReadonlyArray<Check>) => void): Promise<Diagnosis> {
    return diagnose(this.#connections, this.#services, onPart);
  }

  /**
   * Reads the limits of all accounts, and those that wait for approval. It needs only the ledger.
   *
   * @example
   * ```ts
   * const limits = await payments.limits();
   * ```
   */
  limits(): Promise<ReadonlyArray<LimitsView>> {
    const here = this.accounts.map(({ hash }) => hash);
    return this.#connections.ledger((opened) => readLimits(opened, here));
  }

  /**
   * Reads the statuses of the service whose meaning people have decided. It needs only the ledger.
   *
   * @example
   * ```ts
   * const words = await payments.words();
   * ```
   */
  words(): Promise<ReadonlyArray<DecidedWord>> {
    return this.#connections.ledger(({ ledger }) => ledger.decidedWords());
  }

  /**
   * Returns the hash of an account of the settings, by its name or hash; by default, of the one that pays.
   *
   * @throws InvalidInput if the settings have no such account.
   */
  account(name?: string): string {
    const known = this.accounts.find(({ hash }) => hash === name);
    return known?.hash ?? accountNamed(this, name);
  }

  /** Closes all connections. A call afterwards is refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }
}
