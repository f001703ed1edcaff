import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type ScanOptions, scanText } from "@toolhaft/asset-format";
import { nearest } from "@toolhaft/core";
import { isInside } from "../paths.ts";
import { slashes } from "../stores/directory/roots.ts";
import { linksOut, listSkillFiles } from "../stores/directory/skill-folder.ts";
import { referencePlaces } from "../stores/directory/snapshot.ts";
import { type Checked, issueAt, type Subject } from "./subject.ts";

const mostLines = 500;

/** What the text and the files of an asset show. */
export function textRules(subject: Subject, directory: string, scan: ScanOptions | undefined): Checked[] {
  const { asset, text, parsed, base } = subject;
  if (base.length > 0) return [];
  const found: Checked[] = scanText(text, scan, asset.path).map(
    ({ rule, severity, line, column, excerpt }): Checked => {
      const issue =
        severity === "block"
          ? issueAt(
              subject,
              "injection",
              "error",
              { line, column },
              `${rule}: ${excerpt}`,
              "take the text out, or allow it in scan.allow after you have read it",
            )
          : issueAt(subject, rule, "warning", { line, column }, excerpt, "look whether it is meant");
      return { issue, subject };
    },
  );
  const lines = parsed.body.split("\n").length;
  if (asset.type === "skill" && lines > mostLines)
    found.push({
      subject,
      issue: issueAt(
        subject,
        "body_long",
        "warning",
        undefined,
        `the text has ${lines} lines; over ${mostLines} it costs much to load`,
        "move parts into references",
      ),
    });
  if (asset.type === "skill" && /(?:^|\/)skill\.md$/.test(asset.path))
    found.push({
      subject,
      issue: issueAt(
        subject,
        "name_not_portable",
        "warning",
        undefined,
        "the file is called skill.md; some clients look for SKILL.md only",
        "rename it to SKILL.md",
      ),
    });
  if (!subject.onDisk) return found;
  return [...found, ...deadLinks(subject, directory), ...listedPaths(subject), ...outside(subject)];
}

const inlineLink = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g;
const definedLink = /^[ \t]{0,3}\[[^\]]+\]:[ \t]*<?([^\s>]+)>?/gm;

