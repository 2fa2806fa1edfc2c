export type { Check } from "./check.ts";
export { diagnose, type Diagnosis } from "./doctor.ts";
export {
  type AccountToCheck,
  checkLag,
  describeEcho,
  type DoctorSettings,
} from "./journal-checks.ts";
export { fixNamespace, type NamespaceFix, planFix } from "./fix.ts";
