/** A part of a text that looks like a secret; offsets in UTF-16 units. */
export interface SecretFinding {
  kind: string;
  start: number;
  end: number;
}

interface SecretRule {
  kind: string;
  /** The group `secret` is what is masked; without it the whole match. */
  pattern: RegExp;
}

/** Bounded quantifiers only: each rule is linear in the text. */
const rules: readonly SecretRule[] = [
  {
    kind: "private key",
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|$(?![\s\S]))/g,
  },
  { kind: "aws access key", pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g },
  { kind: "github token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b/g },
  { kind: "gitlab token", pattern: /\bgl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20,255}/g },
  { kind: "anthropic key", pattern: /\bsk-ant-[A-Za-z0-9_-]{20,255}/g },
  { kind: "openai key", pattern: /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}/g },
  { kind: "stripe key", pattern: /\b(?:sk|rk|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{16,255}\b/g },
  { kind: "slack token", pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { kind: "slack webhook", pattern: /https:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/_-]{20,200}/g },
  { kind: "google api key", pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { kind: "google oauth token", pattern: /\bya29\.[A-Za-z0-9_-]{20,2048}/g },
  { kind: "npm token", pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { kind: "pypi token", pattern: /\bpypi-[A-Za-z0-9_-]{50,512}/g },
  { kind: "hugging face token", pattern: /\bhf_[A-Za-z0-9]{30,100}\b/g },
  { kind: "sendgrid key", pattern: /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}/g },
  { kind: "telegram token", pattern: /\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b/g },
  { kind: "discord token", pattern: /\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}/g },
  { kind: "age key", pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/g },
  { kind: "json web token", pattern: /\beyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,4096}/g },
  {
    kind: "url password",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]{0,128}:(?<secret>[^\s/@"'<>]{1,256})@/dgi,
  },
  { kind: "bearer token", pattern: /\b(?:bearer|basic)\s{1,4}(?<secret>[A-Za-z0-9._~+/-]{16,4096}=*)/dgi },
  {
    kind: "password",
    // A bare value after "=" is one; after ":" only what is no plain word or number, for prose has colons, too.
    pattern:
      /(?:password|passwd|passphrase|pwd|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|credential)s?["'`]?\s{0,8}(?:=>|:=|[=:])\s{0,8}(?:"(?<secret>[^"\r\n]{8,512})"|'(?<single>[^'\r\n]{8,512})'|`(?<tick>[^`\r\n]{8,512})`|(?<bare>(?:(?<=[=>]\s{0,8})|(?=[^\s"'`,;<>(){}[\]]*[0-9])(?=[^\s"'`,;<>(){}[\]]*[A-Za-z_]))[^\s"'`,;<>(){}[\]]{8,512}))/dgi,
  },
];

/** Words that stand where a secret would, and hide nothing. */
const placeholder =
  /^(?:\[?secret: .*|\$\{?.*\}?|<.*>|\*+|x+|\.{3,}|process\.env\b.*|(?:your|my)[-_ ].*|undefined|null|required|redacted|placeholder)$/i;

/**
 * Private-key blocks, well-known token forms, URLs with a password, and `password|secret|token|api_key = …` with a
 * value of 8 or more characters. Sorted, without overlaps: where two rules meet, the one that starts first counts, and
 * of those the more specific.
 */
export function findSecrets(text: string): SecretFinding[] {
  const found: SecretFinding[] = [];
  for (const { kind, pattern } of rules) {
    for (const match of text.matchAll(pattern)) {
      const finding = locate(kind, match);
      if (finding !== undefined && !placeholder.test(text.slice(finding.start, finding.end))) found.push(finding);
    }
  }
  found.sort((a, b) => a.start - b.start);
  const result: SecretFinding[] = [];
  for (const finding of found) {
    const last = result.at(-1);
    if (last === undefined || finding.start >= last.end) result.push(finding);
    else last.end = Math.max(last.end, finding.end);
  }
  return result;
}

/** The text with each secret replaced by `[secret: <kind>]`. */
export function maskSecrets(text: string): string {
  let masked = "";
  let from = 0;
  for (const { kind, start, end } of findSecrets(text)) {
    masked += `${text.slice(from, start)}[secret: ${kind}]`;
    from = end;
  }
  return from === 0 ? text : masked + text.slice(from);
}

function locate(kind: string, match: RegExpExecArray): SecretFinding | undefined {
  const groups = match.indices?.groups;
  if (groups === undefined) return { kind, start: match.index, end: match.index + match[0].length };
  const span = groups.secret ?? groups.single ?? groups.tick ?? groups.bare;
  return span === undefined ? undefined : { kind, start: span[0], end: span[1] };
}
