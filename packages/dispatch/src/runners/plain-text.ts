import type { AgentProtocol } from "./protocol.ts";

/** Programs without a protocol: all they print is the answer. */
export const plainText: AgentProtocol = (_request, report) => {
  const lines: string[] = [];
  return {
    line(line) {
      lines.push(line);
      report.text(`${line}\n`);
      return true;
    },
    end() {
      report.answer(lines.join("\n"));
    },
  };
};
