import type { Asker, Decision } from "@toolhaft/core";
import type { Question, QuestionAnswer } from "./types.ts";

type Asked = Parameters<Asker>[0];

const once = "allow once";
const session = "allow for this session";
const deny = "deny";

/** The form a person sees: tool, permission, the real resource, and why. */
export function questionFor(asked: Asked, remembers = true): Question {
  const lines = [`${asked.tool} asks for ${asked.permission}:`, ...asked.resources.map((resource) => `  ${resource}`)];
  if (asked.reason !== "") lines.push(`Reason: ${asked.reason}`);
  const answers = asked.fresh !== true && remembers ? [once, session, deny] : [once, deny];
  return {
    message: lines.join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        decision: { type: "string", title: "Decision", enum: answers },
        feedback: {
          type: "string",
          title: "Feedback",
          description: "What the model should do instead; used with a no.",
        },
      },
      required: ["decision"],
    },
  };
}

/** Reads an answer that came over the wire. Whatever is not a clear yes is a no. */
export function decisionFrom(answer: QuestionAnswer | undefined, question: Question): Decision {
  const content = answer?.content ?? {};
  const offered = question.requestedSchema.properties.decision.enum;
  if (answer?.action === "accept" && typeof content.decision === "string" && offered.includes(content.decision)) {
    if (content.decision === once) return { allow: true };
    if (content.decision === session) return { allow: true, remember: "session" };
  }
  const feedback = typeof content.feedback === "string" ? content.feedback.trim().slice(0, 2_000) : "";
  return feedback === "" ? { allow: false } : { allow: false, feedback };
}
