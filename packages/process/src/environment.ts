/**
 * The variables a child may inherit; everything else is left out. One list for every kind of child: where programs and
 * libraries lie, where the user's folders are, locale, time zone, terminal and the proxies and certificates of the machine.
 */
export const inheritedVariables: readonly string[] = [
  "PATH",
  "PATHEXT",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "TMPDIR",
  "TMP",
  "TEMP",
  "XDG_*",
  "DBUS_SESSION_BUS_ADDRESS",
  // Windows
  "SystemRoot",
  "SystemDrive",
  "windir",
  "ComSpec",
  "USERPROFILE",
  "USERNAME",
  "HOMEDRIVE",
  "HOMEPATH",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramData",
  "ProgramFiles",
  "ProgramFiles(x86)",
  "ProgramW6432",
  "PUBLIC",
  "OS",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
  // network of the machine
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  // toolchains
  "NVM_DIR",
  "VOLTA_HOME",
  "PNPM_HOME",
  "ASDF_DIR",
  "ASDF_DATA_DIR",
  "MISE_DATA_DIR",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "PYENV_ROOT",
  "PYTHONPATH",
  "GOPATH",
  "GOROOT",
  "GOBIN",
  "GOCACHE",
  "GOMODCACHE",
  "GOPROXY",
  "GOFLAGS",
  "GOTOOLCHAIN",
  "CARGO_HOME",
  "CARGO_TARGET_DIR",
  "RUSTUP_HOME",
  "RUSTUP_TOOLCHAIN",
  "JAVA_HOME",
  "JDK_HOME",
  "GRADLE_USER_HOME",
  "MAVEN_HOME",
  "M2_HOME",
  "DOTNET_ROOT",
  "GEM_HOME",
  "GEM_PATH",
  "BUNDLE_PATH",
  "RBENV_ROOT",
  "COMPOSER_HOME",
  "OPAMROOT",
  "OPAM_SWITCH_PREFIX",
  "GHCUP_INSTALL_BASE_PREFIX",
  "STACK_ROOT",
  "MIX_HOME",
  "HEX_HOME",
  "ANDROID_HOME",
  "ANDROID_SDK_ROOT",
  "SDKROOT",
  "DEVELOPER_DIR",
  "CC",
  "CXX",
  "CPATH",
  "C_INCLUDE_PATH",
  "CPLUS_INCLUDE_PATH",
  "LIBRARY_PATH",
  "LD_LIBRARY_PATH",
  "PKG_CONFIG_PATH",
  "HOMEBREW_PREFIX",
  "NIX_PATH",
  "NIX_PROFILES",
];

/** Names that look like secrets are never inherited, whatever the list says. */
const secretName = /TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL/i;

/** Whether a variable's name says that it holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

export interface EnvironmentOptions {
  /** Where to inherit from. @default process.env */
  from?: Readonly<Record<string, string | undefined>>;
  /** Further names to inherit; a final `*` stands for any rest. Names that look like secrets stay out. */
  inherit?: readonly string[];
  /** Set on purpose, whatever the name; `undefined` removes a variable. */
  set?: Readonly<Record<string, string | undefined>>;
}

/**
 * The environment of a child: what {@link inheritedVariables} and `inherit` allow, then `set`.
 *
 * Proxy URLs lose their user and password, for they are secrets under a harmless name.
 */
export function childEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const allowed = matcher([...inheritedVariables, ...(options.inherit ?? [])]);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.from ?? process.env)) {
    if (value === undefined || isSecretName(name) || !allowed(name)) continue;
    environment[name] = /_proxy$/i.test(name) ? withoutUserInfo(value) : value;
  }
  for (const [name, value] of Object.entries(options.set ?? {})) {
    if (value === undefined) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const fold = process.platform === "win32" ? (name: string) => name.toUpperCase() : (name: string) => name;
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const pattern of patterns) {
    if (pattern.endsWith("*")) prefixes.push(fold(pattern.slice(0, -1)));
    else exact.add(fold(pattern));
  }
  return (name) => exact.has(fold(name)) || prefixes.some((prefix) => fold(name).startsWith(prefix));
}

function withoutUserInfo(value: string): string {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/@]*@/i, "$1");
}
