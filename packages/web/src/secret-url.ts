import { findSecrets, ToolError } from "@toolhaft/core";

const secretNames =
  /^(?:.*[_-])?(?:token|secret|password|passwd|pwd|pass|auth|authorization|apikey|api[_-]key|key|sig|signature|session|sessionid|sid|jwt|code|credential|credentials|ticket|otp|x-amz-.*|x-goog-.*)$/i;
const longRandom = /^(?=.*\d)(?=.*[a-z])[A-Za-z0-9_\-+/=.]{32,}$/i;

/**
 * A URL that holds a secret must not be given to a third party.
 *
 * @throws ToolError `denied`; the value is not repeated
 */
export function refuseSecretUrl(url: URL, service: string): void {
  const names = [...url.searchParams]
    .filter(([name, value]) => value !== "" && (secretNames.test(name) || longRandom.test(value)))
    .map(([name]) => name);
  const inFragment = /(?:^#|[&?])(?:access_|id_|refresh_)?token=/i.test(url.hash);
  if (names.length === 0 && !inFragment && findSecrets(readable(url)).length === 0) return;
  const where =
    names.length > 0 ? ` (parameter ${names.map((name) => JSON.stringify(name.slice(0, 40))).join(", ")})` : "";
  throw new ToolError("denied", `the URL seems to hold a secret${where}; it was not sent to ${service}`, {
    hint: 'use engine: "default", which asks only the site itself',
    details: { by: "policy", rule: "secret.url" },
  });
}

/** The URL as a reader sees it; stray percent signs stay. */
function readable(url: URL): string {
  return url.href.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), (hex) => Number.parseInt(hex, 16))),
  );
}
