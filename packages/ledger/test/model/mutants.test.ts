import { describe, expect, test } from "vitest";
import { advance, limitsOf } from "../../src/index.ts";
import { endedRow, overruledRow } from "../../src/model/row-changes.ts";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";
import type { Advance, Rules, Setting } from "./world.ts";
import type { Call, JsonObject, WriteEvent, WriteRow } from "../../src/index.ts";
import type { Decision, Look } from "../../src/store/ledger.ts";

/** `advance` that looks at something else than what there is. */
const seeing =
  (change: (look: Look, event: WriteEvent) => readonly [Look, WriteEvent]): Advance =>
  (look, event, policy) =>
    advance(...change(look, event), policy);
const withRow = (look: Look, to: Partial<WriteRow>): Look =>
  look.row === undefined ? look : { ...look, row: { ...look.row, ...to } };
const isAttempt = (event: WriteEvent) => event.is === "called" || event.is === "dispatching";
const hashOf = (event: WriteEvent) => ("call" in event ? event.call.request.hash : undefined);

/** `advance` whose change of the row is another one. */
const changing =
  (change: (row: WriteRow, look: Look, event: WriteEvent) => Partial<WriteRow>): Advance =>
  (look, event, policy) => {
    const advanced = advance(look, event, policy);
    const { row } = advanced;
    return row === undefined
      ? advanced
      : { ...advanced, row: { ...row, ...change(row, look, event) } };
  };

const believing = (isWanted: (look: Look) => boolean): Advance =>
  seeing((look, event) => {
    if (!isAttempt(event) || !("call" in event) || !isWanted(look)) return [look, event];
    const { row } = look;
    const testimony =
      row === undefined
        ? ({ is: "none" } as const)
        : ({ is: "version", version: row.version } as const);
    // A missing row counts as one that no recovery has made doubtful.
    const believed =
      row === undefined ? { ...look, epoch: 1 } : withRow(look, { epoch: look.epoch });
    return [believed, { ...event, call: { ...event.call, testimony } }];
  });

/** `advance` that sees other decisions than there are. */
const deciding = (
  change: (
    one: Decision,
    event: Extract<WriteEvent, { readonly call: Call }>,
  ) => ReadonlyArray<Decision>,
): Advance =>
  seeing((look, event) => [
    "call" in event
      ? { ...look, decisions: look.decisions.flatMap((one) => change(one, event)) }
      : look,
    event,
  ]);

/** `advance` for which an approval has other values. */
const approving = (
  change: (
    one: Decision,
    event: Extract<WriteEvent, { readonly call: Call }>,
  ) => ReadonlyArray<JsonObject>,
): Advance =>
  deciding((one, event) =>
    one.kind === "approve" ? change(one, event).map((value) => ({ ...one, value })) : [one],
  );

/** `advance` for which a write is of the run that asks for it, and of no other. */
const namedBy =
  (part: "ownerId" | "rootId"): Advance =>
  (look, event, policy) => {
    if (!("call" in event)) return advance(look, event, policy);
    const { call } = event;
    const isOther = look.row !== undefined && look.row[part] !== call[part];
    const name = { ...call.name, workflowId: call.ownerId };
    return advance(
      isOther ? { ...look, row: undefined } : look,
      { ...event, call: { ...call, name } },
      policy,
    );
  };

/** What a planted fault is: where it is found, the rules with it, and what is found. */
type Mutant = readonly [keyof typeof scenarios, Advance | Partial<Rules>, string];

