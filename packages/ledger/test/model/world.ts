import { mayBelieveNotSent } from "../../src/model/gate.ts";
import { advance, limitsOf } from "../../src/index.ts";
import { endedRow, overruledRow } from "../../src/model/row-changes.ts";
import type {
  Advanced,
  Call,
  JsonObject,
  SendOutcome,
  Verdict,
  WriteEvent,
  WritePolicy,
  WriteRow,
} from "../../src/index.ts";
import type { Decision, DecisionKind, Look } from "../../src/store/ledger.ts";

/** The real `advance`, or one with a planted fault. */
export type Advance = (look: Look, event: WriteEvent, policy: WritePolicy) => Advanced;

/** The real rules, or some of them with a planted fault. */
export interface Rules {
  readonly advance: Advance;
  readonly overruledRow: typeof overruledRow;
  readonly endedRow: typeof endedRow;
  readonly limitsOf: typeof limitsOf;
  /** Whether a listed row that was made after the first send counts as older, and so as another's. */
  readonly isOlder: (row: WriteRow, clock: Setting["clock"]) => boolean;
}

/** How often each fault and act may happen on one path. */
export interface Budgets {
  readonly kills: number;
  readonly loses: number;
  readonly sends: number;
  readonly retries: number;
  readonly amends: number;
  readonly resets: number;
  readonly restores: number;
  readonly losses: number;
  readonly ends: number;
  readonly overrules: number;
  readonly answers: number;
  readonly unclear: number;
  /** The first begins before everything else. */
  readonly pauses: number;
  readonly slows: number;
  readonly accounts: number;
  readonly cancels: number;
  readonly lates: number;
  readonly settles: number;
  readonly wrongs: number;
  readonly undos: number;
  readonly contradictions: number;
  /** Another workflow asks for the same key. */
  readonly others: number;
  /** The id is started under another root, whose start vouches for it as the first. */
  readonly roots: number;
  /** Limits are tightened, or loosened by two. */
  readonly limits: number;
  /** Somebody who has a part in the payment approves it, or who sets a limit approves that. */
  readonly selves: number;
}

export interface Setting {
  readonly policy: WritePolicy;
  readonly hasKeys: boolean;
  /** Threshold of the step: request A pays 2, request B pays 1. Undefined: it needs no approval. */
  readonly above: "0" | "1" | undefined;
  /** The limits of the account need an approval of everything, from the beginning. */
  readonly isTight: boolean;
  /** The request that a file's row says, if the run is one of a row: its file needs approval as a whole. */
  readonly filed: "A" | "B" | undefined;
  /** Workflows whose starts are recorded: the key's own, w, and another one, v. */
  readonly starts: ReadonlyArray<"w" | "v">;
  /** A lost ledger is replaced by a new one, and nobody notices: it is as if nothing had ever been sent. */
  readonly isUnnoticed: boolean;
  readonly isVouched: boolean;
  /** Another request under the step is an amendment, without anybody saying so. */
  readonly isNamed: boolean;
  /** A person recovers a restored ledger some time after it was restored. */
  readonly isStoppedFirst: boolean;
  /** The service's clock. If it is behind, the ledger's clock takes every listed row to be older than the first send. */
  readonly clock: "ours" | "behind";
  readonly budgets: Budgets;
}

/**
 * What the service has made. The simulator's ServiceModel is not used here: a payout and a list cost it 70 µs against
 * 0.1 µs of this, a state of it is neither copied nor compared cheaply, and its amounts and ids decide no rule of the ledger.
 */
interface Made {
  readonly generation: number;
  readonly request: string;
  readonly isListed: boolean;
  /** It was removed since. */
  readonly isGone: boolean;
}

/** An attempt: what it does next, with what it has read. A frozen one goes on although Temporal has given it up. */
export interface Attempt {
  readonly run: number;
  readonly owner: string;
  readonly root: string;
  readonly isLive: boolean;
  /** It stands still for longer than the time from its start to its dispatch. */
  readonly isLate: boolean;
  readonly phase:
    | { readonly is: "call" }
    | { readonly is: "send"; readonly epoch: number }
    /** Its commit took long: it looks once more before it sends. */
    | { readonly is: "look"; readonly token: string; readonly generation: number }
    | { readonly is: "gone"; readonly token: string; readonly generation: number }
    | {
        readonly is: "answer";
        readonly token: string;
        readonly generation: number;
        readonly outcome: SendOutcome;
      }
    | { readonly is: "evidence"; readonly event: WriteEvent }
    | {
        readonly is: "read";
        readonly row: WriteRow;
        readonly decision: Decision | undefined;
        /** The ledger was restored since the look that it is about; the engine names the time of that look. */
        readonly isOld?: boolean;
      };
  readonly testimony: Call["testimony"];
  readonly reread: number | undefined;
  readonly request: string;
  readonly mode: Call["mode"];
}

