import type { AuditEntry, EndingDecision } from "@durable-payments/protocol";

/** Who or what did what in a run, when, with which key and outcome. Entries are only ever added. */
export class AuditTrail {
  #entries: Array<AuditEntry> = [];

  get entries(): ReadonlyArray<AuditEntry> {
    return this.#entries;
  }

  /** Adds an entry, at the workflow's time. */
  add(entry: Omit<AuditEntry, "at">): void {
    this.#entries.push({ at: new Date().toISOString(), ...entry });
  }

  /** Adds decisions of people that ended runs before, and who overruled them. */
  addDecisions(step: string, decisions: ReadonlyArray<EndingDecision>): void {
    for (const { at, by: who, overruled, what, why, ...rest } of decisions) {
      const of = "workflowId" in rest ? { batch: rest.workflowId } : {};
      this.add({ who, step, what, detail: { at, why, ...of } });
      if (overruled === undefined) continue;
      const detail = { at: overruled.at, why: overruled.why, of: who };
      this.add({ who: overruled.by, step, what: `overruled: ${what}`, detail });
    }
  }
}
