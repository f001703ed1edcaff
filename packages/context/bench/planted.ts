/** One topic with the sentence that answers it and a word of that sentence by which it is recognised. */
export interface Planted {
  topic: string;
  answer: string;
  sentence: string;
}

export interface Text {
  ref: string;
  title: string;
  text: string;
}

export interface Corpus {
  planted: Planted[];
  texts: Text[];
}

/** A generator that gives the same numbers in each run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const things =
  "gateway scheduler ledger mailer indexer crawler billing search login export import backup cache queue proxy".split(
    " ",
  );
const facts = "port region owner password-rotation timeout retry-limit bucket branch license schema".split(" ");
const 事物 = "网关 调度器 账本 邮件服务 索引器 爬虫 计费 搜索 登录 导出 导入 备份 缓存 队列 代理".split(" ");
const 属性 = "端口 区域 负责人 轮换周期 超时时间 重试上限 存储桶 分支 许可证 数据结构".split(" ");
const filler =
  "The team met on Tuesday and went through the open points of the week. Nothing was decided that would change the plan. ";
const 填充 = "团队在周二开会讨论了本周的未决事项，没有做出会改变计划的决定。";

/** 200 topics, half of them Chinese, each answered by one sentence in a long text, among 2,000 texts that only resemble. */
export function plantedCorpus(): Corpus {
  const random = seeded(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const planted: Planted[] = [];
  const texts: Text[] = [];
  const used = new Set<string>();
  while (planted.length < 200) {
    const chinese = planted.length % 2 === 1;
    const [thing, fact] = chinese ? [pick(事物), pick(属性)] : [pick(things), pick(facts)];
    const answer = `v${Math.floor(random() * 9_000 + 1_000)}x${planted.length}`;
    const key = `${thing} ${fact}`;
    if (used.has(key)) {
      if (used.size >= 290) break;
      continue;
    }
    used.add(key);
    const sentence = chinese
      ? `${thing}的${fact}已经改成${answer}。`
      : `The ${fact} of the ${thing} was changed to ${answer}. `;
    // Every other topic has its words as they are typed, apart; the rest stand in the text as they are.
    const asTyped = planted.length % 4 < 2;
    const joined = chinese ? `${thing}的${fact}` : `${fact} of the ${thing}`;
    const topic = asTyped ? `${thing} ${fact}` : joined;
    planted.push({ topic, answer, sentence });
    const before = Math.floor(random() * 12);
    const noise = chinese ? 填充 : filler;
    texts.push({
      ref: `answer-${planted.length}`,
      title: chinese ? "会议记录" : "Minutes",
      text: noise.repeat(before) + sentence + noise.repeat(8),
    });
  }
  while (texts.length < planted.length + 2_000) {
    const chinese = texts.length % 2 === 1;
    const thing = chinese ? pick(事物) : pick(things);
    const fact = chinese ? pick(属性) : pick(facts);
    const half = random() < 0.5 ? thing : fact;
    const noise = chinese ? 填充 : filler;
    const mention = chinese ? `有人问起${half}，没有答案。` : `Somebody asked about the ${half}, without an answer. `;
    texts.push({
      ref: `noise-${texts.length}`,
      title: chinese ? "聊天" : "Chat",
      text: noise.repeat(Math.floor(random() * 6)) + mention + noise.repeat(6),
    });
  }
  return { planted, texts };
}