interface Run {
  readonly no: number;
  /** The workflow that asks, and its root. */
  readonly owner: string;
  readonly root: string;
  readonly status: "pending" | "busy" | "person" | "failed" | "done";
  readonly attempt: number;
  readonly isFirst: boolean;
  readonly testimony: Call["testimony"];
  readonly request: string;
  readonly mode: Call["mode"];
  readonly why: string;
}

export interface Stored {
  readonly row: WriteRow | undefined;
  readonly decisions: ReadonlyArray<Decision>;
  /** What was approved by somebody without a part in it, and is not void: generation, request and account. */
  readonly approved: ReadonlyArray<string>;
}

/** Everything: the ledger, Temporal, the attempts, the service and the people. */
export interface World extends Stored {
  readonly epoch: number;
  readonly sequence: number;
  readonly end: Decision | undefined;
  readonly isPaused: boolean;
  readonly copy: Stored | undefined;
  readonly run: Run;
  readonly attempts: ReadonlyArray<Attempt>;
  readonly made: ReadonlyArray<Made>;
  /** Requests that were lost on the way, and may still arrive. */
  readonly flying: ReadonlyArray<Omit<Made, "isListed" | "isGone">>;
  readonly isStopped: boolean;
  /** The row was ended by the ledger of now, and not before it was restored. */
  readonly isEndOfNow: boolean;
  readonly account: string;
  /** Decisions about the limits of the account, and whether these need an approval of everything. */
  readonly limits: ReadonlyArray<Decision>;
  readonly isTight: boolean;
  readonly left: Budgets;
  readonly fault: string;
}

export interface Step {
  readonly label: string;
  /** A fault of the environment, or an act of a person: no progress depends on it. */
  readonly isFault: boolean;
  readonly world: World;
}

const approvalOf = (...covers: ReadonlyArray<string | number | null>): string =>
  covers.map((part) => JSON.stringify(part)).join(" ");

const NAME = { account: "a", workflowId: "w", step: "s" };
const LONG_AGO = -10_000_000;

const starting = ({ filed, starts }: Setting): ReadonlyArray<Decision> =>
  starts.map((workflowId) => {
    const file = filed && { terms: filed, payee: "payee", needsApproval: true };
    const start = newDecision("start", null, { firstRunId: "A", ...file }, "requester");
    return { ...start, workflowId, step: null, sequence: 0, at: 0 };
  });

const LOST: Stored = { row: undefined, decisions: [], approved: [] };

const limiting = (approveAbove: JsonObject | null, by: string, sequence: number): Decision => ({
  ...newDecision("limits", null, { maxAmounts: null, approveAbove }, by),
  sequence,
  at: 0,
});

const TIGHT = { EUR: "0" };

export const start = (setting: Setting): World => ({
  row: undefined,
  decisions: starting(setting),
  epoch: 1,
  sequence: 0,
  end: undefined,
  isPaused: setting.budgets.pauses > 0,
  isStopped: false,
  isEndOfNow: false,
  copy: undefined,
  run: {
    no: 1,
    owner: "w",
    root: "w",
    status: "pending",
    attempt: 1,
    isFirst: setting.isVouched,
    testimony: undefined,
    request: "A",
    mode: "send",
    why: "",
  },
  attempts: [],
  made: [],
  flying: [],
  account: "x",
  approved: [],
  limits: setting.isTight ? [limiting(TIGHT, "treasurer", 0)] : [],
  isTight: setting.isTight,
  left: setting.budgets,
  fault: "",
});

const requestOf = (hash: string) => ({
  hash,
  terms: hash,
  amount: hash === "A" ? "2" : "1",
  currency: "EUR",
  payee: "payee",
  reference: null,
  paymentDate: null,
  facts: { hash },
});

/** What the ledger knows of the write, asked for by a workflow. */
export const lookAt = (w: World, owner = "w", limits: typeof limitsOf = limitsOf): Look => ({
  row: w.row,
  now: 0,
  epoch: w.epoch,
  recoveredAt: w.epoch === 1 ? null : 0,
  wasBehind: w.epoch > 1,
  sequence: w.sequence,
  isOutdated: false,
  stopped: w.isStopped ? "restored" : null,
  end: w.end,
  isOfOtherAccount: false,
  limits: limits(w.limits),
  filed: [],
  created: [],
  pause: w.isPaused ? { scope: "all", of: "", by: "p", reason: "r", since: 0 } : undefined,
  decisions: w.decisions.filter(({ workflowId }) =>
    [NAME.workflowId, owner, w.row?.ownerId].includes(workflowId),
  ),
});

/** The first run of the one that asks. Where nobody amends, the workflow asks for another request in the same run. */
const firstRunOf = ({ owner, request }: Attempt, isNamed: boolean): string =>
  isNamed && owner === "w" ? request : "A";

const callOf = (w: World, one: Attempt, { above, isNamed }: Setting): Call => ({
  name: NAME,
  operation: "op",
  request: requestOf(one.request),
  runId: `r${one.run}`,
  testimony: one.testimony,
  mode: one.mode,
  mayAmend: isNamed,
  ownerId: one.owner,
  rootId: one.root,
  root: { id: one.owner, firstRunId: firstRunOf(one, isNamed) },
  approveAbove: above,
  payee: { mark: w.account, shown: "" },
  reread: one.reread,
});

