import { describe, expect, test } from "vitest";
import { advance, limitsOf, whyNobody } from "../../src/index.ts";
import type { Call, Decision, Limits, Look, NewDecision } from "../../src/index.ts";
import { call, calledBy, decision, empty, policy, request, withRow } from "./calls.ts";

const NONE = { maxAmounts: null, approveAbove: null };
const ABOVE = { ...NONE, approveAbove: { EUR: "100" }, since: 0 };

/** Decisions in the order of their sequence. */
const said = (...all: ReadonlyArray<Partial<NewDecision>>): ReadonlyArray<Decision> =>
  all.map((one, index) => ({ ...decision({ step: null, ...one }), sequence: index + 1, at: 0 }));

const started = (value: NewDecision["value"] = {}, by = "Alice", workflowId = "w") =>
  ({ kind: "start", by, value: { firstRunId: "run", ...value }, workflowId }) as const;
const approved = (by: string, value: NewDecision["value"] = {}) =>
  ({
    kind: "approve",
    step: "s",
    by,
    value: { generation: 1, terms: "A", account: null, ...value },
  }) as const;

/** The action after a call: needs it a person, or is it sent? */
const effectOf = (look: Partial<Look>, change: Partial<Call> = {}) =>
  advance({ ...empty, ...look }, calledBy(change), policy).action;
const asks = (look: Partial<Look>, change: Partial<Call> = {}) => effectOf(look, change).is;

describe("limits of an account", () => {
  const one = (limits: Limits, by = "Alice") => ({ kind: "limits", by, value: limits }) as const;
  const EUR = (amount: string): Limits => ({ ...NONE, maxAmounts: { EUR: amount } });
  const of = (...all: ReadonlyArray<Partial<NewDecision>>) => limitsOf(said(...all));

  test("a first or tighter value applies at once, a looser one when another person has approved it", () => {
    const looser = { kind: "approve", value: { sequence: 2 } } as const;
    expect(of(one(EUR("10")))).toEqual({ ...EUR("10"), since: 1 });
    expect(of(one(EUR("10")), one(EUR("9.99")))).toEqual({ ...EUR("9.99"), since: 2 });
    const waiting = { ...EUR("10"), since: 1, pending: { ...EUR("11"), by: "Alice", sequence: 2 } };
    expect(of(one(EUR("10")), one(EUR("11")))).toMatchObject(waiting);
    expect(of(one(EUR("10")), one(EUR("11")), { ...looser, by: "ALICE" })).toMatchObject(waiting);
    const both = of(one(EUR("10")), one(EUR("11")), { ...looser, by: "Bob" });
    expect(both).toEqual({ ...EUR("11"), since: 3 });
  });

  test.each([
    ["no limit", EUR("10"), NONE],
    ["one more currency", EUR("10"), { ...NONE, maxAmounts: { EUR: "10", USD: "1" } }],
    ["a higher threshold", ABOVE, { ...NONE, approveAbove: { EUR: "100.01" } }],
    ["no threshold", ABOVE, NONE],
    ["a tighter part with a looser one", EUR("10"), { maxAmounts: null, approveAbove: {} }],
    ["not a number", EUR("10"), EUR("many")],
  ])("%s is looser", (_, before, next) => {
    expect(of(one(before), one(next)).pending).toBeDefined();
  });

  test.each([
    ["the same", EUR("10"), EUR("10.00"), 1],
    ["a currency less", { ...NONE, maxAmounts: { EUR: "1", USD: "1" } }, EUR("1"), 2],
    ["a threshold where there was none", EUR("10"), { ...EUR("10"), approveAbove: {} }, 2],
  ])("%s is not looser", (_, before, next, since) => {
    const { pending, since: changed } = of(one(before), one(next));
    expect([pending, changed]).toEqual([undefined, since]);
  });

  test("whatever waits is replaced by the next value, and its approval is void", () => {
    const late = { kind: "approve", by: "Bob", value: { sequence: 2 } } as const;
    expect(of(one(EUR("10")), one(EUR("11")), one(EUR("5")), late)).toEqual({
      ...EUR("5"),
      since: 3,
    });
    expect(of(one(EUR("10")), one(EUR("11")), one(EUR("12")), late).maxAmounts).toEqual({
      EUR: "10",
    });
  });
});

test.each(["limits/a", "batch:B1"])("nothing is sent under %s, the id of a log", (id) => {
  const reserved = { name: { ...call.name, workflowId: id }, ownerId: id };
  expect(effectOf({}, reserved)).toMatchObject({ is: "fail", type: "Refused" });
  // Nor as a child of it, whose stop order it would be.
  expect(asks({}, { rootId: id })).toBe("fail");
  expect(asks({}, { rootId: `x/${id}` })).toBe("send");
});

