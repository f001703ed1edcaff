/** Names of variables to pass on from this process, or values to set. */
export type PassedEnvironment = readonly string[] | Readonly<Record<string, string>>;

/** What every agent program gets: where programs, its home and temporary files are, and the language. */
const basic = ["PATH", "HOME", "LANG", "TMPDIR"];
/** Without these no program starts on Windows. */
const windows = [
  "SystemRoot",
  "SystemDrive",
  "ComSpec",
  "PATHEXT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "TEMP",
  "TMP",
];

/** The whole environment of an agent program: nothing of this process but what is named. */
export function childEnvironmentOf(
  passed: PassedEnvironment | undefined,
  own: Readonly<Record<string, string>>,
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const names = [...basic, ...(process.platform === "win32" ? windows : [])];
  const environment: Record<string, string> = {};
  const set = isNames(passed) ? {} : (passed ?? {});
  for (const name of [...names, ...(isNames(passed) ? passed : [])]) {
    const value = from[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, TERM: "dumb", ...set, ...own };
}

function isNames(passed: PassedEnvironment | undefined): passed is readonly string[] {
  return Array.isArray(passed);
}

/** The named variables of this process that are set. */
export function pickVariables(
  names: readonly string[],
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