const newDecision = (
  kind: DecisionKind,
  question: string | null,
  value: JsonObject = {},
  by = "other",
) => ({
  account: "a",
  workflowId: "w",
  step: "s",
  kind,
  question,
  by,
  how: "",
  reason: null,
  value,
});

const spent = (w: World, name: keyof Budgets): Budgets => ({ ...w.left, [name]: w.left[name] - 1 });

/** An attempt after a time that is longer than that from its start to its dispatch. */
const aged = (one: Attempt): Attempt => {
  const isLate = one.isLate || (!one.isLive && one.mode !== "settle");
  return one.phase.is === "evidence" && one.phase.event.is === "evidence"
    ? {
        ...one,
        isLate,
        phase: { is: "evidence", event: { ...one.phase.event, readFrom: 2 * LONG_AGO } },
      }
    : { ...one, isLate };
};

/** Writes what was decided, as a store does. */
const stored = (w: World, row: WriteRow | undefined): World => {
  if (row === undefined) return w;
  const isAsked = row.question !== null && row.question.id !== w.row?.question?.id;
  return {
    ...w,
    // Long enough ago for a takeover: an attempt that waits for another one changes nothing.
    row: { ...row, version: (w.row?.version ?? 0) + 1, changedAt: LONG_AGO },
    isEndOfNow: row.state === "ended" && (w.isEndOfNow || w.row?.state !== "ended"),
    sequence: w.sequence + (isAsked ? 1 : 0),
  };
};

/** Adds a decision about the workflow id as a whole. */
const said = (w: World, kind: DecisionKind, by: string, value: JsonObject = {}): World => {
  const sequence = w.sequence + 1;
  const decision = { ...newDecision(kind, null, value, by), step: null, sequence, at: 0 };
  return { ...w, sequence, decisions: [...w.decisions, decision] };
};

/** People who have a part in the payment, besides who approves it. */
const partners = ({ decisions }: World): ReadonlyArray<string> => [
  ...new Set(
    decisions.flatMap(({ by, kind }) =>
      ["start", "amend", "overrule", "resend"].includes(kind) ? [by] : [],
    ),
  ),
];

/** Records a person's decision on the open question, as control does. */
const decided = (w: World, kind: DecisionKind, by: string, given: JsonObject = {}): World => {
  const row = w.row!;
  const { generation, question, request } = row;
  const covers = { generation, terms: request.terms, account: question?.account ?? null };
  const value = kind === "approve" ? covers : given;
  const isSelf = kind === "approve" && by !== "approver";
  const next = stored(
    { ...w, left: spent(w, isSelf ? "selves" : "answers") },
    { ...row, mustNotify: true },
  );
  const sequence = w.sequence + 1;
  const decision = { ...newDecision(kind, question?.id ?? null, value, by), sequence, at: 0 };
  const approval = approvalOf(...Object.values(covers));
  const approved = kind === "approve" && !isSelf ? [...w.approved, approval] : w.approved;
  return {
    ...next,
    sequence: Math.max(next.sequence, sequence),
    decisions: [...w.decisions, decision],
    approved: kind === "resend" ? [] : approved,
  };
};

/** All readings of the list that are possible now. */
const readings = (
  w: World,
  { clock, hasKeys }: Setting,
  row: WriteRow,
  isOlder: Rules["isOlder"],
): ReadonlyArray<{ readonly verdict: Verdict; readonly isPlanted: boolean }> => {
  const verdictOf = (listed: ReadonlyArray<Made>): Verdict => {
    // A key is found whatever its row's age.
    const shown = !hasKeys && isOlder(row, clock) ? [] : listed;
    const indexOf = (one: Made) => `id${w.made.indexOf(one)}`;
    const isAlike = (one: Made) => one.request === row.request.hash;
    // The message names it.
    const ofAnother = (one: Made): Verdict => ({
      is: "unclear",
      message: indexOf(one),
      candidates: [],
    });
    const [ours, ...others] = shown.filter((one) =>
      hasKeys ? one.generation === row.generation : isAlike(one),
    );
    // As evidence/verdict.ts of the activities says of a row whose write nothing vouches for.
    const isMistrusted = row.from === null;
    if (others.length > 0 || (ours !== undefined && !hasKeys && isMistrusted))
      return { is: "unclear", message: "", candidates: [] };
    if (ours !== undefined && isMistrusted && !isAlike(ours)) return ofAnother(ours);
    if (ours !== undefined)
      return { is: "found", id: indexOf(ours), result: {}, by: hasKeys ? "key" : "likeness" };
    const [other] = shown;
    if (other === undefined) return { is: "absent" };
    return hasKeys ? ofAnother(other) : { is: "absent", others: [{}] };
  };
  const made = w.made.filter(({ isGone }) => !isGone);
  const all = verdictOf(made);
  const some = made.every(({ isListed }) => isListed)
    ? []
    : [verdictOf(made.filter(({ isListed }) => isListed))];
  const unclear: ReadonlyArray<Verdict> =
    w.left.unclear > 0 ? [{ is: "unclear", message: "", candidates: [] }] : [];
  // Until results show how far the service's clock is behind, no row is proved to be recent.
  const ofUnknownAge: ReadonlyArray<Verdict> =
    clock === "behind" && all.is === "found" && all.by === "likeness"
      ? [{ is: "unclear", message: "", candidates: [] }]
      : [];
  return [
    ...[all, ...some, ...ofUnknownAge].map((verdict) => ({ verdict, isPlanted: false })),
    ...unclear.map((verdict) => ({ verdict, isPlanted: true })),
  ];
};

