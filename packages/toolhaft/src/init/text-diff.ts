/** What changed, as `-` and `+` lines with three lines around; one change in one place is all that is made here. */
export function diffOf(before: string, after: string, file: string): string {
  const old = before === "" ? [] : before.split("\n");
  const now = after.split("\n");
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail++;
  const from = Math.max(0, head - 3);
  const until = now.length - tail;
  const lines = [
    `--- ${before === "" ? "/dev/null" : file}`,
    `+++ ${file}`,
    `@@ -${from + 1},${old.length - tail - from} +${from + 1},${until - from} @@`,
    ...now.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, until).map((line) => `+${line}`),
    ...now.slice(until, until + 3).map((line) => ` ${line}`),
  ];
  return `${lines.map((line) => line.replace(/\r$/, "").trimEnd()).join("\n")}\n`;
}