describe("an approval is needed", () => {
  test.each<[string, Partial<Look>, Partial<Call>]>([
    ["above the limits of the account", { limits: ABOVE }, {}],
    ["above those of the worker", {}, { limits: ABOVE }],
    ["above the step's own", {}, { approveAbove: "249.99" }],
    ["above the option of its start", { decisions: said(started({ approveAbove: "1" })) }, {}],
    [
      "above the option of any start",
      { decisions: said(started({ approveAbove: "1" }), started()) },
      {},
    ],
    ["in a currency that no limit lists", { limits: { ...ABOVE, approveAbove: {} } }, {}],
    [
      "in such a currency, whatever an option says",
      { limits: { ...ABOVE, approveAbove: {} } },
      { approveAbove: "9999" },
    ],
    ["in such a currency of the worker", {}, { limits: { ...NONE, approveAbove: { USD: "9" } } }],
    ["by its file as a whole", { decisions: said(started({ needsApproval: true })) }, {}],
    ["once it was approved", { decisions: said(started(), approved("Bob", { terms: "B" })) }, {}],
    [
      "once its stop order was overridden",
      { decisions: said(started(), { kind: "overrule", by: "Bob" }) },
      {},
    ],
    [
      "then also without an amount",
      { decisions: said(started(), { kind: "overrule", by: "Bob" }) },
      { request: { ...request, amount: null, currency: null } },
    ],
  ])("%s", (_, look, change) => {
    expect(effectOf(look, change)).toMatchObject({ is: "person", needs: "approval" });
    const event = {
      who: "w",
      is: "dispatching",
      token: "1:x",
      call: { ...call, ...change },
    } as const;
    expect(advance({ ...empty, ...look }, event, policy).action.is).toBe("stop");
  });

  test.each<[string, Partial<Look>, Partial<Call>]>([
    [
      "up to a limit",
      { limits: { ...ABOVE, approveAbove: { EUR: "250" } } },
      { approveAbove: "250" },
    ],
    [
      "without an amount",
      { limits: ABOVE, decisions: said(started({ needsApproval: true })) },
      { request: { ...request, amount: null, currency: null } },
    ],
    [
      "by an approval of another step",
      { decisions: said(started(), { ...approved("Bob"), step: "t" }) },
      {},
    ],
  ])("not %s", (_, look, change) => {
    expect(asks(look, change)).toBe("send");
  });

  test("nothing is sent above the worker's own limits", () => {
    const limits = { ...NONE, maxAmounts: { EUR: "249.99" } };
    expect(effectOf({}, { limits })).toMatchObject({ is: "fail", details: { reason: "limit" } });
  });
});

