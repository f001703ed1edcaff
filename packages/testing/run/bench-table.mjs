// How reports of `pnpm bench` look: free tables first, then the rows with ratio, target and verdict.

export function formatReport(family, reports) {
  const blocks = [`## ${family}`];
  for (const { title, columns, rows } of reports.flatMap(({ tables }) => tables)) {
    blocks.push(
      `${title}\n${table(
        columns,
        rows.map((row) => row.map(cell)),
      )}`,
    );
  }
  for (const note of reports.flatMap(({ notes }) => notes)) blocks.push(note);
  const rows = reports.flatMap(({ rows }) => rows);
  if (rows.length > 0) {
    const head = ["row", "ours", "baseline", "peer", "ratio", "target", "ok"];
    blocks.push(table(head, rows.map(line)));
  }
  for (const { name, reason } of reports.flatMap(({ skipped }) => skipped)) blocks.push(`SKIPPED ${name}: ${reason}`);
  for (const { file, error } of reports) if (error !== undefined) blocks.push(`FAILED ${file}: ${error}`);
  return `${blocks.join("\n\n")}\n`;
}

function line({ name, ours, baseline, unit, timed, ratio, target, ok }) {
  const by = timed === undefined ? "" : timed.by === "cpu" ? " CPU" : " wall";
  const value = (number) => (unit === "ms" ? time(number) : `${cell(number)} ${unit}`);
  const verdict = target === undefined ? "" : ok ? "yes" : "NO";
  return [
    name + by,
    value(ours),
    value(baseline.value),
    baseline.name,
    ratio.toFixed(ratio < 0.1 ? 3 : 2),
    limit(target),
    verdict,
  ];
}

function limit(target) {
  if (target === undefined) return "";
  return [target.max === undefined ? "" : `<= ${target.max}`, target.min === undefined ? "" : `>= ${target.min}`]
    .filter(Boolean)
    .join(" ");
}

function time(ms) {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms >= 1) return `${ms.toFixed(2)} ms`;
  return ms >= 0.001 ? `${(ms * 1_000).toFixed(2)} µs` : `${(ms * 1e6).toFixed(0)} ns`;
}

function cell(value) {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/** A Markdown table whose columns line up, so that it reads in a terminal and in a README. */
function table(head, rows) {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => [...(cells[column] ?? "")].length)));
  const draw = (cells) =>
    `| ${widths.map((width, column) => (cells[column] ?? "") + " ".repeat(width - [...(cells[column] ?? "")].length)).join(" | ")} |`;
  return [draw(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(draw)].join("\n");
}
