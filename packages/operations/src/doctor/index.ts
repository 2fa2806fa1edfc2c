export type { Check } from "./check.ts";
export { diagnose, type Diagnosis, type DoctorSettings } from "./doctor.ts";
export { fixNamespace, type NamespaceFix, planFix } from "./doctor.ts";
export { testWebhook } from "./doctor.ts";
