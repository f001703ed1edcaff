import { afterAll, describe, expect, test } from "vitest";
import { createPageReader } from "../../src/page/reader.ts";

const html = (text: string) =>
  [new TextEncoder().encode(text), { url: "https://ex.com/", contentType: "text/html" }] as const;
const reader = createPageReader();
afterAll(() => reader.close());

/** Text, or the one refusal that is allowed; anything else fails. */
async function endsWell(text: string): Promise<void> {
  const outcome = await reader.read(...html(text)).then(
    (page) => typeof page.content,
    (error: { code?: string }) => error.code,
  );
  expect(["string", "too_large"]).toContain(outcome);
}

describe("hostile pages end within their limits", () => {
  test.each([2_000, 20_000])("deep-1: %i nested elements", (count) => endsWell(`${"<div>".repeat(count)}<p>hello`));
  test("deep-2: unclosed inline elements", () => endsWell("<a><b><i>x".repeat(1_500)));
  test("deep-3: a table of 20,000 rows", () => endsWell(`<table>${"<tr><td>a<td>b".repeat(20_000)}</table>`));
  test("100,000 attributes", () =>
    endsWell(`<div ${Array.from({ length: 100_000 }, (_, index) => `a${index}=1`).join(" ")}>hi</div>`));
  test("nested lists", () => endsWell("<ul><li>".repeat(20_000)));

  test("a worker that was stopped is followed by another", async () => {
    const strict = createPageReader({ limitMs: 1 });
    await expect(strict.read(...html("<ul><li>".repeat(20_000)))).rejects.toMatchObject({
      code: "too_large",
      hint: 'format: "raw"',
    });
    await strict.close();
    expect((await reader.read(...html("<p>alive"))).content).toBe("alive");
  });

  test("a signal ends the work", async () => {
    const controller = new AbortController();
    const reading = reader.read(html("<ul><li>".repeat(20_000))[0], {
      url: "https://ex.com/",
      contentType: "text/html",
      signal: controller.signal,
    });
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: "cancelled" });
    expect((await reader.read(...html("<p>alive"))).content).toBe("alive");
  });

  test("a closed reader refuses", async () => {
    const other = createPageReader({ worker: false });
    expect((await other.read(...html("<p>inline"))).content).toBe("inline");
    const closed = createPageReader();
    await closed.close();
    await expect(closed.read(...html("<p>x"))).rejects.toMatchObject({ code: "unavailable" });
  });
});
