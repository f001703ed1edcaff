/** A rule that looks for phrases in a view of a text, which is in lower case with disguises taken off. */
export interface PhraseRule {
  rule: string;
  severity: "block" | "warn";
  message: string;
  patterns: readonly RegExp[];
  /** Searched paragraph by paragraph: all of these must occur in one. */
  together?: readonly RegExp[];
}

const earlier =
  "(?:previous|prior|earlier|above|preceding|foregoing|existing|former|system|developer|original|initial|safety)";
const orders =
  "(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?|commands?|constraints?|guardrails?|context)";
const drop =
  "(?:ignore|disregard|forget|override|bypass|discard|neglect|drop|skip|(?:do not|don't|never) (?:follow|obey|heed))";
const reader = "(?:users?|humans?|operators?|owners?|person|people|developers?|anyone|anybody)";
const shells =
  "(?:(?:/usr)?/bin/)?(?:env\\s+)?(?:ba|z|da|k|c|fi)?sh\\b|(?:python|perl|ruby|node|php|deno|bun)[0-9.]*\\b|iex\\b|invoke-expression\\b|(?:pwsh|powershell)\\b";
const fetchers = "(?:curl|wget|fetch|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod)";
const onLine = "(?:\\\\\\r?\\n|[^\\n|;])";
const keyFiles =
  "(?:~|\\$home|/home/[\\w.-]+|/root)/\\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|config/gcloud)\\b|\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b|\\.aws/credentials|\\.git-credentials|\\.netrc\\b|/etc/(?:passwd|shadow)\\b";
const dotEnv = "(?<![\\w.])\\.env(?:\\.[a-z]+)?\\b";
const tokenWords =
  "(?:api[ _-]?keys?|access[ _-]?tokens?|tokens?|secrets?|passwords?|credentials?|private keys?|ssh keys?|environment variables)";
const agentConfig =
  "(?:\\.claude/(?:settings(?:\\.local)?\\.json|hooks?\\b)|\\.mcp\\.json|\\.cursor/(?:mcp\\.json|rules)|claude_desktop_config\\.json|opencode\\.jsonc?|\\.codex/config\\.toml|\\.gemini/settings\\.json|\\.vscode/(?:settings|mcp)\\.json|\\.(?:bashrc|zshrc|bash_profile|zprofile|zshenv|profile|bash_login)\\b|/etc/profile\\b|config\\.fish\\b|\\$profile\\b)";
const writing =
  "(?:write|writes|add|append|insert|put|edit|modify|change|update|set|overwrite|replace|create|patch|install|register|enable)";

