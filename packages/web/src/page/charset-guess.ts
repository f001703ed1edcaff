import { TextDecoder } from "@exodus/bytes/encoding.js";

// The characters that running text is full of. A wrong decoding of the same bytes yields rare ones.
const simplified =
  "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运网站页版用户您请";
const traditional =
  "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作里裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運網站頁版戶您請臺灣";
const korean =
  "이가은는을를에의다고하지어로서기사대니한인도있그나시수해자라일리정제전들과부보여것주성장아상면적만조스원구안데우오국년월와으며까요습합입게세신위용분생경방문공무소동후";
const cyrillic = "оеаинтсрвлкмдпуяыьгзбчйхжшю";

interface Candidate {
  charset: string;
  /** Worth of a character: 1 where it belongs to running text of the language, below 0 where it does not. */
  worth(char: string): number;
  languages: readonly string[];
  domains: readonly string[];
}

const han = /\p{Script=Han}/u;
const punctuation = /[、。，！？；：「」『』（）《》“”‘’…—·]/u;

function chinese(common: string): (char: string) => number {
  const set = new Set(common);
  return (char) => (set.has(char) ? 1 : punctuation.test(char) ? 0.6 : han.test(char) ? 0.15 : -1);
}

function japanese(char: string): number {
  if (/[\u3041-\u3096]/u.test(char)) return 1;
  if (/[\u30a1-\u30fc]/u.test(char)) return 0.8;
  // Halfwidth kana come out of nearly any bytes.
  if (/[\uff61-\uff9f]/u.test(char)) return -0.6;
  return punctuation.test(char) ? 0.6 : han.test(char) ? 0.25 : -1;
}

function hangul(char: string): number {
  if (koreanSet.has(char)) return 1;
  return /[\uac00-\ud7a3]/u.test(char) ? 0.35 : punctuation.test(char) ? 0.3 : han.test(char) ? 0 : -1;
}
const koreanSet = new Set(korean);

const cyrillicSet = new Set(cyrillic);
function russian(char: string): number {
  if (cyrillicSet.has(char)) return 0.9;
  if (/[а-яё]/u.test(char)) return 0.5;
  // The two single-byte sets swap the cases of each other.
  return /[А-ЯЁ]/u.test(char) ? 0 : /[«»—–№“”]/u.test(char) ? 0.3 : -1;
}

const candidates: readonly Candidate[] = [
  { charset: "gb18030", worth: chinese(simplified), languages: ["zh", "zh-cn", "zh-hans"], domains: ["cn"] },
  {
    charset: "big5",
    worth: chinese(traditional),
    languages: ["zh", "zh-tw", "zh-hk", "zh-hant"],
    domains: ["tw", "hk"],
  },
  { charset: "shift_jis", worth: japanese, languages: ["ja"], domains: ["jp"] },
  { charset: "euc-jp", worth: japanese, languages: ["ja"], domains: ["jp"] },
  { charset: "euc-kr", worth: hangul, languages: ["ko"], domains: ["kr"] },
  {
    charset: "windows-1251",
    worth: russian,
    languages: ["ru", "uk", "bg", "be", "sr"],
    domains: ["ru", "ua", "bg", "by"],
  },
  { charset: "koi8-r", worth: russian, languages: ["ru"], domains: ["ru", "su"] },
];

/** The encoding that unlabelled bytes are most likely in, or undefined where windows-1252 is as good. */
export function guessCharset(bytes: Uint8Array, url: string | undefined): string | undefined {
  const ascii = latin1(bytes.subarray(0, 4_096));
  if (/\x1b\$[@B]|\x1b\(J/.test(latin1(bytes))) return "iso-2022-jp";
  const language = /<html[^>]*\slang\s*=\s*["']?([a-z-]+)/i.exec(ascii)?.[1]?.toLowerCase() ?? "";
  const domain = url !== undefined && URL.canParse(url) ? (new URL(url).hostname.split(".").pop() ?? "") : "";
  let best: { charset: string; score: number } | undefined;
  for (const { charset, worth, languages, domains } of candidates) {
    // The sample may end in half a character: streaming keeps it back.
    const text = new TextDecoder(charset).decode(bytes, { stream: true });
    let sum = 0;
    let count = 0;
    for (const char of text) {
      if (char < "\u0080") continue;
      count += 1;
      sum += char === "\ufffd" ? -4 : worth(char);
    }
    if (count < 4) continue;
    const hint =
      (languages.includes(language) || languages.includes(language.split("-")[0] ?? "") ? 0.12 : 0) +
      (domains.includes(domain) ? 0.12 : 0);
    const score = sum / count + hint;
    if (!best || score > best.score) best = { charset, score };
  }
  return best && best.score >= 0.3 ? best.charset : undefined;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
