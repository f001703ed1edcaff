import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seeded } from "../test/corpus.ts";

const words =
  "deploy review release database migration form invoice browser cache index policy secret token build lint test report chart layout theme render parse stream queue retry batch audit backup restore monitor alert trace profile schema query cluster module router session worker thread socket header footer button table column record binary socket vector matrix kernel driver filter sample signal window buffer shader pixel canvas camera".split(
    " ",
  );
const letters = [
  ..."部署检查数据库连接池表单发票浏览器缓存索引策略构建测试报告图表布局主题渲染解析队列重试备份恢复监控",
];

/** Writes skills with five references each, 8 % of the texts in Chinese; the same for the same seed. */
export function writeBenchCorpus(root: string, skills: number, bytes: number): void {
  const random = seeded(7);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? "";
  const text = (size: number): string => {
    const dense = random() < 0.08;
    let made = "";
    while (made.length < size) {
      if (dense) made += `${Array.from({ length: 20 }, () => pick(letters)).join("")}。\n`;
      else
        made += `${Array.from({ length: 11 }, () => (random() < 0.05 ? `${pick(words)}${Math.floor(random() * 5_000)}` : pick(words))).join(" ")}.\n`;
    }
    return made;
  };
  for (let i = 0; i < skills; i++) {
    const folder = join(root, `${pick(words)}-${i}`);
    mkdirSync(join(folder, "references"), { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${folder.slice(folder.lastIndexOf("/") + 1)}\ndescription: ${pick(words)} ${pick(words)} ${pick(words)}\n---\n# ${pick(words)}\n\n${text(bytes)}`,
    );
    for (let n = 0; n < 5; n++)
      writeFileSync(join(folder, "references", `part-${n}.md`), `# ${pick(words)} ${pick(words)}\n\n${text(bytes)}`);
  }
}

/** Reads all files, in the order of a plain walk. */
export function readAll(root: string): string[] {
  const texts: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else texts.push(readFileSync(path, "utf8"));
    }
  };
  visit(root);
  return texts;
}

/** Two words each that occur in the corpus. */
export function queriesOf(count: number): string[] {
  const random = seeded(11);
  return Array.from(
    { length: count },
    () =>
      `${words[Math.floor(random() * words.length)] ?? "cache"} ${words[Math.floor(random() * words.length)] ?? "index"}`,
  );
}
