import { recordSession } from "@toolhaft/session";
import { defineStep } from "../tour.ts";

export default defineStep({
  title: "Record the tour as a session, then find and read it",
  needs: ["session_list", "session_search", "session_read"],
  async run(tour) {
    await using session = await recordSession({ directory: tour.directory, title: "The tour of this repository" });
    await session.append([
      { id: "m1", role: "user", parts: [{ kind: "text", text: "Show me what these tools do" }] },
      {
        id: "m2",
        role: "assistant",
        parts: [{ kind: "text", text: "Edited two files by their anchors and took one move back." }],
      },
    ]);
    await session.flush();
    const list = await tour.call("session_list", {});
    tour.check(list.text.includes(session.id), "the list does not show the session");
    const found = await tour.call("session_search", { query: "anchors" });
    tour.check(found.text.includes("**anchors**"), "the search does not find the answer");
    const read = await tour.call("session_read", { session_id: session.id });
    tour.check(read.text.includes("[#1] assistant"), "the transcript does not show the answer");
  },
});
