// Counts for the last line of `npm test`: every test by state, the skipped ones with their reason.
import { writeFileSync } from "node:fs";

export default class CountingReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: [], skipped: [], slow: [] };
    for (const module of modules) {
      const file = module.moduleId;
      for (const error of module.errors()) summary.failed.push(`${file}: ${firstLine(error)}`);
      for (const test of module.children.allTests()) {
        const { state, note, errors } = test.result();
        const name = `${module.project.name} > ${test.fullName}`;
        if (state === "passed") summary.passed++;
        else if (state === "failed") summary.failed.push(`${name}: ${firstLine(errors?.[0])}`);
        else summary.skipped.push(`${name}${note ? `: ${note}` : ""}`);
      }
      // A suite's own error (a hook that threw) belongs to no test and must not be lost.
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors())
          summary.failed.push(`${module.project.name} > ${suite.fullName}: ${firstLine(error)}`);
      }
    }
    for (const error of unhandledErrors) summary.failed.push(`outside any test: ${firstLine(error)}`);
    writeFileSync(process.env.TOOLHAFT_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function firstLine(error) {
  return String(error?.message ?? error ?? "no message").split("\n", 1)[0];
}
