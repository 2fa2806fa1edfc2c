export { testNotification } from "./test-notification.ts";
