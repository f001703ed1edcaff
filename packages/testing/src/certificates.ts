import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Certificate {
  key: string;
  cert: string;
}

export interface Authority {
  /** PEM of the authority itself. */
  ca: string;
  issue(names: readonly string[], options?: { expired?: boolean }): Promise<Certificate>;
}

/** A certificate authority for tests, made by the openssl program. */
export async function createAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), "toolhaft-ca-"));
  const openssl = (...words: string[]) => run("openssl", words, { cwd: folder });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...curve,
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-days",
    "2",
    "-subj",
    "/CN=Test authority",
  );
  const ca = await readFile(join(folder, "ca.pem"), "utf8");
  const caKey = await readFile(join(folder, "ca.key"), "utf8");
  await rm(folder, { recursive: true });

  async function issue(names: readonly string[], options: { expired?: boolean } = {}): Promise<Certificate> {
    const here = await mkdtemp(join(tmpdir(), "toolhaft-cert-"));
    const at = (name: string) => join(here, name);
    try {
      await writeFile(at("ca.pem"), ca);
      await writeFile(at("ca.key"), caKey);
      const subject = names.map((name) => (/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(",");
      await writeFile(at("ext"), `subjectAltName=${subject}\n`);
      await run("openssl", [
        "req",
        ...curve,
        "-keyout",
        at("leaf.key"),
        "-out",
        at("leaf.csr"),
        "-subj",
        `/CN=${names[0]}`,
      ]);
      const days = options.expired === true ? "-1" : "1";
      const sign = [
        "x509",
        "-req",
        "-in",
        at("leaf.csr"),
        "-CA",
        at("ca.pem"),
        "-CAkey",
        at("ca.key"),
        "-CAcreateserial",
      ];
      await run("openssl", [...sign, "-out", at("leaf.pem"), "-days", days, "-extfile", at("ext")]);
      return { key: await readFile(at("leaf.key"), "utf8"), cert: await readFile(at("leaf.pem"), "utf8") };
    } finally {
      await rm(here, { recursive: true });
    }
  }

  return { ca, issue };
}
