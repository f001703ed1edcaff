import { expect, it } from "vitest";
import { openDesk } from "./desk.ts";

it("runs in the foreground and in the background", async () => {
  const desk = await openDesk();
  const result = await desk.call("dispatch", { subagent: "echo", prompt: "hello", run_in_background: false });
  const id = await desk.launch("echo");
  expect(await desk.until(id, "completed")).toMatchObject({});
  console.log((await desk.call("dispatch_output", { task_id: id })).text);
  console.log((await desk.call("dispatch_status", {})).text);
  console.log((await desk.call("dispatch_inbox", {})).text);
  console.log((await desk.call("dispatch_metrics", {})).text);
  console.log((await desk.call("agent_list", {})).text);
  const h = await desk.launch("hang");
  await desk.until(h, "running");
  console.log((await desk.call("dispatch_cancel", { task_id: h })).text);
  await desk.until(h, "cancelled");
  console.log((await desk.call("dispatch_status", { task_id: h })).text);
});