/** Code shows how links are written; it links nothing. */
function withoutCode(text: string): string {
  const blank = (code: string): string => code.replace(/[^\n]/g, " ");
  return text
    .replace(/^([ \t]*)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t]*\2[`~]*[ \t]*\r?$|(?![\s\S]))/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, blank);
}

function deadLinks(subject: Subject, directory: string): Checked[] {
  const { asset, text, folder, parsed } = subject;
  if (asset.type === "role") return [];
  const start = parsed.document?.bodyStart ?? 0;
  const searched = withoutCode(" ".repeat(start) + text.slice(start));
  const seen = new Set<string>();
  return [...searched.matchAll(inlineLink), ...searched.matchAll(definedLink)].flatMap((match): Checked[] => {
    const target = match[1] ?? "";
    const path = pathOf(target);
    if (path === undefined || seen.has(target)) return [];
    seen.add(target);
    const at = match.index + match[0].lastIndexOf(target);
    const place = positionOf(text, at);
    const wanted = resolve(folder, path);
    if (!isInside(directory, wanted) && !isInside(folder, wanted))
      return [
        {
          subject,
          issue: issueAt(
            subject,
            "link_outside",
            "error",
            place,
            `the link ${target} leaves the workspace`,
            "link to files of the skill",
          ),
        },
      ];
    if (existsSync(wanted)) return [];
    return [withFileRepair(subject, place, target, path, at)];
  });
}

/** The path of a relative link; undefined for what is none. */
function pathOf(target: string): string | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|#|\/|\\)/i.test(target) || /[{}$<*]/.test(target)) return undefined;
  const path = target.split(/[?#]/, 1)[0] ?? "";
  if (path === "") return undefined;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: [...before.slice(start)].length + 1 };
}

function withFileRepair(
  subject: Subject,
  place: { line: number; column: number } | undefined,
  shown: string,
  path: string,
  at: number,
): Checked {
  const { asset, folder } = subject;
  const base = asset.type === "skill" ? folder : dirname(folder);
  const files = listSkillFiles(base).map((file) => slashes(relative(folder, join(base, file.path))));
  const same = files.filter((file) => basename(file) === basename(path));
  const near =
    same.length > 0 ? same : nearest(path, files, 3).filter((file) => Math.abs(file.length - path.length) <= 2);
  const said = near.length === 1 ? `; did you mean ${near[0]}?` : "";
  const issue = issueAt(
    subject,
    "dead_link",
    "error",
    place,
    `links to the missing file ${path}${said}`,
    near.length > 0 ? `there is ${near.join(", ")}` : "write the file, or take the link out",
  );
  const [only] = near;
  if (near.length > 1) return { issue, subject, undecided: `${path} may be ${near.join(" or ")}` };
  if (only === undefined) return { issue, subject };
  const written = shown.replace(/^[^?#]+/, /[\s()]/.test(only) ? encodeURI(only) : only);
  return {
    issue,
    subject,
    repair: { description: `${shown} → ${written}`, edits: [{ start: at, end: at + shown.length, text: written }] },
  };
}

/** Files that a role lists. */
function listedPaths(subject: Subject): Checked[] {
  const { parsed, real } = subject;
  if (parsed.type !== "role" || !parsed.value || !parsed.document) return [];
  const { references, promptFile } = parsed.value;
  const { document } = parsed;
  const wanted = [
    ...references.flatMap(({ path }) => (path === undefined ? [] : [{ path, key: ["references"] }])),
    ...(promptFile === undefined ? [] : [{ path: promptFile, key: ["prompt_file"] }]),
  ];
  return wanted.flatMap(({ path, key }): Checked[] => {
    const span = document.span(key);
    const at = span ? document.text.indexOf(path, span.start) : -1;
    const place = at < 0 ? document.locate(key) : document.positionOf(at);
    if (!isInside(dirname(real), resolve(dirname(real), path)))
      return [
        {
          subject,
          issue: issueAt(
            subject,
            "link_outside",
            "error",
            place,
            `the listed path ${path} leaves the role's folder`,
            "list files of the role",
          ),
        },
      ];
    if (referencePlaces(real, path).some((one) => existsSync(one))) return [];
    if (at < 0)
      return [
        {
          subject,
          issue: issueAt(
            subject,
            "dead_link",
            "error",
            place,
            `lists the missing file ${path}`,
            "write the file, or take the path out",
          ),
        },
      ];
    return [withListRepair(subject, place, path, at)];
  });
}

function withListRepair(subject: Subject, place: { line: number; column: number }, path: string, at: number): Checked {
  const files = listSkillFiles(subject.folder)
    .map((file) => file.path)
    .filter((file) => file !== "role.yaml");
  const same = files.filter((file) => basename(file) === basename(path));
  const near =
    same.length > 0 ? same : nearest(path, files, 3).filter((file) => Math.abs(file.length - path.length) <= 2);
  const issue = issueAt(
    subject,
    "dead_link",
    "error",
    place,
    `lists the missing file ${path}`,
    near.length > 0 ? `there is ${near.join(", ")}` : "write the file, or take the path out",
  );
  const [only] = near;
  if (near.length > 1) return { issue, subject, undecided: `${path} may be ${near.join(" or ")}` };
  if (only === undefined) return { issue, subject };
  return {
    issue,
    subject,
    repair: { description: `${path} → ${only}`, edits: [{ start: at, end: at + path.length, text: only }] },
  };
}

/** Links in a skill's folder that lead out of it. */
function outside(subject: Subject): Checked[] {
  if (subject.asset.type !== "skill") return [];
  return linksOut(subject.folder).map(({ path, target }): Checked => {
    const issue = issueAt(
      subject,
      "link_outside",
      "error",
      undefined,
      `${path} is a link to ${target}, outside the skill's folder`,
      "copy the file into the skill; links out of it are not followed",
    );
    return { subject, issue };
  });
}
