import type { Input, Payout } from "@durable-payments/api-core";
import { NO_ANSWER, REJECTED } from "./activity-execution.ts";
import type { Engine, Transition } from "./engine.ts";
import { replaced } from "./engine.ts";
import type { CreatedPayout, Process, State } from "./scenario.ts";

/** All selections of some items. */
const subsets = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  items.reduce<ReadonlyArray<ReadonlyArray<A>>>(
    (chosen, item) => chosen.flatMap((some) => [some, [...some, item]]),
    [[]],
  );

/** Create the payout of a request; its reason names the step that it truly is of. */
const make = (
  engine: Engine,
  state: State,
  process: Process,
  request: Input<"createPayout">,
): CreatedPayout => {
  const { service } = engine.scenario;
  const { workflowId } = process.chain.root;
  const step = request.payout_reason;
  const number = state.ledger.filter(
    (one) => one.workflowId === workflowId && one.step === step,
  ).length;
  const key =
    service.keys === "ours"
      ? request.unique_request_id
      : service.keys === "its own"
        ? `its-${state.ledger.length}`
        : undefined;
  const payout: Payout = {
    payout_id: `${workflowId}.${step}.${number + 1}`,
    payout_status: "processing",
    amount: request.amount,
    currency: request.currency,
    beneficiary_id: request.beneficiary_id,
    ...(request.payout_reference !== undefined && { payout_reference: request.payout_reference }),
    ...(key !== undefined && { unique_request_id: key }),
    create_time: new Date(state.now).toISOString(),
  };
  // It may arrive as late as the request may take, and be listed so much later.
  const listedBy = dispatchBy(engine, process) + service.listLagMs;
  return { payout, workflowId, step, listedBy, isListed: false };
};

/** Until when a request that a process is about to send can reach the service. */
export const dispatchBy = (engine: Engine, { chain }: Process): number =>
  (chain.entry?.at ?? chain.root.startedAt) + engine.scenario.service.requestTimeoutMs;

/** A send that reaches the service, or not; with an answer, or not. */
export const createPayout = (
  engine: Engine,
  state: State,
  process: Process,
  request: Input<"createPayout">,
): ReadonlyArray<Transition> => {
  const made = make(engine, state, process, request);
  const ledger = [...state.ledger, made];
  const name = `${process.isConnected ? "" : "lost worker of "}${made.workflowId} sends ${made.step}`;
  const answered = {
    label: `${name}: ${made.payout.payout_id}`,
    state: engine.answer({ ...state, ledger }, process, made.payout),
  };
  const next = [answered];
  if (state.budget.rejections > 0) {
    const budget = { ...state.budget, rejections: state.budget.rejections - 1 };
    next.push({
      label: `${name}: the service rejects it`,
      state: engine.answer({ ...state, budget }, process, REJECTED),
    });
  }
  if (state.budget.lostAnswers === 0) return next;
  const budget = { ...state.budget, lostAnswers: state.budget.lostAnswers - 1 };
  return [
    ...next,
    {
      label: `${name}: ${made.payout.payout_id}, the answer is lost`,
      state: engine.answer({ ...state, ledger, budget }, process, NO_ANSWER),
    },
    {
      label: `${name}: the request is lost`,
      state: engine.answer({ ...state, budget }, process, NO_ANSWER),
    },
  ];
};

/** The list of payouts: what was made lately may be in it, what was seen in it is. */
export const listPayouts = (
  engine: Engine,
  state: State,
  process: Process,
): ReadonlyArray<Transition> => {
  const { listed = (payout) => payout } = engine.scenario.service;
  const isCertain = ({ isListed, listedBy }: CreatedPayout) => isListed || listedBy <= state.now;
  return subsets(state.ledger.filter((made) => !isCertain(made))).map((alsoListed) => {
    const ledger = state.ledger.map((made) =>
      isCertain(made) || alsoListed.includes(made) ? { ...made, isListed: true } : made,
    );
    const shown = ledger.filter(({ isListed }) => isListed).map(({ payout }) => listed(payout));
    return {
      label: `${process.chain.root.workflowId} reads the list: ${shown.map(({ payout_id }) => payout_id).join(", ") || "nothing"}`,
      state: engine.answer({ ...state, ledger }, process, shown.toReversed()),
    };
  });
};

/** One payout, as the service has it. */
export const retrievePayout = (
  engine: Engine,
  state: State,
  process: Process,
  payoutId: string,
): ReadonlyArray<Transition> => {
  const made = state.ledger.find(({ payout }) => payout.payout_id === payoutId);
  if (made === undefined) throw new Error(`There is no payout ${payoutId}.`);
  return [
    {
      label: `${process.chain.root.workflowId} retrieves ${payoutId}`,
      state: engine.answer(state, process, made.payout),
    },
  ];
};

/** The server's list of runs: of what a run wrote lately it may show an older version. */
export const listRuns = async (
  engine: Engine,
  state: State,
  process: Process,
  query: string,
): Promise<ReadonlyArray<Transition>> => {
  const [, id = ""] = /PaymentIds = "([^"]*)"/.exec(query) ?? [];
  if (id === "") throw new Error(`The explorer does not know the query ${query}.`);
  let ways: ReadonlyArray<{ readonly runs: State["runs"]; readonly found: ReadonlyArray<string> }> =
    [{ runs: state.runs, found: [] }];
  for (const run of state.runs) {
    const { written } = await engine.situation(run);
    const newest = written.length - 1;
    // Once a version is as old as the lag, none before it is shown.
    const replacedByNow = written.findLastIndex(
      ({ at }) => at + engine.scenario.service.visibilityLagMs <= state.now,
    );
    const oldest = Math.max(run.oldestShown, replacedByNow);
    const shows = (version: number) => written[version]?.ids.includes(id) === true;
    const versions = Array.from({ length: newest - oldest + 1 }, (_, n) => oldest + n);
    // Of the versions that answer the same the oldest leaves most open.
    const first = [versions.find((v) => shows(v)), versions.find((v) => !shows(v))];
    ways = ways.flatMap(({ found, runs }) =>
      first.flatMap((version) =>
        version === undefined
          ? []
          : [
              {
                runs: replaced(runs, run, { ...run, oldestShown: version }),
                found: shows(version) ? [...found, run.workflowId] : found,
              },
            ],
      ),
    );
  }
  return ways.map(({ found, runs }) => ({
    label: `${process.chain.root.workflowId} asks who has ${id.slice(0, 15)}: ${found.join(", ") || "nobody"}`,
    state: engine.answer(
      { ...state, runs },
      process,
      found.map((workflowId) => ({ workflowId })),
    ),
  }));
};

/** The state of the run that an attempt belongs to. It is as the server has it: no list, which lags. */
export const runState = async (
  engine: Engine,
  state: State,
  process: Process,
): Promise<Transition> => {
  const { runId, workflowId } = process.chain.root;
  let answer: "open" | "ended" = "ended";
  for (const run of state.runs) {
    const situation = await engine.situation(run);
    if (run.isCurrent && situation.runId === runId && situation.closed === undefined)
      answer = "open";
  }
  return {
    label: `${process.isConnected ? "" : "lost worker of "}${workflowId} asks whether its run is open: ${answer}`,
    state: engine.answer(state, process, answer),
  };
};