export const phraseRules: readonly PhraseRule[] = [
  {
    rule: "override",
    severity: "block",
    message: "tells the reader to drop its instructions, to be somebody else, or to hide something",
    patterns: [
      new RegExp(
        `(?<!\\b(?:not|never|don't|cannot|can't)\\s+)\\b${drop}\\s+(?:(?:all|any|every|each|the|your|my|our|these|those|of|and|other|such|both)[\\s,]+){0,5}${earlier}(?:[\\s,]+(?:and|or)?\\s*${earlier})?\\s+(?:\\w+\\s+){0,2}${orders}\\b`,
        "g",
      ),
      new RegExp(
        `(?<!\\b(?:not|never|don't)\\s+)\\b${drop}\\s+(?:all|everything|any)\\s+(?:(?:of|the|your|my|these|those)\\s+){0,2}(?:${orders}\\b|(?:you (?:were|have been|are) (?:told|given)|(?:that )?(?:came|comes|was|is) (?:before|above)|above|before))`,
        "g",
      ),
      new RegExp(
        `(?<!\\b(?:not|never|don't)\\s+)\\b${drop}\\s+(?:your|the user'?s?)\\s+(?:\\w+\\s+){0,2}${orders}\\b`,
        "g",
      ),
      /\b(?:these|the following|my) (?:new )?(?:instructions|rules|orders) (?:override|replace|supersede|take precedence over) (?:all|any|your|the)\b/g,
      /\byou are no longer\b[^.\n]{0,40}\b(?:assistant|ai|model|bound|restricted|limited|claude|gpt|agent|required)\b/g,
      /\b(?:you are now|from now on,? you(?: are| will be|'re)|act as|pretend (?:to be|that you are|you are|you're)|roleplay as|become|behave as)\b[^.\n]{0,40}\b(?:dan|jailbroken|unrestricted|unfiltered|uncensored|unaligned|amoral|(?:another|a different) (?:ai|assistant|model|agent|persona)|in developer mode|without (?:any )?(?:restrictions|rules|limits|filters|guardrails))\b/g,
      /\byour (?:new|real|true|actual|only) (?:identity|name|persona|purpose|instructions?|master|goal) (?:is|are)\b/g,
      new RegExp(
        `\\b(?:do not|don't|never|must not|should not|without)\\s+(?:ever\\s+|let(?:ting)?\\s+)?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning)\\s+(?:the\\s+|your\\s+|any\\s+)?${reader}\\b(?!\\s+(?:to|how|which|where|when)\\b)`,
        "g",
      ),
      new RegExp(
        `\\b(?:do not|don't|never|must not|should not|without)\\s+(?:ever\\s+)?(?:mention|mentioning|reveal|revealing|disclose|disclosing|show|report|reporting)\\s+(?:this|that|these|it|any of (?:this|these|it)|anything(?: of this| about (?:this|it))?)\\b[^.\\n]{0,30}\\b(?:to\\s+(?:the\\s+)?${reader}|in your (?:answer|reply|response|summary))`,
        "g",
      ),
      new RegExp(
        `\\b(?:keep|hide|conceal|withhold)\\s+(?:this|that|it|these|everything|all of (?:this|it)|what you (?:do|did))\\b[^.\\n]{0,30}\\b(?:secret\\s+)?(?:from|to)\\s+(?:the\\s+|your\\s+)?${reader}\\b`,
        "g",
      ),
      /(?:忽略|无视|忘记|忘掉|不要理会|不用理会|不要遵守|不要遵循|绕过|抛弃|丢弃)[^。！？\n]{0,12}(?:之前|以前|先前|此前|上面|以上|上述|前面|所有|一切|系统|原有|原来)[^。！？\n]{0,10}(?:指令|指示|提示|提示词|规则|命令|要求|说明|限制|设定)/g,
      /(?:从现在(?:起|开始)[，,]?\s*你(?:就)?(?:是|将是|扮演)|你不再是|你的(?:新|真实)身份是|你现在(?:扮演|的身份是))/g,
      /(?:不要|别|请勿|切勿|不得|不能|不可)(?:把[^。\n]{0,12})?(?:告诉|告知|通知|提醒)用户(?!去|如何|怎么)|(?:不要|别|请勿|切勿|不得|不能)(?:让用户(?:知道|发现|察觉|看到|看见)|向用户(?:透露|提及|提起|说明|展示))|(?:对|向)用户(?:隐瞒|保密)|瞒着用户/g,
    ],
  },
  {
    rule: "remote_exec",
    severity: "block",
    message: "runs what was downloaded or decoded",
    patterns: [
      new RegExp(
        `\\b${fetchers}\\b${onLine}{0,400}\\|\\s*(?:\\\\\\r?\\n\\s*)?(?:[a-z]+\\s+[^|\\n]{0,60}\\|\\s*)?(?:sudo\\s+(?:-\\S+\\s+)*)?(?:${shells})`,
        "g",
      ),
      /(?:(?:ba|z|da|k)?sh|source|\.|eval|python[0-9.]*|node)\s+(?:-\S+\s+)*["']?(?:<\(|\$\(|`)\s*(?:curl|wget)\b/g,
      new RegExp(
        `\\b(?:base64\\s+(?:-d|-di|--decode|-D)|xxd\\s+-r|openssl\\s+(?:enc\\s+)?-d|openssl\\s+base64\\s+-d|gunzip\\s+-c)\\b${onLine}{0,200}\\|\\s*(?:sudo\\s+)?(?:${shells})`,
        "gi",
      ),
      /\beval\s+["']?(?:\$\(|`)[^\n)]{0,300}\b(?:base64|xxd|openssl)\b/g,
      /\b(?:exec|eval)\s*\(\s*(?:base64\.b64decode|atob|bytes\.fromhex|(?:requests|urllib\.request|httpx)\.\w+|await\s+\(?await\s+fetch)/g,
      /\b(?:iex|invoke-expression)\b\s*[( ]\s*["'(&]*\s*(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|\(?\s*new-object\s+(?:system\.)?net\.webclient)/g,
      /\bnew-object\s+(?:system\.)?net\.webclient\b[^\n]{0,200}\bdownloadstring\b[^\n]{0,200}\|\s*(?:iex|invoke-expression)\b/g,
      /\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc(?:odedcommand)?)?\s+[a-z0-9+/=]{16,}/g,
      /\bwget\b[^\n]{0,200}-o\s*-[^\n]{0,200}\|\s*(?:ba|z|da)?sh\b/g,
      /\bcurl\b[^\n;&]{0,200}\s-o\s*(\S+)[^\n]{0,60}(?:&&|;)\s*(?:chmod\s+\S+\s+\1\s*(?:&&|;)\s*)?(?:sudo\s+)?(?:(?:ba|z|da)?sh\s+\1|\.?\/?\1\b)/g,
    ],
  },
  {
    rule: "exfiltrate",
    severity: "block",
    message: "sends keys, secrets or tokens out",
    patterns: [
      new RegExp(
        `\\b(?:send|post|upload|transmit|forward|email|exfiltrate|submit|leak|copy|publish)\\b[^.\\n]{0,80}\\b${tokenWords}\\b[^.\\n]{0,80}\\b(?:to|at)\\s+(?:https?://|[\\w.+-]+@[\\w-]+\\.|[\\w-]+\\.(?:com|net|org|io|dev|example|xyz|ru|cn)\\b)`,
        "g",
      ),
      /\b(?:curl|wget|http|httpie)\b[^\n]{0,300}(?:\s(?:-d|-f|--data\S*|--form|--post-data|--body-data)[=\s]|\?\S{0,120}=)[^\n]{0,200}\$\{?\(?\w*(?:token|secret|password|passwd|api_?key|access_key|credential)\w*/g,
      /\b(?:env|printenv|set)\b\s*\|\s*(?:[^|\n]{0,80}\|\s*)?(?:curl|wget|nc|ncat|socat)\b/g,
      /(?:发送|上传|传送|提交|泄露|转发)[^。\n]{0,20}(?:密钥|令牌|密码|凭证|环境变量|私钥)[^。\n]{0,20}(?:到|给|至)\s*https?:\/\//g,
    ],
    together: [
      new RegExp(
        `${keyFiles}|(?:cat|type|less|read|open|@|<|copy|print|base64|contents? of|send|upload)[^\\n]{0,40}${dotEnv}`,
        "g",
      ),
      /\b(?:curl|wget|invoke-webrequest|iwr|irm)\b[^\n]{0,300}(?:\s(?:-d|-f|-t|-x\s*(?:post|put)|--data\S*|--form|--upload-file|--post-(?:data|file)|--body-file|-method\s+post)|@|\$\()|\b(?:nc|ncat|socat|scp|rsync|sftp|ftp)\s+[^\n]*\S|\b(?:requests|httpx|axios)\.(?:post|put)\b|\bfetch\([^\n]{0,200}(?:post|put)|\b(?:send|post|upload|transmit|forward|email|exfiltrate|submit)\b[^\n]{0,120}(?:https?:\/\/|[\w.+-]+@[\w-]+\.\w|\bto (?:our|my|the|this) (?:server|endpoint|webhook|address|url))|(?:发送|上传|提交)[^\n]{0,30}https?:\/\//g,
    ],
  },
  {
    rule: "config_tamper",
    severity: "block",
    message: "writes an agent's settings or a shell's start-up file",
    patterns: [
      new RegExp(
        `(?:>>?|\\btee\\s+(?:-a\\s+)?|\\bsed\\s+-i\\b[^\\n]{0,120}|\\b(?:cp|mv|ln|install)\\s+[^\\n]{0,120})\\s*["']?[^\\s"'\`]*${agentConfig}`,
        "g",
      ),
      new RegExp(
        `(?<!\\b(?:not|never|don't)\\s+)\\b${writing}\\b[^.\\n]{0,60}\\b(?:to|in|into|inside|at|of)\\s+(?:the\\s+|your\\s+|file\\s+)?[\`"']?[^\\s\`"']{0,60}${agentConfig}`,
        "g",
      ),
      new RegExp(
        `(?<!\\b(?:not|never|don't)\\s+)\\b(?:edit|modify|change|overwrite|update|patch|rewrite)\\s+(?:the\\s+|your\\s+)?[\`"']?[^\\s\`"']{0,60}${agentConfig}`,
        "g",
      ),
      /--dangerously-skip-permissions|\bbypasspermissions\b|--yolo\b/g,
      /\bcrontab\s+-(?!l\b)|\|\s*crontab\b/g,
      /\b(?:claude|codex|opencode)\s+mcp\s+add\b/g,
    ],
  },
];

/** Orders in places that a rendered page does not show. */
export const hiddenComment = /<!--([\s\S]{0,20000}?)-->|^\s*\[\/\/\]:\s*#\s*(.*)$/gm;
export const imperative =
  /\b(?:you (?:must|should|will|have to|need to)|always|never|do not|don't|ignore|instead of|make sure|remember to|important|assistant|system prompt|(?:^|[.:]\s*)(?:run|execute|send|delete|call|use|read|write|open|fetch|post|upload|download|install|add|set|tell|reply|respond|say))\b|(?:请|必须|不要|务必|执行|运行|忽略)/im;
