/** Runs checks two at a time, says how each ended, and gives the counts. Each gives its problem, `{ skipped }`, or nothing. */
export async function runQueue(checks) {
  const queue = [...checks];
  const summary = { passed: 0, failed: [], skipped: [] };
  await Promise.all([drain(queue, summary), drain(queue, summary)]);
  return summary;
}

async function drain(queue, summary) {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const start = Date.now();
    const given = await check.work().catch((error) => String(error?.stack ?? error));
    const seconds = ((Date.now() - start) / 1_000).toFixed(1);
    if (given?.skipped !== undefined) {
      console.log(`SKIPPED ${check.name}: ${given.skipped}`);
      summary.skipped.push(`${check.name}: ${given.skipped}`);
      continue;
    }
    console.log(`${given === undefined ? "ok    " : "FAILED"} ${check.name} (${seconds} s)`);
    if (given === undefined) summary.passed++;
    else {
      console.log(given);
      summary.failed.push(check.name);
    }
  }
}