/** Each rule, with the planted faults that break it: without the rule the model check turns red. */
const rules: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Mutant>>>>>> =
  {
    advance: {
      "what nothing vouches for is reconciled first": {
        "no row is believed without a voucher": [
          "ledger lost",
          believing(({ row }) => row === undefined),
          "made twice",
        ],
        "a row of an earlier epoch is believed": [
          "ledger restored",
          believing(({ epoch, row }) => row !== undefined && row.epoch < epoch),
          "made twice",
        ],
      },
      "a write is named by its own workflow id, or its key": {
        "a write is one of its root": [
          "one child id under two roots",
          namedBy("rootId"),
          "made twice",
        ],
        "a key is one of the workflow that asks": [
          "one key asked by two workflows",
          namedBy("ownerId"),
          "made twice",
        ],
      },
      "what another workflow may have asked for is reconciled first": {
        "a first run vouches for a key": [
          "ledger lost unnoticed, one key asked by two workflows",
          seeing((look, event) => [
            look,
            "call" in event
              ? { ...event, call: { ...event.call, ownerId: event.call.name.workflowId } }
              : event,
          ]),
          "made twice",
        ],
        "a child of any name is vouched for": [
          "ledger lost unnoticed, one child id under two roots",
          believing(({ row }) => row === undefined),
          "made twice",
        ],
      },
      "a row that an end has not reached keeps its epoch": {
        "an end vouches for a restored row": [
          "ledger restored, recovered later, ended",
          {
            endedRow: (row, look, reason) => {
              const after = endedRow(row, look, reason);
              return after && { ...after, epoch: look.epoch };
            },
          },
          "made, and said not to be",
        ],
      },
      "the outcome of a restored row that a person ends is unknown": {
        "an end says that a restored row was not sent": [
          "ledger restored, ended and overruled",
          { endedRow: (row, look, reason) => endedRow(row, { ...look, epoch: row.epoch }, reason) },
          "made, and said not to be",
        ],
        "an end says so before the recovery": [
          "ledger restored, recovered later, ended",
          { endedRow: (row, look, reason) => endedRow(row, { ...look, stopped: null }, reason) },
          "made, and said not to be",
        ],
      },
      "an end stays until it is overruled": {
        "an end is forgotten once it is absent": [
          "ends and overrules",
          seeing((look, event) => [{ ...look, end: undefined }, event]),
          "sent after the end",
        ],
      },
      "what was refused takes another request, under the next key": {
        "what was refused takes another request only as an amendment": [
          "retry with another request, not named",
          (look, event, policy) =>
            event.is === "called" &&
            look.row?.state === "refused" &&
            look.row.request.hash !== event.call.request.hash
              ? {
                  row: undefined,
                  entries: [],
                  action: {
                    is: "fail",
                    type: "Refused",
                    message: "",
                    details: { reason: "amend" },
                  },
                }
              : advance(look, event, policy),
          "an amendment is wanted of what made nothing",
        ],
      },
      "a lost answer leaves its send unknown": {
        "a lost answer counts as a no": [
          "kills, freezes and lost answers",
          seeing((look, event) => [
            look,
            event.is === "answered" && event.outcome.is === "lost"
              ? { ...event, outcome: { is: "later", message: "" } }
              : event,
          ]),
          "made, and said not to be",
        ],
      },
      "another attempt leaves the send before it unknown": {
        "another attempt's send counts as not dispatched": [
          "kills, freezes and lost answers",
          changing((_, look, event) =>
            event.is === "called" && look.row?.state === "sending"
              ? { state: "ready", doubt: 0 }
              : {},
          ),
          "made, and said not to be",
        ],
      },
      "a no with doubt settles nothing": {
        "a no with doubt leads to refused": [
          "keyed: retry with another request",
          seeing((look, event) => [
            event.is === "answered" ? withRow(look, { doubt: 0 }) : look,
            event,
          ]),
          "made, and said not to be",
        ],
      },
      "a late no settles its own send only": {
        "a late no settles more than its own send": [
          "kills, freezes and lost answers",
          (look, event, policy) =>
            event.is === "answered" &&
            (event.outcome.is === "refused" || event.outcome.is === "later") &&
            look.row?.state === "sending"
              ? advance(withRow(look, { token: event.token, doubt: 0 }), event, policy)
              : advance(look, event, policy),
          "made, and said not to be",
        ],
      },
      "an answer of an earlier epoch settles nothing": {
        "an answer from before a restore settles the restored row": [
          "ledger restored",
          seeing((look, event) => [
            event.is === "answered" ? withRow(look, { epoch: look.epoch }) : look,
            event,
          ]),
          "made, and said not to be",
        ],
      },
      "an answer that differs is asked about": {
        "an answer that differs counts as a refusal": [
          "answers that differ",
          seeing((look, event) => [
            look,
            event.is === "answered" && event.outcome.is === "contradiction"
              ? { ...event, outcome: { is: "refused", message: "", details: {} } }
              : event,
          ]),
          "made, and said not to be",
        ],
      },
      "a success enters from every state": {
        "late successes do not enter": [
          "retry with another request",
          (look, event, policy) =>
            event.is === "answered" && event.outcome.is === "made" && look.row?.state !== "sending"
              ? { row: undefined, entries: [], action: { is: "again", isKnown: false } }
              : advance(look, event, policy),
          "success lost",
        ],
      },
      "a success is of the request that was sent": {
        "a success is of the request that the row has by now": [
          "ledger lost, started anew amended",
          seeing((look, event) => [
            look,
            event.is === "answered" && look.row
              ? { ...event, call: { ...event.call, request: look.row.request } }
              : event,
          ]),
          "another request is said to be made",
        ],
      },
      "what is done is not sent again": {
        "what is done is sent again for another request": [
          "reset, then retried amended",
          (look, event, policy) =>
            isAttempt(event) &&
            look.row?.state === "done" &&
            look.row.request.hash !== hashOf(event)
              ? believing(() => true)(
                  withRow(look, { state: "refused", madeId: null }),
                  event,
                  policy,
                )
              : advance(look, event, policy),
          "made twice",
        ],
      },
      "an unknown keyed write is sent by the same key": {
        "the next send of what is unknown has another key": [
          "keyed: kills and lost answers",
          changing((row, look, event) =>
            event.is === "dispatching" && look.row?.state === "unknown"
              ? { generation: row.generation + 1 }
              : {},
          ),
          "made twice",
        ],
      },
      "an unknown write takes no other request": {
        "a keyed write is amended while it is unknown": [
          "keyed: ends and overrules",
          changing((row, look, event) =>
            event.is === "called" && row.state === "asking" && look.row?.state === "unknown"
              ? {
                  state: "ready",
                  question: null,
                  generation: row.generation + 1,
                  doubt: 0,
                  knownFrom: 0,
                }
              : {},
          ),
          "made, and said not to be",
        ],
      },
      "a restored keyed write is asked about": {
        "a restored keyed write is sent by the key that it has": [
          "keyed: ledger restored, retried",
          (look, event, policy) =>
            advance("call" in event ? withRow(look, { epoch: look.epoch }) : look, event, policy),
          "made, and said not to be",
        ],
      },
      "a recovery asks anew": {
        "a question of before a restore is still answered": [
          "questions and answers, restored",
          seeing((look, event) => [
            look.row?.state === "asking" ? withRow(look, { epoch: look.epoch }) : look,
            event,
          ]),
          "made twice",
        ],
      },
      "an id that a person names is read and compared": {
        "an id that a person names is taken as it is": [
          "questions and wrong answers",
          seeing((look, event) => [
            look,
            event.is === "checked" ? { ...event, fault: undefined } : event,
          ]),
          "said to be made, and never made",
        ],
      },
      "a resend reads once more": {
        "a resend does not read once more": [
          "questions and wrong answers",
          seeing((look, event) => [
            look,
            isAttempt(event) && "call" in event
              ? { ...event, call: { ...event.call, reread: look.decisions.at(-1)?.sequence } }
              : event,
          ]),
          "made twice",
        ],
      },
      "an answer is for the request that was shown": {
        "another request counts as an amendment that nobody has named": [
          "questions and answers, started anew with another request, not named",
          seeing((look, event) => [
            look,
            "call" in event ? { ...event, call: { ...event.call, mayAmend: true } } : event,
          ]),
          "another request was sent than the answer is for",
        ],
      },
      "an answered question does not stay": {
        "an answer to send again is used up by another request, and the question stays": [
          "keyed: questions and answers, started anew with another request, not named",
          (look, event, policy) =>
            event.is === "called" &&
            look.row?.state === "asking" &&
            look.row.request.hash !== event.call.request.hash
              ? {
                  row: undefined,
                  entries: [],
                  action: { is: "person", needs: "answer", question: look.row.question, why: "" },
                }
              : advance(look, event, policy),
          "stuck",
        ],
      },
      "the first send of a key after a recovery may be a repeat": {
        "it counts as the first": [
          "keyed: ledger lost, forgotten by Temporal",
          (look, event, policy) =>
            look.row === undefined
              ? advance(look, event, { ...policy, repeat: "idempotent" })
              : advance(look, event, policy),
          "made, and said not to be",
        ],
      },
      "an overrule leaves what may have been sent unknown, and waits": {
        "an overruled end has no wait": [
          "ends and overrules",
          {
            overruledRow: (row, look) => {
              const after = overruledRow(row, look);
              return after?.state === "unknown" ? { ...after, until: null } : after;
            },
          },
          "stuck",
        ],
        "an overruled end counts as not sent": [
          "ends and overrules",
          {
            overruledRow: (row, look) => {
              const after = overruledRow(row, look);
              return after?.state === "unknown" ? { ...after, state: "ready", doubt: 0 } : after;
            },
          },
          "made, and said not to be",
        ],
      },
      "a person is asked where nothing else helps": {
        "nobody is asked": [
          "ended while asked",
          (look, event, policy) => {
            const advanced = advance(look, event, policy);
            return advanced.action.is === "person"
              ? { ...advanced, action: { is: "again", isKnown: false } }
              : advanced;
          },
          "stuck",
        ],
      },
    },
    "the fence": {
      "who has taken over is seen": {
        "the fence does not see who has taken over": [
          "kills, freezes and lost answers",
          (look, event, policy) =>
            event.is === "dispatching" && look.row !== undefined
              ? advance(withRow(look, { state: "sending", token: event.token }), event, policy)
              : advance(look, event, policy),
          "made, and said not to be",
        ],
      },
      "what is confirmed during a slow commit is obeyed": Object.fromEntries(
        (
          [
            ["a slow commit", "sent while paused"],
            ["a slow commit, ended", "sent after the end"],
            ["a slow commit, ledger restored", "sent while stopped"],
          ] as const
        ).map(([name, fault]): readonly [string, Mutant] => [
          `the fence skips its second look: ${fault}`,
          [
            name,
            (look, event, policy) =>
              event.is === "leaving"
                ? { row: undefined, entries: [], action: { is: "go" } }
                : advance(look, event, policy),
            fault,
          ],
        ]),
      ),
      "a send is recorded once": {
        "the second look counts again": [
          "a slow commit",
          (look, event, policy) => {
            const advanced = advance(look, event, policy);
            const { row } = look;
            return event.is === "leaving" && advanced.action.is === "go" && row !== undefined
              ? { ...advanced, row: { ...row, sends: row.sends + 1 } }
              : advanced;
          },
          "one send is recorded twice",
        ],
      },
      "an end is seen": {
        "the fence does not see an end": [
          "ends and overrules",
          seeing((look, event) => [
            event.is === "dispatching"
              ? withRow(
                  { ...look, end: undefined },
                  look.row?.state === "ended" ? { state: "ready" } : {},
                )
              : look,
            event,
          ]),
          "sent after the end",
        ],
      },
      "a pause is seen": {
        "the fence does not see a pause": [
          "paused",
          seeing((look, event) => [{ ...look, pause: undefined }, event]),
          "sent while paused",
        ],
      },
      "a restored ledger stops sends": {
        "sends go on in a restored ledger": [
          "ledger restored, recovered later",
          seeing((look, event) => [{ ...look, stopped: null }, event]),
          "sent while stopped",
        ],
      },
      "an approval is needed": {
        "an approval is not needed": [
          "approvals",
          seeing((look, event) => [
            look,
            "call" in event
              ? { ...event, call: { ...event.call, approveAbove: undefined } }
              : event,
          ]),
          "sent without approval",
        ],
      },
      "an approval is for the payee's account": {
        "an approval holds for another account": [
          "approvals",
          seeing((look, event) => [
            look,
            "call" in event && event.call.payee
              ? { ...event, call: { ...event.call, payee: { mark: "x", shown: "" } } }
              : event,
          ]),
          "sent without approval",
        ],
      },
      "an approval is for one generation": {
        "an approval holds for any generation": [
          "approvals, retried amended",
          approving((one) => [1, 2, 3].map((generation) => ({ ...one.value, generation }))),
          "sent without approval",
        ],
      },
      "an approval is for the terms that were shown": {
        "an approval holds for an amendment": [
          "approvals, retried amended",
          // Of what was never sent, too: the generation grows with the request.
          approving((one, { call }) =>
            [1, 2, 3].map((generation) => ({
              ...one.value,
              generation,
              terms: call.request.terms,
            })),
          ),
          "sent without approval",
        ],
      },
      "nobody who has a part in a payment approves it": Object.fromEntries(
        (
          [
            ["start", "approvals, by whom"],
            ["amend", "approvals, by whom"],
            ["resend", "approvals, by whom"],
            ["overrule", "approvals, ended and overruled"],
          ] as const
        ).map(([kind, name]): readonly [string, Mutant] => [
          `who has said ${kind} approves`,
          [
            name,
            deciding((one) => [one.kind === kind ? { ...one, by: "nobody" } : one]),
            "sent without approval",
          ],
        ]),
      ),
      "nobody approves what nobody is known to have started": {
        "the start of a key's own workflow counts for another one": [
          "approvals, one key asked by two workflows",
          deciding((one) => (one.kind === "start" ? [one, { ...one, workflowId: "v" }] : [one])),
          "sent without approval",
        ],
        "a start counts for another run": [
          "approvals, started anew by another person",
          deciding((one, { call }) => [
            one.kind === "start"
              ? { ...one, value: { ...one.value, firstRunId: call.root?.firstRunId ?? null } }
              : one,
          ]),
          "sent without approval",
        ],
      },
      "what was approved once always needs an approval": {
        "an amendment to less than the threshold needs none": [
          "approvals, amended to less than the threshold",
          deciding((one, { call }) =>
            one.kind === "approve" && one.value["terms"] !== call.request.terms ? [] : [one],
          ),
          "sent without approval",
        ],
      },
      "what was overridden needs an approval": {
        "an override permits by itself": [
          "approvals, ended and overruled",
          deciding((one) => (one.kind === "overrule" ? [] : [one])),
          "sent without approval",
        ],
      },
      "an approval does not survive a change of the limits": {
        "an approval survives it": [
          "approvals, limits tightened and loosened",
          seeing((look, event) => [{ ...look, limits: { ...look.limits, since: 0 } }, event]),
          "sent without approval",
        ],
      },
      "a question whose approval is void is asked anew": {
        "it stays, and nobody can answer it again": [
          "approvals, limits tightened and loosened",
          deciding((one) => [one.kind === "approve" ? { ...one, question: null } : one]),
          "stuck",
        ],
      },
      "limits that are tightened are obeyed at once": {
        "the fence does not see them": [
          "approvals, limits first tightened",
          seeing((look, event) => [
            event.is === "dispatching" || event.is === "leaving"
              ? { ...look, limits: { ...look.limits, approveAbove: null } }
              : look,
            event,
          ]),
          "sent without approval",
        ],
      },
      "nobody loosens limits alone": {
        "a loosening applies at once": [
          "approvals, limits tightened and loosened",
          {
            limitsOf: (decisions) => {
              const { pending, ...now } = limitsOf(decisions);
              return { ...now, ...pending };
            },
          },
          "sent without approval",
        ],
        "its setter approves it": [
          "approvals, limits tightened and loosened",
          {
            limitsOf: (decisions) =>
              limitsOf(
                decisions.map((one) => (one.kind === "approve" ? { ...one, by: "nobody" } : one)),
              ),
          },
          "sent without approval",
        ],
      },
      "a file that needs approval as a whole needs one for each row": {
        "a row needs none": [
          "approvals, of a file's row",
          deciding((one) => [
            one.kind === "start" ? { ...one, value: { ...one.value, needsApproval: false } } : one,
          ]),
          "sent without approval",
        ],
      },
      "the row of a file sends what its start says": {
        "a row sends anything that is approved": [
          "approvals, another request than its file's",
          deciding((one) => {
            const { payee: _payee, terms: _terms, ...value } = one.value;
            return [one.kind === "start" ? { ...one, value } : one];
          }),
          "sent, and not as its file says",
        ],
      },
      "an approval does not survive an overrule": {
        "an approval survives an overrule": [
          "approvals",
          {
            overruledRow: (row, look) => {
              const after = overruledRow(row, look);
              return after === undefined
                ? undefined
                : { ...after, decisionsAfter: row.decisionsAfter };
            },
          },
          "sent without approval",
        ],
      },
      "an approval does not survive a resend": {
        "an approval survives a person's resend": [
          "approvals, by whom",
          changing((row, look) =>
            row.state === "asking" ? { decisionsAfter: look.row?.decisionsAfter ?? 0 } : {},
          ),
          "sent without approval",
        ],
      },
      "the janitor sends nothing": {
        "the janitor sends": [
          "settled by the janitor",
          seeing((look, event) => [
            look,
            "call" in event && event.call.mode === "settle"
              ? {
                  ...event,
                  call: { ...event.call, mode: "send" },
                }
              : event,
          ]),
          "sent by the janitor",
        ],
      },
      "a cancelled run sends nothing": {
        "a cancelled run goes on sending": [
          "cancelled",
          seeing((look, event) => [
            look,
            "call" in event && event.call.mode === "close" && look.row !== undefined
              ? { ...event, call: { ...event.call, mode: "send" } }
              : event,
          ]),
          "sent after it was cancelled",
        ],
        "an attempt of a run that was cancelled takes up an answer": [
          "cancelled while asked",
          seeing((look, event) => [
            look.row === undefined ? look : withRow(look, { closedBy: null }),
            event,
          ]),
          "sent after it was cancelled",
        ],
      },
    },
    "reconcile first": {
      "absent counts after the lag": {
        "absent counts before the lag is over": [
          "kills, freezes and lost answers",
          seeing((look, event) => [
            look,
            event.is === "evidence" ? { ...event, readFrom: Number.MAX_SAFE_INTEGER } : event,
          ]),
          "made, and said not to be",
        ],
      },
      "a reading is about the version that it was made for": {
        "a reading counts for a later send": [
          "kills, freezes and lost answers",
          seeing((look, event) => [
            look,
            event.is === "evidence" && look.row
              ? { ...event, version: look.row.version, readFrom: Number.MAX_SAFE_INTEGER }
              : event,
          ]),
          "made, and said not to be",
        ],
        "a reading counts for a row that was restored since": [
          "ledger restored, retried",
          seeing((look, event) => [
            look,
            event.is === "evidence" && look.row
              ? {
                  ...event,
                  version: look.row.version,
                  readFrom: Math.max(event.readFrom, look.now),
                }
              : event,
          ]),
          "made, and said not to be",
        ],
      },
      "a row is older only by the service's own clock": {
        "a row is older by the ledger's clock": [
          "a clock that is behind, without keys",
          { isOlder: ({ from }, clock) => from !== null && clock === "behind" },
          "made, and said not to be",
        ],
      },
      "another generation's key is asked about": {
        "another generation's key counts as this one's": [
          "ledger lost, started anew amended",
          seeing((look, event) => [
            look,
            event.is === "evidence" &&
            event.verdict.is === "unclear" &&
            event.verdict.message !== ""
              ? {
                  ...event,
                  verdict: { is: "found", id: event.verdict.message, result: {}, by: "key" },
                }
              : event,
          ]),
          "another request is said to be made",
        ],
      },
      "likeness alone proves nothing of what was forgotten": {
        "what was forgotten is judged by likeness alone": [
          "ledger lost, started anew amended, without keys",
          seeing((look, event) => [
            look,
            event.is === "evidence" && event.verdict.is === "absent"
              ? { ...event, verdict: { is: "absent" } }
              : event,
          ]),
          "made, and said not to be",
        ],
      },
    },
  };

describe.each(Object.entries(rules))("each rule of %s is needed", (_, ofPart) => {
  describe.each(Object.entries(ofPart))("%s", (_rule, mutants) => {
    test("has a planted fault", () => {
      expect(Object.keys(mutants)).not.toEqual([]);
    });
    test.each(Object.entries(mutants))("%s: the model check turns red", (_name, mutant) => {
      const [name, planted, fault] = mutant;
      const setting: Setting = scenarios[name];
      const planting = typeof planted === "function" ? { advance: planted } : planted;
      expect(explore(setting, { rules: planting }).fault).toBe(fault);
    });
  });
});