describe("an approval counts", () => {
  const sent = (...all: ReadonlyArray<Partial<NewDecision>>) =>
    asks({ limits: ABOVE, decisions: said(...all) });

  test("for exactly the generation, the terms and the account", () => {
    expect(sent(started(), approved("Bob"))).toBe("send");
    for (const other of [{ generation: 2 }, { terms: "B" }, { account: "x" }])
      expect(sent(started(), approved("Bob", other))).toBe("person");
    // Of the account that pays, too.
    expect(sent(started(), { ...approved("Bob"), account: "other" })).toBe("person");
    const look = { limits: ABOVE, decisions: said(started(), approved("Bob", { account: "x" })) };
    expect(asks(look, { payee: { mark: "x", shown: "" } })).toBe("send");
    expect(asks(look, { payee: { mark: "y", shown: "" } })).toBe("person");
  });

  test.each(["Alice", " alice ", "Ａlice"])("not by %j, who started it", (by) => {
    expect(sent(started(), approved(by))).toBe("person");
  });

  test.each(["amend", "overrule", "resend"] as const)("not by who has said %s", (kind) => {
    const own = { kind, by: "bob", step: kind === "resend" ? "s" : null };
    expect(sent(started(), own, approved("Bob"))).toBe("person");
    expect(sent(started(), own, approved("Carol"))).toBe("send");
  });

  test("not if the id was started again after it, as by another file with the row of a cancelled one", () => {
    expect(sent(started(), approved("Bob"), started({ content: "again" }))).toBe("person");
    expect(sent(started(), started({}, "Carol", "root"), approved("Bob"))).toBe("send");
  });

  test("not by any of several starters, also of the owner and the root", () => {
    const decisions = said(
      started({}, "Alice", "payout/K"),
      started({}, "Carol"),
      started({}, "Dan", "root"),
      { ...approved("Bob"), workflowId: "payout/K" },
    );
    const keyed = { name: { ...call.name, workflowId: "payout/K" }, rootId: "root" };
    const look = (by: string) => ({
      // What nothing vouches for is reconciled first: here it was.
      ...withRow({ workflowId: "payout/K", state: "ready", doubt: 0, question: null }),
      decisions: decisions.map((one) => (one.kind === "approve" ? { ...one, by } : one)),
    });
    const testimony = { is: "version", version: 1 } as const;
    const of = (by: string) =>
      advance({ ...empty, ...look(by), limits: ABOVE }, calledBy({ ...keyed, testimony }), policy)
        .action.is;
    expect(["Alice", "Carol", "Dan", "Bob"].map(of)).toEqual([
      "person",
      "person",
      "person",
      "send",
    ]);
  });

  const root = { id: "root", firstRunId: "run" };
  const retried = (from: string, firstRunId: string) =>
    ({ kind: "retry", by: "Carol", value: { from, firstRunId } }) as const;

  test("only if the start of the root was recorded, as Temporal says the root", () => {
    const look = (by: string) => ({
      limits: ABOVE,
      decisions: said(started(), started({}, "Dan", "root"), approved(by)),
    });
    expect(asks(look("Bob"), { rootId: "root", root })).toBe("send");
    expect(asks(look("Alice"), { rootId: "root", root })).toBe("person");
    expect(asks(look("Bob"), { rootId: "root", root: undefined })).toBe("person");
    const ofChild = { limits: ABOVE, decisions: said(started(), approved("Bob")) };
    expect(asks(ofChild, { rootId: "root", root })).toBe("person");
  });

  test.each<[string, "person" | "send", ReadonlyArray<Partial<NewDecision>>]>([
    ["no start", "person", []],
    ["a start of another run", "person", [started({ firstRunId: "other" })]],
    ["one of two starts", "send", [started({ firstRunId: "other" }), started()]],
    ["a retried start", "send", [started({ firstRunId: "other" }), retried("other", "run")]],
    [
      "a start retried twice",
      "send",
      [started({ firstRunId: "a" }), retried("a", "b"), retried("b", "run")],
    ],
    [
      "a retry of what nobody started",
      "person",
      [started({ firstRunId: "a" }), retried("b", "run")],
    ],
    ["a retry alone", "person", [retried("other", "run")]],
    ["a retry that made another run", "person", [started({ firstRunId: "a" }), retried("a", "b")]],
  ])("only for the run that asks: %s → %s", (_, action, starts) => {
    const decisions = said(...starts, approved("Bob"));
    expect(asks({ limits: ABOVE, decisions })).toBe(action);
    const why = /no start of this run of w: start it again .* cancel it/;
    expect(why.test(whyNobody(call.root, call.name, decisions) ?? "")).toBe(action === "person");
  });

  test("a question has the root of the run, and is asked anew by another run", () => {
    const asked = effectOf({ limits: ABOVE });
    const question = asked.is === "person" ? asked.question : null;
    const look = { ...withRow({ state: "ready", question }), limits: ABOVE };
    const testimony = { is: "version", version: 1 } as const;
    const again = (firstRunId: string) =>
      advance(look, calledBy({ testimony, root: { id: "w", firstRunId } }), policy).action;
    expect(again("run")).toMatchObject({ question: { id: question?.id, root: call.root } });
    expect(again("other")).toMatchObject({ question: { root: { firstRunId: "other" } } });
  });

  test("only after the last change of the limits", () => {
    const decisions = said(started(), approved("Bob"));
    expect(asks({ limits: { ...ABOVE, since: 1 }, decisions })).toBe("send");
    expect(asks({ limits: { ...ABOVE, since: 2 }, decisions })).toBe("person");
  });

  test("only until a question of another kind voids it", () => {
    const row = { state: "ready", question: null, decisionsAfter: 2 } as const;
    const look = { ...withRow(row), limits: ABOVE, decisions: said(started(), approved("Bob")) };
    const testimony = { is: "version", version: 1 } as const;
    expect(advance(look, calledBy({ testimony }), policy).action.is).toBe("person");
  });
});

