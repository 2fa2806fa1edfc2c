// Rules of oxlint for what crosses Temporal, which the compiler cannot see: a workflow, a signal or an activity named by a
// text takes any values, in any order. See packages/protocol/src/workflows.ts.

const STARTS = new Set([
  "start",
  "execute",
  "signalWithStart",
  "startUpdateWithStart",
  "executeUpdateWithStart",
]);
const MESSAGES = new Set(["signal", "query", "startUpdate", "executeUpdate"]);
const ACTIVITIES = new Set(["proxyActivities", "proxyLocalActivities"]);
const CHILDREN = new Set(["startChild", "executeChild"]);
const OPEN = new Set(["RUNNING", "PAUSED", "CONTINUED_AS_NEW"]);

const nameOf = (node) =>
  node?.type === "Identifier"
    ? node.name
    : node?.type === "MemberExpression"
      ? nameOf(node.property)
      : undefined;

const isText = (node) =>
  node?.type === "TemplateLiteral" ||
  (node?.type === "Literal" && typeof node.value === "string") ||
  (node?.type === "MemberExpression" && nameOf(node) === "name");

/** Types that say nothing. */
const isUntyped = ({ typeArguments }) =>
  !typeArguments || nameOf(typeArguments.params[0]?.typeName) === "Workflow";

/** A workflow client is called so; a handle is made by `getHandle`, or is a variable of that name. */
const isClient = (node) => nameOf(node) === "workflow";
const isHandle = (node) =>
  /handle$|^run$/i.test(nameOf(node?.type === "CallExpression" ? node.callee : node) ?? "");

const problemOf = (call) => {
  const { arguments: given, callee } = call;
  const name = nameOf(callee);
  if (callee.type === "MemberExpression") {
    if (STARTS.has(name) && isClient(callee.object) && isUntyped(call))
      return `Start it by its type: workflow.${name}<Workflows["payout"]>(…), or <typeof ownWorkflow>.`;
    if (MESSAGES.has(name) && isHandle(callee.object) && isText(given[0]))
      return "Send it by its definition, such as nudgeSignal: a text takes any arguments.";
    return undefined;
  }
  if (name === "startPayment" && isText(given[1]) && isUntyped(call))
    return "Start it by its type: startPayment<typeof ownWorkflow>(…).";
  if (ACTIVITIES.has(name) && isUntyped(call))
    return `Call them by their type: ${name}<PaymentsActivities>(…).`;
  return CHILDREN.has(name) && given.length === 2 && isText(given[0]) && isUntyped(call)
    ? `Start it by its function or its type: ${name}<typeof child>(…).`
    : undefined;
};

const isStatus = (node) =>
  node?.type === "MemberExpression" && nameOf(node) === "name" && nameOf(node.object) === "status";

const ONE_HOME =
  "Whether a run is open is decided by isOpenStatus and OPEN_RUNS of @durable-payments/protocol.";

export default {
  meta: { name: "typed-temporal" },
  rules: {
    calls: {
      create: (context) => ({
        CallExpression: (node) => {
          const message = problemOf(node);
          if (message !== undefined) context.report({ node, message });
        },
      }),
    },
    "open-runs": {
      create: (context) => {
        const report = (node) => context.report({ node, message: ONE_HOME });
        return {
          BinaryExpression: (node) => {
            const { left, right } = node;
            if (isStatus(left) && OPEN.has(right.value)) report(node);
          },
          CallExpression: (node) => {
            const { arguments: given, callee } = node;
            if (nameOf(callee) === "includes" && isStatus(given[0])) report(node);
          },
          Literal: (node) => {
            if (/ExecutionStatus (?:=|IN) \(?["']Running/.test(node.value)) report(node);
          },
          TemplateElement: (node) => {
            if (/ExecutionStatus (?:=|IN) \(?["']Running/.test(node.value.raw)) report(node);
          },
        };
      },
    },
  },
};
