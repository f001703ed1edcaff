/** Zones that never lead to a public host; the zone itself and all names below it. */
const localZones: readonly string[] = [
  "localhost",
  "local",
  "internal",
  "lan",
  "home",
  "corp",
  "intranet",
  "private",
  "home.arpa",
  "svc",
  "cluster.local",
  "test",
  "invalid",
  "onion",
];

const metadataNames: readonly string[] = [
  "metadata",
  "metadata.google.internal",
  "metadata.aws.internal",
  "metadata.azure.internal",
  "instance-data",
  "instance-data.ec2.internal",
];

/** What a name alone tells, without a look-up. `host` is the ASCII form that `URL` gives, without dots at its end. */
export function classifyName(host: string): "public" | "local" | "metadata" {
  if (metadataNames.some((name) => host === name || host.endsWith(`.${name}`))) return "metadata";
  if (!host.includes(".")) return "local";
  return localZones.some((zone) => host === zone || host.endsWith(`.${zone}`)) ? "local" : "public";
}

/** A host against a pattern, by label: `*` is exactly one, `**` one or more, anything else itself. */
export function hostMatches(pattern: string, host: string): boolean {
  return labelsMatch(pattern.split("."), host.split("."));
}

function labelsMatch(pattern: readonly string[], labels: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return labels.length === 0;
  if (first === "**") {
    for (let taken = 1; taken <= labels.length; taken += 1) {
      if (labelsMatch(rest, labels.slice(taken))) return true;
    }
    return false;
  }
  return labels.length > 0 && (first === "*" || first === labels[0]) && labelsMatch(rest, labels.slice(1));
}