export class Model {
  readonly setting: Setting;
  readonly #rules: Rules;
  constructor(setting: Setting, rules: Partial<Rules> = {}) {
    this.setting = setting;
    this.#rules = { advance, overruledRow, endedRow, limitsOf, isOlder: () => false, ...rules };
  }

  #look(w: World, owner?: string): Look {
    return lookAt(w, owner, this.#rules.limitsOf);
  }

  /** Whether a second person has to approve a request. */
  #needsApproval({ decisions, isTight }: World, request: string): boolean {
    const { above, filed } = this.setting;
    return (
      isTight ||
      filed !== undefined ||
      (above !== undefined && Number(requestOf(request).amount) > Number(above)) ||
      decisions.some(({ kind }) => kind === "approve" || kind === "overrule")
    );
  }

  /** One transaction of an attempt, and what follows for it and its run. */
  #transact(w: World, at: number, event: WriteEvent, isSlow = false): World {
    const one = w.attempts[at]!;
    const look = this.#look(w, one.owner);
    const { action, entries, row } = this.#rules.advance(look, event, this.setting.policy);
    let next = stored(w, row);
    if (event.is === "leaving" && (row !== undefined || entries.length > 0))
      next = { ...next, fault: "one send is recorded twice" };
    if (row !== undefined && row.state === "ready" && row.doubt > 0)
      next = { ...next, fault: "ready with doubt" };
    if (
      event.is === "answered" &&
      event.outcome.is === "made" &&
      next.row?.madeId === null &&
      next.row.generation === event.generation
    )
      next = { ...next, fault: "success lost" };
    const isRefusal = w.row?.state === "refused" && w.row.doubt === 0 && "call" in event;
    if (
      isRefusal &&
      action.is === "fail" &&
      action.details["reason"] === "amend" &&
      mayBelieveNotSent(w.row, w.epoch, event.call, this.setting.policy)
    )
      next = { ...next, fault: "an amendment is wanted of what made nothing" };
    const version = { is: "version", version: next.row?.version ?? 0 } as const;
    const rest = w.attempts.filter((_, index) => index !== at);
    const on = (change: Partial<Attempt>): World => ({
      ...next,
      attempts: [...rest, { ...one, ...change }],
    });
    const over = (run: Partial<Run>): World => ({
      ...next,
      attempts: rest,
      run: one.isLive ? { ...next.run, ...run } : next.run,
    });
    // One that stands still, and is too late to dispatch, has said what it had to say.
    if (one.isLate && !one.isLive && one.mode !== "settle") return { ...next, attempts: rest };
    switch (action.is) {
      case "again":
        return on({
          phase: { is: "call" },
          reread: action.reread,
          testimony: action.isKnown ? version : undefined,
        });
      case "send":
        return on({ phase: { is: "send", epoch: w.epoch } });
      case "go": {
        const { generation } = next.row!;
        const wanted = approvalOf(generation, one.request, w.account);
        const { filed, isNamed } = this.setting;
        const firstRunId = firstRunOf(one, isNamed);
        const isStarted = w.decisions.some(
          ({ kind, value, workflowId }) =>
            (kind === "start" || kind === "amend") &&
            workflowId === one.owner &&
            value["firstRunId"] === firstRunId,
        );
        const fault =
          w.end !== undefined
            ? "sent after the end"
            : w.isPaused
              ? "sent while paused"
              : w.isStopped
                ? "sent while stopped"
                : one.mode === "settle"
                  ? "sent by the janitor"
                  : one.mode === "close" && (w.row === undefined || w.row.doubt === 0)
                    ? "sent after it was cancelled"
                    : this.#needsApproval(w, one.request) &&
                        !(isStarted && w.approved.includes(wanted))
                      ? "sent without approval"
                      : filed !== undefined &&
                          one.request !== filed &&
                          !w.decisions.some(
                            ({ kind, value }) => kind === "amend" && value["terms"] === one.request,
                          )
                        ? "sent, and not as its file says"
                        : one.run === w.run.no && w.run.why === "Cancelled"
                          ? "sent after it was cancelled"
                          : !isNamed &&
                              w.row?.state === "asking" &&
                              ![w.row.request.hash, w.row.question?.request].includes(one.request)
                            ? "another request was sent than the answer is for"
                            : "";
        const token = "token" in event ? event.token : "";
        const left = event.is === "leaving" ? w.left : spent(w, "sends");
        return {
          ...on({ phase: { is: isSlow ? "look" : "gone", token, generation } }),
          fault: next.fault || fault,
          left: isSlow ? { ...left, slows: left.slows - 1 } : left,
        };
      }
      case "stop":
        return on({
          phase: {
            is: "answer",
            token:
              event.is === "dispatching"
                ? `${event.token} stopped`
                : "token" in event
                  ? event.token
                  : "",
            generation: 0,
            outcome: { is: "notDispatched", message: "" },
          },
        });
      case "reconcile":
        return on({ phase: { is: "read", row: next.row!, decision: undefined } });
      case "check":
        return on({ phase: { is: "read", row: next.row!, decision: action.decision } });
      case "wait":
        return over({
          status: "pending",
          attempt: 2,
          testimony: action.isUnsent ? version : undefined,
        });
      case "person":
        return over({ status: "person", testimony: version, why: action.needs });
      case "fail":
        return over({ status: "failed", testimony: version, why: action.type });
      case "return":
        return over({ status: "done", why: action.id });
    }
  }

  #attemptSteps(w: World, at: number): ReadonlyArray<Step> {
    const one = w.attempts[at]!;
    const who = "w";
    const steps: Array<Step> = [];
    const name = `${one.isLive ? "" : "frozen "}attempt of run ${one.run}`;
    const on = (label: string, world: World, isFault = false) =>
      steps.push({ label: `${name}: ${label}`, isFault, world });
    const phased = (phase: Attempt["phase"], change: Partial<World> = {}): World => ({
      ...w,
      ...change,
      attempts: w.attempts.map((other, index) => (index === at ? { ...one, phase } : other)),
    });
    const { phase } = one;
    const call = callOf(w, one, this.setting);
    switch (phase.is) {
      case "call":
        on("called", this.#transact(w, at, { who, is: "called", call }));
        break;
      case "send":
        if (w.left.sends > 0 && !one.isLate) {
          const token = `${phase.epoch}:${w.left.sends}`;
          const event = { who, is: "dispatching", token, call } as const;
          on("dispatching", this.#transact(w, at, event));
          if (w.left.slows > 0) on("dispatching slowly", this.#transact(w, at, event, true), true);
        }
        break;
      case "look": {
        const { generation, token } = phase;
        const outcome = { is: "notDispatched", message: "" } as const;
        if (one.isLate) on("is too late", phased({ is: "answer", token, generation, outcome }));
        else on("leaving", this.#transact(w, at, { who, is: "leaving", token, call }));
        break;
      }
      case "gone": {
        const { generation, token } = phase;
        const answer = (outcome: SendOutcome, change: Partial<World> = {}) =>
          phased({ is: "answer", token, generation, outcome }, change);
        const lost = { is: "lost", message: "" } as const;
        const known =
          this.setting.policy.repeat === "keyed"
            ? w.made.findIndex((made) => made.generation === generation)
            : -1;
        const id = `id${known === -1 ? w.made.length : known}`;
        const one_ = { generation, request: one.request };
        const made =
          known === -1 ? [...w.made, { ...one_, isListed: false, isGone: false }] : w.made;
        on("made", answer({ is: "made", id, result: {} }, { made }));
        on("refused", answer({ is: "refused", message: "", details: {} }), true);
        on("later", answer({ is: "later", message: "" }), true);
        if (w.left.contradictions > 0) {
          const change = { made, left: spent(w, "contradictions") };
          on("made, answer differs", answer({ is: "contradiction", message: "" }, change), true);
        }
        if (w.left.loses > 0) {
          const left = spent(w, "loses");
          on("made, answer lost", answer(lost, { made, left }), true);
          on("lost", answer(lost, { left }), true);
          if (w.left.lates > 0 && known === -1) {
            on(
              "lost on the way",
              answer(lost, {
                left: { ...left, lates: left.lates - 1 },
                flying: [...w.flying, one_],
              }),
              true,
            );
          }
        }
        break;
      }
      case "answer": {
        const { generation, outcome, token } = phase;
        on(
          `answered ${outcome.is}`,
          this.#transact(w, at, { who, is: "answered", token, generation, outcome, call }),
        );
        break;
      }
      case "read": {
        const { decision, isOld = false, row } = phase;
        const { version } = row;
        const evidence = (event: WriteEvent, change: Partial<World> = {}) =>
          phased({ is: "evidence", event }, change);
        if (decision?.kind === "found") {
          const id = JSON.stringify(decision.value["id"]).slice(1, -1);
          const made = w.made[Number(id.slice(2))];
          const fault = made?.request === row.request.hash ? undefined : "differs";
          on(
            "reads the id",
            evidence({ who, is: "checked", version, decision, id, result: {}, fault }),
          );
          break;
        }
        for (const { isPlanted, verdict } of readings(w, this.setting, row, this.#rules.isOlder)) {
          const left = isPlanted
            ? { left: { ...w.left, unclear: Math.max(0, w.left.unclear - 1) } }
            : {};
          on(
            `reads ${verdict.is}`,
            evidence(
              decision === undefined
                ? { who, is: "evidence", version, readFrom: isOld ? 2 * LONG_AGO : 0, verdict }
                : { who, is: "reread", version, decision, verdict },
              left,
            ),
            isPlanted,
          );
        }
        break;
      }
      case "evidence":
        on(`enters ${phase.event.is}`, this.#transact(w, at, phase.event));
        break;
    }
    if (one.isLive && w.left.kills > 0) {
      const run = { ...w.run, status: "pending", attempt: 2, testimony: undefined } as const;
      const left = spent(w, "kills");
      on(
        "killed",
        { ...w, left, run, attempts: w.attempts.filter((_, index) => index !== at) },
        true,
      );
      on(
        "frozen",
        {
          ...w,
          left,
          run,
          attempts: w.attempts.map((other, index) =>
            index === at ? { ...one, isLive: false } : other,
          ),
        },
        true,
      );
    }
    return steps;
  }

  /** Everything that may happen next. */
  next(w: World): ReadonlyArray<Step> {
    const steps: Array<Step> = [];
    const { left, row, run } = w;
    const on = (label: string, world: Partial<World>, isFault = true) =>
      steps.push({ label, isFault, world: { ...w, ...world } });
    if (run.status === "pending") {
      const isFirst = run.isFirst && run.attempt === 1 && run.testimony === undefined;
      const one: Attempt = {
        run: run.no,
        owner: run.owner,
        root: run.root,
        isLive: true,
        isLate: false,
        phase: { is: "call" },
        testimony: isFirst ? { is: "none" } : run.testimony,
        reread: undefined,
        request: run.request,
        mode: run.mode,
      };
      on(
        "attempt begins",
        { attempts: [...w.attempts, one], run: { ...run, status: "busy", isFirst: false } },
        false,
      );
    }
    if (left.cancels > 0 && (run.status === "pending" || run.status === "person"))
      on("cancelled", {
        left: spent(w, "cancels"),
        run: { ...run, status: "pending", attempt: 1, isFirst: false, mode: "close" },
      });
    // That an attempt begins changes nothing that others see: it comes before all else that may happen now.
    if (run.status === "pending") return steps;
    for (const at of w.attempts.keys()) steps.push(...this.#attemptSteps(w, at));
    if (run.status === "person")
      on("nudged", { run: { ...run, status: "pending", attempt: 1, isFirst: false } }, false);
    if (w.isStopped)
      on("recovered", { epoch: w.epoch + 1, sequence: w.sequence + 1, isStopped: false }, false);
    if (left.settles > 0 && (run.status === "failed" || run.status === "done") && row !== undefined)
      on("janitor looks", {
        left: spent(w, "settles"),
        attempts: [
          ...w.attempts,
          {
            run: Number(row.runId.slice(1)),
            owner: row.ownerId,
            root: row.rootId,
            isLive: false,
            isLate: false,
            phase: { is: "call" },
            testimony: undefined,
            reread: undefined,
            request: row.request.hash,
            mode: "settle",
          },
        ],
      });
    if (left.undos > 0 && row?.state === "done" && row.epoch === w.epoch && run.status !== "busy")
      steps.push({ label: "undone", isFault: true, world: this.#undone(w, row) });
    if (w.isPaused) on("resumed", { isPaused: false }, false);
    else if (left.pauses > 1) on("PAUSED", { isPaused: true, left: spent(w, "pauses") });
    for (const [index, one] of w.flying.entries())
      on("arrives late", {
        made: [...w.made, { ...one, isListed: false, isGone: false }],
        flying: w.flying.filter((_, other) => other !== index),
      });
    if (
      row?.until !== null &&
      row?.until !== undefined &&
      row.until > LONG_AGO &&
      row.state === "unknown" &&
      !w.attempts.some(({ isLive, phase }) => isLive && phase.is === "gone")
    ) {
      // What passed the fence has left by now, or never will; what is on its way has arrived, or never will.
      on(
        "time passes",
        {
          row: { ...row, until: LONG_AGO },
          flying: [],
          made: w.made.map((one) => ({ ...one, isListed: true })),
          attempts: w.attempts
            .filter(
              ({ isLive, mode, phase }) =>
                phase.is !== "gone" &&
                (isLive || mode === "settle" || (phase.is !== "call" && phase.is !== "read")),
            )
            .map(aged),
        },
        false,
      );
    }
    if (left.restores > 0 && w.copy === undefined && row !== undefined)
      on("copy made", { copy: { row, decisions: w.decisions, approved: w.approved } });
    const { isNamed, isStoppedFirst, isUnnoticed } = this.setting;
    const recover = (label: string, to: Stored, change: Partial<World>) => {
      const sequence = w.sequence + 1;
      const put = {
        ...w,
        ...to,
        ...change,
        epoch: isStoppedFirst ? w.epoch : w.epoch + 1,
        isStopped: isStoppedFirst,
        isEndOfNow: false,
        sequence,
        copy: undefined,
        // A recovery takes longer than the time from an attempt's start to its dispatch.
        attempts: w.attempts
          .filter(({ isLive, phase }) => isLive || (phase.is !== "call" && phase.is !== "send"))
          .map((one) =>
            one.phase.is === "read"
              ? aged({ ...one, phase: { ...one.phase, isOld: true } })
              : aged(one),
          ),
      };
      on(label, put);
    };
    if (left.restores > 0 && w.copy !== undefined)
      recover("LEDGER RESTORED", w.copy, { left: spent(w, "restores") });
    if (left.losses > 0 && row !== undefined)
      if (isUnnoticed)
        // A worker stops when its ledger is replaced, so no attempt outlives it.
        on("LEDGER LOST UNNOTICED", {
          ...LOST,
          left: spent(w, "losses"),
          copy: undefined,
          attempts: [],
          flying: [...w.flying, ...this.#dispatched(w)],
          ...(run.status === "busy" && {
            run: { ...run, status: "pending", attempt: 2, testimony: undefined },
          }),
        });
      else recover("LEDGER LOST", LOST, { left: spent(w, "losses") });
    const anew = {
      no: run.no + 1,
      status: "pending",
      attempt: 1,
      isFirst: false,
      mode: "send",
      why: "",
    } as const;
    if (run.status === "failed" && left.retries > 0) {
      const retried = { left: spent(w, "retries") };
      on("retried", { ...retried, run: { ...run, ...anew } });
      if (left.amends > 0)
        on("retried AMENDED", {
          // A retry that amends is a decision; a workflow that has another request is none.
          ...(isNamed &&
            said(w, "amend", "amender", {
              from: run.request,
              firstRunId: "B",
              terms: "B",
            })),
          left: { ...retried.left, amends: left.amends - 1 },
          run: { ...run, ...anew, request: "B" },
        });
    }
    // Both start anew: Temporal vouches for each as the first of its own id, or of its root.
    const first = {
      ...anew,
      testimony: undefined,
      // Of an id that is lost unnoticed, a child's voucher is not believed: see `voucherFor`.
      isFirst: !isUnnoticed,
      request: "A",
    };
    const attempts = w.attempts.map((one) => ({ ...one, isLive: false }));
    if (left.others > 0) {
      const asks = { ...run, ...first, isFirst: true, owner: "v", root: "v" };
      const other = { left: spent(w, "others"), attempts };
      on("ANOTHER WORKFLOW ASKS", { ...other, run: asks });
      if (left.amends > 0)
        on("ANOTHER WORKFLOW ASKS FOR ANOTHER", {
          left: { ...other.left, amends: left.amends - 1 },
          attempts,
          run: { ...asks, request: "B" },
        });
    }
    if (left.roots > 0)
      on("STARTED UNDER ANOTHER ROOT", {
        left: spent(w, "roots"),
        run: { ...run, ...first, root: "r" },
        attempts,
      });
    if (left.resets > 0 && run.status !== "done")
      on("reset", {
        left: spent(w, "resets"),
        run: { ...run, ...anew, testimony: undefined },
        attempts: w.attempts.map((one) => ({ ...one, isLive: false })),
      });
    // Neither the ledger nor Temporal knows the id any more, so that its new run is vouched for as the first.
    if (left.resets > 0 && w.epoch > 1 && row === undefined)
      on("Temporal forgot, started anew", {
        left: spent(w, "resets"),
        run: { ...run, ...anew, isFirst: true, testimony: undefined, request: "A" },
        attempts: w.attempts.map((one) => ({ ...one, isLive: false })),
      });
    if (left.resets > 0 && left.amends > 0 && run.status !== "done")
      on("started anew AMENDED", {
        left: { ...spent(w, "resets"), amends: left.amends - 1 },
        run: { ...run, ...anew, testimony: undefined, request: "B" },
        attempts: w.attempts.map((one) => ({ ...one, isLive: false })),
      });
    this.#people(w, steps);
    return steps;
  }

  /** Requests of attempts that have passed the fence: they may still arrive. A repeat of a key is one with it. */
  #dispatched({ attempts }: World): World["flying"] {
    if (this.setting.policy.repeat === "keyed") return [];
    return attempts.flatMap(({ phase, request }) =>
      phase.is === "gone" ? [{ generation: phase.generation, request }] : [],
    );
  }

  #undone(w: World, row: WriteRow): World {
    const { row: undone } = this.#rules.advance(
      this.#look(w),
      { is: "undone", who: "w" },
      this.setting.policy,
    );
    return {
      ...stored(w, undone),
      left: spent(w, "undos"),
      made: w.made.map((one, index) =>
        `id${index}` === row.madeId ? { ...one, isGone: true } : one,
      ),
    };
  }

  #ended(w: World, value: JsonObject): World {
    const sequence = w.sequence + 1;
    const end = { ...newDecision("end", null, value), sequence, at: 0 };
    const ended = w.row && this.#rules.endedRow(w.row, this.#look(w), null);
    return stored({ ...w, end, sequence }, ended);
  }

  #people(w: World, steps: Array<Step>): void {
    const { left, row } = w;
    const on = (label: string, world: World) => steps.push({ label, isFault: true, world });
    if (left.answers > 0 && row?.question && isAnswerable(w)) {
      if (row.question.kind === "approval") {
        on("person approves", decided(w, "approve", "approver"));
        if (left.selves > 0)
          for (const by of partners(w)) on(`${by} approves`, decided(w, "approve", by));
        on("person rejects", this.#ended({ ...w, left: spent(w, "answers") }, { rejected: true }));
      } else if (w.flying.length === 0 && !w.attempts.some(({ phase }) => phase.is === "gone")) {
        // People are thorough: they look for what was made at the service, wherever it is listed.
        if (left.wrongs > 0)
          on(
            "person names a wrong id",
            decided({ ...w, left: spent(w, "wrongs") }, "found", "resender", { id: "id9" }),
          );
        const [first] = w.made;
        // Hasty ones do not see what is listed by now: one more reading does.
        const isFound = first?.isListed === true && first.generation === row.generation;
        if (left.wrongs > 0 && isFound && w.made.length === 1 && this.setting.hasKeys)
          on("person hastily says send again", decided(w, "resend", "resender"));
        if (w.made.length === 0) on("person says send again", decided(w, "resend", "resender"));
        else on("person names it", decided(w, "found", "resender", { id: "id0" }));
      }
    }
    if (left.ends > 0 && w.end === undefined)
      on("PERSON ENDS", this.#ended({ ...w, left: spent(w, "ends") }, {}));
    if (left.overrules > 0 && w.end !== undefined) {
      const overruled = row && this.#rules.overruledRow(row, this.#look(w));
      const over = said({ ...w, left: spent(w, "overrules") }, "overrule", "overruler");
      on("OVERRULED", stored({ ...over, end: undefined, approved: [] }, overruled));
    }
    if (left.limits > 0) this.#limited(w, on);
    if (left.accounts > 0)
      on("payee's account changes", { ...w, left: spent(w, "accounts"), account: "y" });
  }

  /** Two people loosen the limits; one tightens them, and one alone cannot loosen them. */
  #limited(w: World, on: (label: string, world: World) => void): void {
    const sequence = w.sequence + 1;
    const add = (one: Decision, change: Partial<World> = {}): World => ({
      ...w,
      left: spent(w, "limits"),
      sequence,
      limits: [...w.limits, one],
      ...change,
    });
    const last = w.limits.at(-1);
    const isPending = w.isTight && last?.kind === "limits" && last.value["approveAbove"] === null;
    if (!w.isTight)
      on(
        "limits tightened",
        add(limiting(TIGHT, "treasurer", sequence), { isTight: true, approved: [] }),
      );
    else if (isPending) {
      const approve = (by: string) =>
        add({ ...newDecision("approve", null, { sequence: last.sequence }, by), sequence, at: 0 });
      on("loosening approved", { ...approve("approver"), isTight: false, approved: [] });
      if (w.left.selves > 0) on("loosening approved by its setter", approve("treasurer"));
    } else on("loosening set", add(limiting(null, "treasurer", sequence)));
  }
}

/** What must never be; undefined where all is well. */
export const violation = (w: World, { policy }: Setting): string | undefined => {
  if (w.fault !== "") return w.fault;
  // Two of these do no harm.
  if (policy.repeat === "idempotent" || policy.whenLost === "resend") return undefined;
  const { row } = w;
  const made = w.made.filter(({ isGone }) => !isGone);
  const own = row?.state === "done" ? w.made[Number(row.madeId?.slice(2))] : undefined;
  if (row?.state === "done" && own === undefined) return "said to be made, and never made";
  if (row?.epoch === w.epoch && own !== undefined && own.request !== row.request.hash)
    return "another request is said to be made";
  // Of a restored ledger nothing is believed until it is recovered, apart from an end that it has recorded itself.
  const isUnsent = row?.state === "ready" || row?.state === "refused";
  const saysUnsent =
    !w.isStopped &&
    (isUnsent ? row.epoch === w.epoch : row?.state === "ended" && row.doubt === 0 && w.isEndOfNow);
  if (saysUnsent && made.length > 0) return "made, and said not to be";
  return made.length > 1 ? "made twice" : undefined;
};

/** Whether a question is open, and nobody has answered it: what an overrule voids does not count. */
const isAnswerable = ({ decisions, row }: World): boolean =>
  row?.question !== null &&
  row?.question !== undefined &&
  !decisions.some(
    ({ question, sequence }) => question === row.question?.id && sequence > row.decisionsAfter,
  );

/** Whether nothing has to happen any more, or a person is asked who can answer. */
export const isSettled = (w: World): boolean => {
  const { isPaused, left, run } = w;
  if (left.sends === 0 || run.status === "done" || run.status === "failed") return true;
  return run.status === "person" && (run.why === "resume" ? isPaused : isAnswerable(w));
};
