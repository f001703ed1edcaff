import { stringify } from "yaml";

/** Keys of a new skill, in the order in which they are written. */
export interface SkillHead {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata?: Readonly<Record<string, string>>;
  "allowed-tools"?: string | readonly string[];
  "disallowed-tools"?: string | readonly string[];
}

/** The text of a `SKILL.md`; values are quoted where YAML asks for it. */
export function writeSkill(head: SkillHead, body: string): string {
  const { name, description, license, compatibility, metadata } = head;
  const ordered = {
    name,
    description,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(head["allowed-tools"] !== undefined && { "allowed-tools": head["allowed-tools"] }),
    ...(head["disallowed-tools"] !== undefined && { "disallowed-tools": head["disallowed-tools"] }),
  };
  return `---\n${stringify(ordered, { lineWidth: 0 })}---\n${body}`;
}