describe("the row of a file", () => {
  const terms = { terms: "A", payee: "mark-1", file: { batch: "B", row: 1, name: "may.csv" } };
  const paid = { request: { ...request, payee: "mark-1" } };
  const created = [{ id: "b-1", mark: "mark-1" }];
  const filed = { filed: ["started"], decisions: said(started(terms)) } as const;

  test("sends what its start says, to its payee or to the beneficiary that was created for it", () => {
    expect(asks(filed, paid)).toBe("send");
    expect(asks({ ...filed, created }, { request: { ...request, payee: "b-1" } })).toBe("send");
  });

  test.each<[string, Partial<Call["request"]>]>([
    ["other terms", { terms: "B" }],
    ["another payee", { payee: "b-2" }],
    ["no payee", { payee: null }],
  ])("sends nothing with %s, unless it is amended", (_, change) => {
    const other = { request: { ...paid.request, ...change } };
    const refused = { is: "fail", details: { reason: "amend" } };
    expect(effectOf({ ...filed, created }, other)).toMatchObject(refused);
    const { payee, terms: amendedTo } = other.request;
    const value = { terms: amendedTo, ...(payee !== null && { payee }) };
    const amended = said(started(terms), { kind: "amend", by: "Bob", value });
    expect(asks({ ...filed, created, decisions: amended }, other)).toBe("send");
    // An amendment of the workflow that asks for its key does not amend the row, nor one to another request.
    const others = [{ value, workflowId: "v" }, { value: { ...value, terms: "C" } }, {}];
    for (const one of others) {
      const decisions = said(started(terms), { kind: "amend", by: "Bob", ...one });
      expect(effectOf({ ...filed, created, decisions }, other)).toMatchObject(refused);
    }
  });

  test("sends nothing of a rejected file once its key was started with another payment", () => {
    const decisions = said(started(terms), started({ ...terms, terms: "B" }));
    const other = { request: { ...paid.request, terms: "B" } };
    expect(asks({ ...filed, decisions }, other)).toBe("send");
    expect(asks({ ...filed, decisions }, paid)).toBe("fail");
  });

  test("is refused until its file has started it, and waits for that if it may have been sent", () => {
    const resend = said({ kind: "resend", question: "q" });
    const question = {
      id: "q",
      kind: "outcome",
      reason: "",
      candidates: [],
      account: null,
    } as const;
    // The ledger was lost: the run was open when its file was uploaded again.
    const row = { state: "asking", doubt: 1, question: { ...question, since: 0 } } as const;
    const asked = (state: "waiting" | "rejected" | "started") =>
      asks({ ...withRow(row), decisions: resend, filed: [state] }, { reread: 1 });
    expect(asks({ filed: ["waiting"] })).toBe("fail");
    expect([asked("waiting"), asked("rejected"), asked("started")]).toEqual([
      "wait",
      "fail",
      "send",
    ]);
  });

  test("is not refused for a payee that a restored ledger has forgotten", () => {
    const forgotten = { request: { ...request, payee: "b-1" } };
    expect(effectOf(filed, forgotten)).toMatchObject({ is: "fail", type: "Refused" });
    expect(effectOf({ ...filed, recoveredAt: 1 }, forgotten)).not.toMatchObject({ is: "fail" });
  });

  test("sends nothing before its turn, or after it was rejected", () => {
    const sent = (["waiting", "rejected", "covered", "started"] as const).map((state) =>
      asks({ ...filed, filed: [state] }, paid),
    );
    expect(sent).toEqual(["fail", "fail", "fail", "send"]);
    // Nor is a payee created under its id.
    const payee = { request: { ...request, amount: null, currency: null } };
    expect(asks({ ...filed, filed: ["waiting"] }, payee)).toBe("fail");
  });
});

test("another request of a key names the workflow that made it", () => {
  const done = { state: "done", madeId: "P-1" } as const;
  const keyed = { workflowId: "payout/salary/e17", ownerId: "salaries-november" };
  const look = withRow({ ...done, ...keyed });
  const other = calledBy({ request: { ...request, hash: "B" }, ownerId: "salaries-december" });
  expect(advance(look, other, policy).action).toMatchObject({
    type: "AlreadyCarriedOut",
    message:
      "Nothing was sent. Another createPayout of the key salary/e17 has succeeded: P-1, made by salaries-november. If it was for the same, there is nothing to do. Otherwise use another key, and pay only the difference.",
  });
  expect(advance(look, calledBy({ ownerId: "v" }), policy).action).toMatchObject({ id: "P-1" });
});

test("of a key, nothing vouches that no other workflow has used it", () => {
  const keyed = { name: { ...call.name, workflowId: "payout/K" } };
  expect(asks({}, { ...keyed, ownerId: "payout/K" })).toBe("send");
  const { action, row } = advance(empty, calledBy(keyed), policy);
  expect([action.is, row?.state, row?.ownerId]).toEqual(["again", "unknown", "w"]);
});
