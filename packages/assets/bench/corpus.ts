import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seeded } from "../test/corpus.ts";

const syllables =
  "ba de fi lo mu na pe qui ro sa ti vo xe zu bra cle dri flo gra ple sto tra wen bor cal dem fin gor hal jan kel lam mor nor pol rus sel tor val".split(
    " ",
  );
const common =
  "the a of to in is for and with on when each file run use set this that from it be not are by as or".split(" ");
const letters = [
  ..."部署检查数据库连接池表单发票浏览器缓存索引策略构建测试报告图表布局主题渲染解析队列重试备份恢复监控接口请求响应错误日志权限用户密钥网络内存线程进程文件目录路径版本发布分支合并提交代码审查文档说明步骤注意运行启动停止配置参数默认值类型函数变量对象数组字符串数字时间日期",
];

/** Words of a language that nobody speaks, the most frequent first; the same for the same seed. */
const vocabulary: readonly string[] = makeVocabulary(8_000);

function makeVocabulary(count: number): string[] {
  const random = seeded(3);
  const made = new Set(common);
  while (made.size < count) {
    const length = 2 + Math.floor(random() * 3);
    made.add(Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join(""));
  }
  return [...made];
}

/** Writes skills with five references each, 8 % of the texts in Chinese; the same for the same seed. */
export function writeBenchCorpus(root: string, skills: number, bytes: number): void {
  const random = seeded(7);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? "";
  // Frequency falls with rank as in any language (Zipf).
  const word = (): string => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? "the";
  const rare = (): string => vocabulary[30 + Math.floor(random() * 2_000)] ?? "the";
  const names = Array.from({ length: 3_000 }, (_, n) =>
    n % 3 === 0 ? `${rare()}-${rare()}` : rare() + rare().replace(/^./, (letter) => letter.toUpperCase()),
  );
  const token = (): string => {
    const kind = random();
    if (kind < 0.03) return `\`${pick(names)}\``;
    return kind < 0.04 ? String(Math.floor(random() * 1_000)) : word();
  };
  const sentence = (): string => {
    const made = Array.from({ length: 8 + Math.floor(random() * 8) }, token).join(" ");
    return `${made.charAt(0).toUpperCase()}${made.slice(1)}.`;
  };
  const text = (size: number): string => {
    const dense = random() < 0.08;
    let made = "";
    for (let line = 0; made.length < size; line++) {
      if (dense) made += `${Array.from({ length: 20 }, () => pick(letters)).join("")}。\n`;
      else made += line % 15 === 14 ? `\n## ${rare()} ${rare()}\n\n` : `${sentence()}\n`;
    }
    return made;
  };
  for (let i = 0; i < skills; i++) {
    const folder = join(root, `${rare()}-${i}`);
    mkdirSync(join(folder, "references"), { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${folder.slice(folder.lastIndexOf("/") + 1)}\ndescription: ${sentence()}\n---\n# ${rare()}\n\n${text(bytes)}`,
    );
    for (let n = 0; n < 5; n++)
      writeFileSync(join(folder, "references", `part-${n}.md`), `# ${rare()} ${rare()}\n\n${text(bytes)}`);
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

/** Two words each, such as somebody would look for: neither the most frequent nor the rarest. */
export function queriesOf(count: number): string[] {
  const random = seeded(11);
  const word = (): string => vocabulary[100 + Math.floor(random() * 1_900)] ?? "the";
  return Array.from({ length: count }, () => `${word()} ${word()}`);
}
