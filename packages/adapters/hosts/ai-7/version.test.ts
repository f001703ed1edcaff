import { generateText } from "ai";
import { expect, it } from "vitest";
import { usedGenerateText } from "../../test/hosts/ai-sdk.ts";

it("the loop that is written once runs on the version of this folder", () => {
  expect(usedGenerateText).toBe(generateText);
});
